/**
 * Relay pages by keyset: a page is one range of an index, however deep it lies. Facts that nobody requests
 * (the other direction's hasMore, totalCount) are not read.
 */
import { crc32 } from 'node:zlib';
import { z } from 'zod';
import type { Link } from '../database/reads/linked-rows.ts';
import type { KeyRange, Row, RowList, Table, Where } from '../database/rows.ts';
import { type Issue, invalidInput } from '../errors.ts';
import { load } from './batched.ts';
import type { Call } from './call.ts';
import { type Batch, type LinkTo, visibleLinks } from './scope.ts';

/** The platform's pageSize limits. */
export const PAGE_DEFAULT = 200;
export const PAGE_MAX = 1000;
/** Items of a page that is read together with what they lead to. */
const LINKED_MOST = 100;

export interface PageArgs {
  first?: number | null;
  after?: string | null;
  last?: number | null;
  before?: string | null;
  /** Relations of the items to read with the page. They only save statements: the answer is the same without them. */
  links?: readonly LinkTo[];
}

export interface Edge<T> {
  readonly cursor: string;
  readonly node: T;
}

/** Lazy members are read by the GraphQL fields of their names: once, and only if a query selects them. */
export interface Page<T> {
  edges: Edge<T>[];
  pageInfo: {
    readonly hasNextPage: boolean | Promise<boolean>;
    readonly hasPreviousPage: boolean | Promise<boolean>;
    readonly startCursor: string | null;
    readonly endCursor: string | null;
  };
  totalCount: () => number | Promise<number>;
}

/** Names a list in its cursors, with what it hangs on: `Project.topics`, and the project's id. */
interface NamedList {
  name: string;
  parentId?: string;
  /** The type of its keys. Default: text. */
  keyType?: 'position';
}

export interface List<T extends Table, N = Row<T>> extends NamedList {
  table: T;
  where: Where<T>;
  /** The index that `where` is a range of, or several of them: its columns before the key. */
  along?: readonly (keyof Row<T> & string)[];
  /** The column of the order. Default: `id`. */
  key?: keyof Row<T> & string;
  order?: 'newest first' | 'oldest first';
  /** The nodes of the rows, in their order; null for one that is gone since its row was read. */
  nodes?: (rows: Row<T>[]) => Promise<(N | null)[]> | (N | null)[];
}

type Key = string | bigint;

/** Lists of several rows of one page are read together. */
const pages: Batch<RowList, object[]> = ({ database: { rows } }, lists) => rows.pages(lists);
const counts: Batch<Omit<RowList, 'range'>, number> = ({ database: { rows } }, lists) =>
  rows.counts(lists);

