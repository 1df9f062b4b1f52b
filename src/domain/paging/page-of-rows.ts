/**
 * Pages of a table by keyset: a page is one range of an index, however deep it lies. Facts that nobody requests
 * (the other direction's hasMore, totalCount) are not read.
 */
import type { Link } from '../../database/reads/linked-rows.ts';
import type { KeyRange, Row, RowList, Table, Where } from '../../database/rows.ts';
import { load } from '../batched.ts';
import type { Call } from '../call.ts';
import { type Batch, visibleLinks, visibleWhere } from '../scope.ts';
import { encodeCursor, type Key, type NamedList } from './list-cursor.ts';
import { type Edge, type Page, type PageArgs, readPageArgs } from './page.ts';
import { pageOfArray } from './page-of-array.ts';

/** Items of a page that is read together with what they lead to. */
const LINKED_ITEMS_MAX = 100;

export interface List<T extends Table, N = Row<T>> extends NamedList {
  table: T;
  where: Where<T>;
  /** The index that `where` is a range of, or several of them: its columns before the key. */
  along?: readonly (keyof Row<T> & string)[];
  /** The column of the order. Default: `id`. */
  key?: keyof Row<T> & string;
  order?: 'newest first' | 'oldest first';
  /** The part of the order in which its rows are, without the ends. */
  within?: KeyBounds | undefined;
  /** The nodes of the rows, in their order; null for one that is gone since its row was read. */
  nodes?: (rows: Row<T>[]) => Promise<(N | null)[]> | (N | null)[];
}

interface KeyBounds {
  above?: Key | undefined;
  below?: Key | undefined;
}

/** Lists of several rows of one page are read together. */
const pages: Batch<RowList, object[]> = ({ database: { rows } }, lists) => rows.pages(lists);
const counts: Batch<Omit<RowList, 'range'>, number> = ({ database: { rows } }, lists) =>
  rows.counts(lists);

/** The row next to an end of a list, on one side of it; null if there is none. */
export async function nextRow<T extends Table>(
  call: Call,
  { table, where, side }: { table: T; where: Where<T>; side: { above?: Key; below?: Key } },
): Promise<Row<T> | null> {
  const direction = side.above === undefined ? 'desc' : 'asc';
  const range = { column: 'id', direction, ...side, limit: 1 } as const;
  const [row] = await load(call, pages, { table, where, range });
  return (row as Row<T> | undefined) ?? null;
}

/** One page of what the viewer may see of a list. Throws BAD_USER_INPUT that names every wrong argument. */
export async function listPage<T extends Table, N = Row<T>>(
  call: Call,
  all: List<T, N>,
  args: PageArgs,
): Promise<Page<N>> {
  const visible = visibleWhere(call.viewer, all.table, all.where);
  if (!visible) return pageOfArray({ ...all, key: () => '' }, [], args);
  const list = { ...all, where: visible };
  const bounds = readPageArgs(args, list);
  const { size, backwards, after, before } = bounds;
  const ranges = rangesOf(call, list);
  // Items of long pages share much of what they lead to: there each is better read once.
  const links = list.nodes || size > LINKED_ITEMS_MAX ? [] : visibleLinks(call.viewer, args.links);
  const found = await ranges.read({ limit: size + 1, backwards, after, before }, links);
  const own = found.slice(0, size);
  if (backwards) own.reverse();
  const keys = own.map((row) => row[ranges.column] as Key);
  const nodes = list.nodes ? await list.nodes(own) : (own as unknown as N[]);
  const { table, where } = list;
  return {
    edges: nodes.flatMap((node, index) =>
      node === null ? [] : new KeyedEdge(node, list, keys[index] as Key),
    ),
    pageInfo: pageInfoOf(list, keys, { bounds, hasMore: found.length > size, ranges }),
    totalCount: () => load(call, counts, { table, where: { ...where, ...keysOf(list) } }),
  };
}

/** A part of a list, in the order of the list. */
interface ListRange {
  limit: number;
  /** The last rows of the part, the last one first. */
  backwards: boolean;
  after?: Key | undefined;
  before?: Key | undefined;
}

