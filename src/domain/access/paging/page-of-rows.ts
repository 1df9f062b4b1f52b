/**
 * Reads pages of a table by keyset pagination: a page is one range of an index, at any depth. The total count, and
 * whether rows exist in the opposite direction, are queried only on request.
 */

import type {
  KeyRange,
  Link,
  RowList,
  Where,
} from '../../../database/statements/reads/row-list.ts';
import type { Row, Table } from '../../../database/statements/tables.ts';
import { load } from '../batched.ts';
import type { Call } from '../call.ts';
import { type Batch, listVisibleLinks, narrowToVisible } from '../scope.ts';
import { createCursorEncoder, encodeCursor, type Key, type NamedList } from './list-cursor.ts';
import { type Edge, type Page, type PageArgs, readPageArgs } from './page.ts';
import { createArrayPage } from './page-of-array.ts';

/** The maximum number of items in a page whose related rows are read in the same statement. */
const LINKED_ITEMS_MAX = 100;

export interface List<T extends Table, N = Row<T>> extends NamedList {
  table: T;
  where: Where<T>;
  /** The columns that precede the key in the index. `where` must have a condition on each. */
  indexPrefix?: readonly (keyof Row<T> & string)[];
  /** The column that determines the order. Default: `id`. */
  key?: keyof Row<T> & string;
  order?: 'newest first' | 'oldest first';
  /** Exclusive bounds of the keys of the list's rows. */
  within?: KeyBounds | undefined;
  /** Returns the nodes of the rows in their order. Null for a node that was deleted after its row was read. */
  nodes?: (rows: Row<T>[]) => Promise<(N | null)[]> | (N | null)[];
}

interface KeyBounds {
  above?: Key | undefined;
  below?: Key | undefined;
}

/** Loads pages of several lists with one statement, such as a nested list of each row of a page. */
const readPages: Batch<RowList, object[]> = ({ database: { reads } }, lists) => reads.pages(lists);
const readCounts: Batch<Omit<RowList, 'range'>, number> = ({ database: { reads } }, lists) =>
  reads.counts(lists);

/** Returns the row whose id is nearest to a bound, on one side of it. Null if there is none. */
export async function findNearestRow<T extends Table>(
  call: Call,
  { table, where, side }: { table: T; where: Where<T>; side: { above?: Key; below?: Key } },
): Promise<Row<T> | null> {
  const direction = side.above === undefined ? 'desc' : 'asc';
  const range = { column: 'id', direction, ...side, limit: 1 } as const;
  const [row] = await load(call, readPages, { table, where, range });
  return (row as Row<T> | undefined) ?? null;
}

/**
 * Returns a page of the rows that the viewer may see. Throws BAD_USER_INPUT that names every invalid argument.
 */
export async function listPage<T extends Table, N = Row<T>>(
  call: Call,
  requestedList: List<T, N>,
  args: PageArgs,
): Promise<Page<N>> {
  const visibleWhere = narrowToVisible(call.viewer, requestedList.table, requestedList.where);
  if (!visibleWhere) return createArrayPage({ ...requestedList, key: () => '' }, [], args);
  const list = { ...requestedList, where: visibleWhere };
  const range = readPageArgs(args, list);
  const { size, isBackward, after, before } = range;
  const reader = createRangeReader(call, list);
  // Items of long pages share many related rows, and reading each related row once is faster.
  const links =
    list.nodes || size > LINKED_ITEMS_MAX ? [] : listVisibleLinks(call.viewer, args.links);
  const rows = await reader.read({ limit: size + 1, isBackward, after, before }, links);
  const pageRows = rows.slice(0, size);
  if (isBackward) pageRows.reverse();
  const keys = pageRows.map((row) => row[reader.column] as Key);
  const nodes = list.nodes ? await list.nodes(pageRows) : (pageRows as unknown as N[]);
  const { table, where } = list;
  const encodeKey = createCursorEncoder(list);
  return {
    edges: nodes.flatMap((node, index) =>
      node === null ? [] : new KeyedEdge(node, keys[index] as Key, encodeKey),
    ),
    pageInfo: createPageInfo(list, keys, { range, hasMore: rows.length > size, reader }),
    totalCount: () =>
      load(call, readCounts, { table, where: { ...where, ...toKeyCondition(list) } }),
  };
}

/** A part of a list, in the order of the list. */
interface ListRange {
  limit: number;
  /** If true, reads from the end of the part. */
  isBackward: boolean;
  after?: Key | undefined;
  before?: Key | undefined;
}