/** One page. Throws BAD_USER_INPUT that names every wrong argument. */
export async function listPage<T extends Table, N = Row<T>>(
  call: Call,
  list: List<T, N>,
  args: PageArgs,
): Promise<Page<N>> {
  const bounds = readPageArgs(args, list);
  const { size, backwards, after, before } = bounds;
  const ranges = rangesOf(call, list);
  // Items of long pages share much of what they lead to: there each is better read once.
  const links = list.nodes || size > LINKED_MOST ? [] : visibleLinks(call.viewer, args.links);
  const found = await ranges.read({ limit: size + 1, backwards, after, before }, links);
  const own = found.slice(0, size);
  if (backwards) own.reverse();
  const keys = own.map((row) => row[ranges.column as never] as Key);
  const nodes = list.nodes ? await list.nodes(own) : (own as unknown as N[]);
  const { table, where } = list;
  return {
    edges: nodes.flatMap((node, index) =>
      node === null ? [] : new KeyedEdge(node, list, keys[index] as Key),
    ),
    pageInfo: pageInfoOf(list, keys, { bounds, hasMore: found.length > size, ranges }),
    totalCount: () => load(call, counts, { table, where }),
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
  const column = list.key ?? ('id' as keyof Row<T> & string);
  const descending = list.order !== 'oldest first';
  const rowsIn = (range: Omit<KeyRange<T>, 'column'>, links: readonly Link[] = []) =>
    load(call, pages, { table, where, along, range: { column, ...range }, links }) as Promise<
      Row<T>[]
    >;
  const read = ({ limit, backwards, after, before }: ListRange, links?: readonly Link[]) => {
    const direction = descending !== backwards ? 'desc' : 'asc';
    const keys = descending ? { above: before, below: after } : { above: after, below: before };
    return rowsIn({ direction, ...keys, limit }, links);
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

/** A page of a list that is in memory, ordered by a name. */
export function pageOfArray<N>(
  list: { name: string; key: (node: N) => string },
  all: readonly N[],
  args: PageArgs,
): Page<N> {
  const { size, backwards, after, before } = readPageArgs(args, list);
  const inside = all.filter(
    (node) =>
      (after === undefined || list.key(node) > String(after)) &&
      (before === undefined || list.key(node) < String(before)),
  );
  const own = backwards ? inside.slice(-size) : inside.slice(0, size);
  const edges = own.map((node) => ({ node, cursor: encodeCursor(list, list.key(node)) }));
  // If the page is empty, the cursors tell which side of the list is left out.
  const [first, last] = [own[0], own.at(-1)];
  const precedes = (node: N) =>
    first
      ? list.key(node) < list.key(first)
      : after !== undefined && list.key(node) <= String(after);
  const follows = (node: N) =>
    last
      ? list.key(node) > list.key(last)
      : before !== undefined && list.key(node) >= String(before);
  return {
    edges,
    pageInfo: {
      hasNextPage: all.some(follows),
      hasPreviousPage: all.some(precedes),
      startCursor: edges[0]?.cursor ?? null,
      endCursor: edges.at(-1)?.cursor ?? null,
    },
    totalCount: () => all.length,
  };
}

const size = z.number().int().min(1).max(PAGE_MAX);

function readPageArgs(args: PageArgs, list: NamedList) {
  const issues: Issue[] = [];
  for (const name of ['first', 'last'] as const) {
    const value = args[name];
    if (value == null || size.safeParse(value).success) continue;
    issues.push({
      in: 'body',
      name,
      value,
      detail: `must be a whole number from 1 to ${PAGE_MAX}.`,
    });
  }
  if (args.first != null && args.last != null) {
    issues.push({
      in: 'body',
      name: 'last',
      value: args.last,
      detail: 'must not be given together with first.',
    });
  }
  const keyOf = (name: 'after' | 'before') => {
    const cursor = args[name];
    if (cursor == null) return undefined;
    const key = decodeCursor(list, cursor);
    if (key === null) {
      issues.push({ in: 'body', name, value: cursor, detail: 'is not a cursor of this list.' });
    }
    return key ?? undefined;
  };
  const after = keyOf('after');
  const before = keyOf('before');
  if (issues.length > 0) throw invalidInput(issues);
  return {
    size: args.first ?? args.last ?? PAGE_DEFAULT,
    backwards: args.last != null,
    after,
    before,
  };
}

/** The checksum covers the list and its parent, so that a damaged cursor and another list's are both refused. */
export function encodeCursor(list: NamedList, key: Key): string {
  const kind = typeof key === 'bigint' ? '#' : '$';
  return Buffer.from(`${cursorCheck(list, `${kind}${key}`)}${kind}${key}`).toString('base64url');
}

/** Null if the text is not a cursor of the list. The checksum is no signature: a client can forge a cursor. */
export function decodeCursor(list: NamedList, cursor: string): Key | null {
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  const check = text.slice(0, CHECK_DIGITS);
  const key = text.slice(CHECK_DIGITS);
  if (check !== cursorCheck(list, key)) return null;
  const value = list.keyType === 'position' ? positionOf(key) : textOf(key);
  // Decoding ignores meaningless characters and bits; encoding gives one text for each key.
  return value !== null && encodeCursor(list, value) === cursor ? value : null;
}

/** Within what the database's int8 holds. */
function positionOf(key: string): bigint | null {
  if (!/^#-?\d{1,19}$/.test(key)) return null;
  const value = BigInt(key.slice(1));
  return BigInt.asIntN(64, value) === value ? value : null;
}

/** Without NUL, which the database can't compare with. */
function textOf(key: string): string | null {
  return key.startsWith('$') && !key.includes('\0') ? key.slice(1) : null;
}

const CHECK_DIGITS = 7;

function cursorCheck({ name, parentId = '' }: NamedList, key: string): string {
  return crc32(`${name}\n${parentId}\n${key}`).toString(36).padStart(CHECK_DIGITS, '0');
}