/** Reads the rows of a list by their place in it. */
function rangesOf<T extends Table, N>(call: Call, list: List<T, N>) {
  const { table, where, along = [] } = list;
  const column = keyOf(list);
  const descending = list.order !== 'oldest first';
  const rowsIn = (range: Omit<KeyRange<T>, 'column'>, links: readonly Link[] = []) =>
    load(call, pages, { table, where, along, range: { column, ...range }, links }) as Promise<
      Row<T>[]
    >;
  const read = ({ limit, backwards, after, before }: ListRange, links?: readonly Link[]) => {
    const direction = descending !== backwards ? 'desc' : 'asc';
    const keys = descending ? { above: before, below: after } : { above: after, below: before };
    return rowsIn({ direction, ...narrowed(keys, list.within), limit }, links);
  };
  const isThere = (rows: Promise<Row<T>[]>) => rows.then(({ length }) => length > 0);
  return {
    column,
    read,
    existsAfter: (after: Key) => isThere(read({ limit: 1, backwards: false, after })),
    existsBefore: (before: Key) => isThere(read({ limit: 1, backwards: true, before })),
    existsAt: (at: Key) => isThere(rowsIn({ direction: 'asc', at, limit: 1 })),
  };
}

/** The keys that are in both. */
function narrowed(keys: KeyBounds, within: KeyBounds = {}): { above?: Key; below?: Key } {
  const above = [keys.above, within.above].filter((key) => key !== undefined);
  const below = [keys.below, within.below].filter((key) => key !== undefined);
  return {
    ...(above.length > 0 && { above: above.reduce((a, b) => (isBefore(a, b) ? b : a)) }),
    ...(below.length > 0 && { below: below.reduce((a, b) => (isBefore(a, b) ? a : b)) }),
  };
}

/** As the database compares them: numbers, and texts byte by byte. */
function isBefore(a: Key, b: Key): boolean {
  if (typeof a === 'bigint' || typeof b === 'bigint') return a < b;
  return Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0;
}

/** The part of the order as a condition, for what is no page. No key is equal to the lower end. */
function keysOf<T extends Table, N>(list: List<T, N>) {
  const { above: from, below: until } = list.within ?? {};
  if (from === undefined && until === undefined) return {};
  return {
    [keyOf(list)]: { ...(from !== undefined && { from }), ...(until !== undefined && { until }) },
  };
}

function keyOf<T extends Table, N>({ key }: List<T, N>): keyof Row<T> & string {
  return key ?? ('id' as keyof Row<T> & string);
}

interface PageEnds {
  bounds: ReturnType<typeof readPageArgs>;
  /** Whether there are rows beyond the page, in the direction that it was read in. */
  hasMore: boolean;
  ranges: Record<'existsAfter' | 'existsBefore' | 'existsAt', (key: Key) => Promise<boolean>>;
}

/** Beyond an end that a cursor gave, only the database knows; the cursor's own row counts too. */
function pageInfoOf(
  list: NamedList,
  keys: readonly Key[],
  { bounds: { backwards, after, before }, hasMore, ranges }: PageEnds,
): Page<unknown>['pageInfo'] {
  const { existsAfter, existsBefore, existsAt } = ranges;
  const [start, end] = [keys[0], keys.at(-1)];
  const cursor = (key: Key | undefined) => (key === undefined ? null : encodeCursor(list, key));
  return {
    get hasNextPage() {
      if (!backwards && hasMore) return true;
      if (before === undefined) return false;
      if (end !== undefined) return existsAfter(end);
      return existsAt(before).then((at) => at || existsAfter(before));
    },
    get hasPreviousPage() {
      if (backwards && hasMore) return true;
      if (after === undefined) return false;
      if (start !== undefined) return existsBefore(start);
      return existsAt(after).then((at) => at || existsBefore(after));
    },
    get startCursor() {
      return cursor(start);
    },
    get endCursor() {
      return cursor(end);
    },
  };
}

/** Its cursor is computed only if it is read. */
class KeyedEdge<N> implements Edge<N> {
  readonly node: N;
  readonly #list: NamedList;
  readonly #key: Key;

  constructor(node: N, list: NamedList, key: Key) {
    this.node = node;
    this.#list = list;
    this.#key = key;
  }

  get cursor(): string {
    return encodeCursor(this.#list, this.#key);
  }
}
