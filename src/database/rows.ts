/**
 * Hot reads as prepared statements: pages, nodes, relations, counts. Only equality conditions and one key range, always
 * over an index. Columns that end in "Sealed" are never selected.
 */
import { hash } from 'node:crypto';
import { type Link, toPageRows } from './reads/linked-rows.ts';
import type { AnyList, Conditions } from './reads/list-shape.ts';
import { getListStatement } from './reads/list-statement.ts';
import { createListKey, readTogether } from './reads/many-lists.ts';
import type { CompiledStatement } from './statements.ts';
import type { Row, Table } from './tables.ts';

export type { Row, Table } from './tables.ts';

export type RunQuery = <T>(text: string, values: unknown[], rowMode?: 'array') => Promise<T[]>;

/** Rows of any project of these orgs. */
export interface InOrgs {
  projectsOfOrgs: string[];
}

/**
 * One of these values, for rows that other conditions already narrow down. Unlike an array, it does not read an index
 * range for each value.
 */
export interface OneOf {
  oneOf: readonly string[];
}

/** Selects each row's first search word that is equal to this one or after it. */
interface FirstFrom {
  firstFrom: string;
}

/** A range that includes its beginning and excludes its end. A missing bound is open. */
export interface Span<V> {
  from?: V | undefined;
  until?: V | undefined;
}

/** Times after a bound (exclusive), up to a bound (inclusive), or in a range. */
type TimeRange = { after: Date } | { upTo: Date } | Span<Date>;

/** Columns that equal a value or one of several. Times may be in a range. */
export type Where<T extends Table> = {
  [K in keyof Row<T>]?:
    | Row<T>[K]
    | NonNullable<Row<T>[K]>[]
    | (Date extends Row<T>[K] ? TimeRange : never)
    | (K extends 'projectId' ? InOrgs : never)
    | (string extends Row<T>[K] ? OneOf : never)
    | (T extends 'SearchWord' ? (K extends 'rowId' ? FirstFrom : never) : never);
};

export interface KeyRange<T extends Table> {
  /** The column that orders the rows. It must be unique together with the columns of `where`. */
  column: keyof Row<T> & string;
  direction: 'asc' | 'desc';
  /** Exclusive bounds, in the order of the values. */
  above?: string | bigint;
  below?: string | bigint;
  /** Only the row with this value. */
  at?: string | bigint;
  limit: number;
}

/** A page of any table: its `Where` and its `KeyRange`. */
export interface RowList {
  table: Table;
  where: Conditions;
  range: Omit<KeyRange<Table>, 'column'> & { column: string };
  /** The columns that precede the key in the index that contains the page's rows contiguously, in index order. */
  indexPrefix?: readonly string[];
  /** The relations to read with the rows. */
  links?: readonly Link[];
}

export interface Rows {
  page<T extends Table>(table: T, where: Where<T>, range: KeyRange<T>): Promise<Row<T>[]>;
  /** Returns a page for each list. Lists that differ only by ids share a statement. */
  pages(lists: readonly RowList[]): Promise<object[][]>;
  /** Returns rows in no defined order. Missing rows are omitted. */
  find<T extends Table>(table: T, where: Where<T>): Promise<Row<T>[]>;
  /** Returns the project of a call. Concurrent callers share the row and must not change it. */
  findProject(where: Where<'Project'>): Promise<Readonly<Row<'Project'>> | null>;
  count<T extends Table>(table: T, where: Where<T>): Promise<number>;
  /** Counts lists, which share statements as in `pages`. */
  counts(lists: readonly Omit<RowList, 'range'>[]): Promise<number[]>;
  /** Runs a short statement and returns rows as arrays of values. */
  arrays<Input>(statement: CompiledStatement<Input>, input: Input): Promise<unknown[][]>;
  /** Runs a statement that may be long. It is sent alone. */
  run<Input, R>(statement: CompiledStatement<Input, R>, input: Input): Promise<R[]>;
  /** Runs a constant text alone. Values are bound, never inserted into the text. */
  query: RunQuery;
}

/**
 * Creates the reads. `short` reads pages and rows by key, `shared` the project of a call, and `query` everything else.
 */
export function createRows(
  query: RunQuery,
  { short, shared }: { short: RunQuery; shared: RunQuery },
): Rows {
  const readOnePage = <T>(list: RowList): Promise<T[]> =>
    list.links?.length
      ? (readLinkedPage(short, [list]) as Promise<T[]>)
      : short(...getListStatement('rows', [list]));
  const readOneCount = async (list: AnyList) => {
    const [row] = await query<CountRow>(...getListStatement('count', [list]));
    return row?.count ?? 0;
  };
  return {
    query,
    arrays: (statement, input) => short(statement.text, statement.readValues(input), 'array'),
    run: (statement, input) => query(statement.text, statement.readValues(input)),
    page: (table, where, range) => readOnePage({ table, where, range }),
    count: (table, where) => readOneCount({ table, where }),
    pages: (lists) =>
      readTogether<RowList, object[]>(lists, {
        readOne: readOnePage,
        readMany: (similarLists) => readPagesTogether(short, similarLists),
      }),
    counts: (lists) =>
      readTogether<AnyList, number>(lists, {
        readOne: ({ table, where }) => readOneCount({ table, where }),
        readMany: (similarLists) => readCountsTogether(query, similarLists),
      }),
    find: (table, where) => short(...getListStatement('rows', [{ table, where }])),
    async findProject(where) {
      const statement = getListStatement('rows', [{ table: 'Project', where }]);
      const [project] = await shared<Row<'Project'>>(...statement);
      return project ? Object.freeze(project) : null;
    },
  };
}

interface CountRow extends Conditions {
  count: number;
}

async function readPagesTogether(query: RunQuery, lists: RowList[]): Promise<object[][]> {
  const toListKey = createListKey(lists);
  const rows = await readLinkedPage(query, lists);
  const pages = Map.groupBy(rows as Conditions[], toListKey);
  return lists.map((list) => pages.get(toListKey(list.where)) ?? []);
}

async function readLinkedPage(query: RunQuery, lists: RowList[]): Promise<object[]> {
  const [{ table, links = [] }] = lists as [RowList];
  const arrays = await query<unknown[]>(...getListStatement('rows', lists), 'array');
  return toPageRows(table, links, arrays);
}

async function readCountsTogether(query: RunQuery, lists: AnyList[]): Promise<number[]> {
  const toListKey = createListKey(lists);
  const rows = await query<CountRow>(
    ...getListStatement(
      'count',
      lists.map(({ table, where }) => ({ table, where })),
    ),
  );
  const counts = new Map(rows.map((row) => [toListKey(row), row.count]));
  return lists.map((list) => counts.get(toListKey(list.where)) ?? 0);
}

const STATEMENT_NAMES = new Map<string, string>();
/** A safety bound: the gateway has a few hundred texts. */
const STATEMENTS_MAX = 2_000;

/** Derives one name from each text, so that every connection prepares it once. */
export function getStatementName(text: string): string {
  const cachedName = STATEMENT_NAMES.get(text);
  if (cachedName !== undefined) return cachedName;
  const name = hash('sha1', text, 'base64url');
  if (STATEMENT_NAMES.size < STATEMENTS_MAX) STATEMENT_NAMES.set(text, name);
  return name;
}