/** Creates functions that read parts of a list by the keys before and after them. */
function createRangeReader<T extends Table, N>(call: Call, list: List<T, N>) {
  const { table, where, indexPrefix = [] } = list;
  const column = getKeyColumn(list);
  const isDescending = list.order !== 'oldest first';
  const readRange = (range: Omit<KeyRange<T>, 'column'>, links: readonly Link[] = []) => {
    const rows: RowList = { table, where, indexPrefix, range: { column, ...range }, links };
    return load(call, readPages, rows) as Promise<Row<T>[]>;
  };
  const read = ({ limit, isBackward, after, before }: ListRange, links?: readonly Link[]) => {
    const direction = isDescending !== isBackward ? 'desc' : 'asc';
    const keys = isDescending ? { above: before, below: after } : { above: after, below: before };
    return readRange({ direction, ...intersectBounds(keys, list.within), limit }, links);
  };
  const hasRows = (rows: Promise<Row<T>[]>) => rows.then(({ length }) => length > 0);
  return {
    column,
    read,
    existsAfter: (after: Key) => hasRows(read({ limit: 1, isBackward: false, after })),
    existsBefore: (before: Key) => hasRows(read({ limit: 1, isBackward: true, before })),
    existsAt: (key: Key) => hasRows(readRange({ direction: 'asc', at: key, limit: 1 })),
  };
}

function intersectBounds(keys: KeyBounds, within: KeyBounds = {}): { above?: Key; below?: Key } {
  const above = [keys.above, within.above].filter((key) => key !== undefined);
  const below = [keys.below, within.below].filter((key) => key !== undefined);
  return {
    ...(above.length > 0 && { above: above.reduce((a, b) => (isBefore(a, b) ? b : a)) }),
    ...(below.length > 0 && { below: below.reduce((a, b) => (isBefore(a, b) ? a : b)) }),
  };
}

/** Compares keys like the database: numbers by value, and strings by bytes. */
function isBefore(a: Key, b: Key): boolean {
  if (typeof a === 'bigint' || typeof b === 'bigint') return a < b;
  return Buffer.compare(Buffer.from(a), Buffer.from(b)) < 0;
}

/**
 * Converts the bounds of a list to a condition for a count. The condition's lower bound is inclusive, unlike the list's.
 * The count is the same, because no row has the bound as its key.
 */
function toKeyCondition<T extends Table, N>(list: List<T, N>) {
  const { above: from, below: until } = list.within ?? {};
  if (from === undefined && until === undefined) return {};
  return {
    [getKeyColumn(list)]: {
      ...(from !== undefined && { from }),
      ...(until !== undefined && { until }),
    },
  };
}

function getKeyColumn<T extends Table, N>({ key }: List<T, N>): keyof Row<T> & string {
  return key ?? ('id' as keyof Row<T> & string);
}

interface PageContext {
  range: ReturnType<typeof readPageArgs>;
  /** True if there are more rows in the direction of the read. */
  hasMore: boolean;
  reader: Record<'existsAfter' | 'existsBefore' | 'existsAt', (key: Key) => Promise<boolean>>;
}

/**
 * Creates the page info. Whether rows exist beyond the cursor of an argument needs a query, which includes the row of the
 * cursor itself.
 */
function createPageInfo(
  list: NamedList,
  keys: readonly Key[],
  { range: { isBackward, after, before }, hasMore, reader }: PageContext,
): Page<unknown>['pageInfo'] {
  const { existsAfter, existsBefore, existsAt } = reader;
  const start = keys[0];
  const end = keys.at(-1);
  const encodeKey = (key: Key | undefined) => (key === undefined ? null : encodeCursor(list, key));
  return {
    get hasNextPage() {
      if (!isBackward && hasMore) return true;
      if (before === undefined) return false;
      if (end !== undefined) return existsAfter(end);
      return existsAt(before).then((hasRow) => hasRow || existsAfter(before));
    },
    get hasPreviousPage() {
      if (isBackward && hasMore) return true;
      if (after === undefined) return false;
      if (start !== undefined) return existsBefore(start);
      return existsAt(after).then((hasRow) => hasRow || existsBefore(after));
    },
    get startCursor() {
      return encodeKey(start);
    },
    get endCursor() {
      return encodeKey(end);
    },
  };
}

/** An edge that encodes its cursor on the first access. Compiled queries access a cursor three times. */
class KeyedEdge<N> implements Edge<N> {
  readonly node: N;
  readonly #key: Key;
  readonly #encodeKey: (key: Key) => string;
  #cursor: string | undefined;

  constructor(node: N, key: Key, encodeKey: (key: Key) => string) {
    this.node = node;
    this.#key = key;
    this.#encodeKey = encodeKey;
  }

  get cursor(): string {
    this.#cursor ??= this.#encodeKey(this.#key);
    return this.#cursor;
  }
}
