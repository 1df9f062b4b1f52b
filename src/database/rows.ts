/**
 * Hot reads as prepared statements on the database that Prisma writes to: pages, nodes, relations, counts.
 * Equality and one key range only, always over an index; columns that end in "Sealed" are never selected.
 */
import { createHash } from 'node:crypto';
import { type Link, rowsOfArrays } from './reads/linked-rows.ts';
import type { AnyList, Conditions } from './reads/list-shape.ts';
import { listStatement } from './reads/list-statement.ts';
import { placeIn, readTogether } from './reads/many-lists.ts';
import type { Kept } from './statements.ts';
import type { Row, Table } from './tables.ts';

export type { Row, Table } from './tables.ts';

export type RunQuery = <T>(text: string, values: unknown[], rowMode?: 'array') => Promise<T[]>;

/** Rows whose projectId is of any project of these orgs. */
export interface InOrgs {
  projectsOfOrgs: string[];
}

/** One of these, in rows that other columns lead to: no index is read for each of them, as it is for an array. */
export interface OneOf {
  oneOf: readonly string[];
}

/** Rows whose word is the first of their row from this one on. */
export interface FirstFrom {
  firstFrom: string;
}

/** From a value on, it included, and until another, which is not; a missing end is open. */
export interface Span<V> {
  from?: V | undefined;
  until?: V | undefined;
}

/** Times after one, up to and including one, or of a span. */
export type TimeRange = { after: Date } | { upTo: Date } | Span<Date>;

/** Equal to a value, or to one of several; times may be in a range. */
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
  /** The column that orders the rows; unique together with the columns of `where`. */
  column: keyof Row<T> & string;
  direction: 'asc' | 'desc';
  /** Exclusive bounds, in the values' own order. */
  above?: string | bigint;
  below?: string | bigint;
  /** Only the row of this value. */
  at?: string | bigint;
  limit: number;
}

/** A page of some table: its `Where`, and its `KeyRange`. */
export interface RowList {
  table: Table;
  where: Conditions;
  range: Omit<KeyRange<Table>, 'column'> & { column: string };
  /** The columns before the key of the index that has the page's rows together, in its order. */
  along?: readonly string[];
  /** The relations that are read with its rows. */
  links?: readonly Link[];
}

export interface Rows {
  page<T extends Table>(table: T, where: Where<T>, range: KeyRange<T>): Promise<Row<T>[]>;
  /** A page of each list; those that differ by ids alone take one statement together. */
  pages(lists: readonly RowList[]): Promise<object[][]>;
  /** In no order; rows that don't exist are left out. */
  find<T extends Table>(table: T, where: Where<T>): Promise<Row<T>[]>;
  /** The project that nearly every call names. Its row may be shared with other calls: nobody may change it. */
  findProject(where: Where<'Project'>): Promise<Readonly<Row<'Project'>> | null>;
  count<T extends Table>(table: T, where: Where<T>): Promise<number>;
  /** In the same way as pages. */
  counts(lists: readonly Omit<RowList, 'range'>[]): Promise<number[]>;
  /** A short statement of the caller that is no list, whose rows are arrays of values. */
  arrays<Input>(statement: Kept<Input>, input: Input): Promise<unknown[][]>;
  /** A statement of the caller that is no list: it may be long, and is sent alone. */
  run<Input, R>(statement: Kept<Input, R>, input: Input): Promise<R[]>;
  /** The same for a constant text. Values are bound, never put into the text. */
  query: RunQuery;
}

/** Short reads (of pages, and of rows by their keys) may use other connections, and so may the read of a project. */
export function createRows(
  query: RunQuery,
  routes: { short?: RunQuery; shared?: RunQuery } = {},
): Rows {
  const { short = query, shared = short } = routes;
  const pageOf = <T>(list: RowList): Promise<T[]> =>
    list.links?.length
      ? (linkedPage(short, [list]) as Promise<T[]>)
      : short(...listStatement('rows', [list]));
  const countOf = async (list: AnyList) => {
    const [row] = await query<Counted>(...listStatement('count', [list]));
    return row?.count ?? 0;
  };
  return {
    query,
    arrays: (statement, input) => short(statement.text, statement.valuesOf(input), 'array'),
    run: (statement, input) => query(statement.text, statement.valuesOf(input)),
    page: (table, where, range) => pageOf({ table, where, range }),
    count: (table, where) => countOf({ table, where }),
    pages: (lists) =>
      readTogether<RowList, object[]>(lists, {
        one: pageOf,
        many: (alike) => pagesTogether(short, alike),
      }),
    counts: (lists) =>
      readTogether<AnyList, number>(lists, {
        one: ({ table, where }) => countOf({ table, where }),
        many: (alike) => countsTogether(query, alike),
      }),
    find: (table, where) => short(...listStatement('rows', [{ table, where }])),
    async findProject(where) {
      const statement = listStatement('rows', [{ table: 'Project', where }]);
      const [project] = await shared<Row<'Project'>>(...statement);
      return project ? Object.freeze(project) : null;
    },
  };
}

interface Counted extends Conditions {
  count: number;
}

async function pagesTogether(query: RunQuery, lists: RowList[]): Promise<object[][]> {
  const placeOf = placeIn(lists);
  const found = await linkedPage(query, lists);
  const pages = Map.groupBy(found as Conditions[], placeOf);
  return lists.map((list) => pages.get(placeOf(list.where)) ?? []);
}

async function linkedPage(query: RunQuery, lists: RowList[]): Promise<object[]> {
  const [{ table, links = [] }] = lists as [RowList];
  const arrays = await query<unknown[]>(...listStatement('rows', lists), 'array');
  return rowsOfArrays(table, links, arrays);
}

async function countsTogether(query: RunQuery, lists: AnyList[]): Promise<number[]> {
  const placeOf = placeIn(lists);
  const found = await query<Counted>(
    ...listStatement(
      'count',
      lists.map(({ table, where }) => ({ table, where })),
    ),
  );
  const counts = new Map(found.map((row) => [placeOf(row), row.count]));
  return lists.map((list) => counts.get(placeOf(list.where)) ?? 0);
}

/** One name for each text, so that every connection prepares it once. */
export function statementName(text: string): string {
  let name = STATEMENT_NAMES.get(text);
  if (name === undefined) {
    name = createHash('sha1').update(text).digest('base64url');
    if (STATEMENT_NAMES.size < STATEMENTS_MAX) STATEMENT_NAMES.set(text, name);
  }
  return name;
}
const STATEMENT_NAMES = new Map<string, string>();
/** The gateway has a few hundred texts; this only bounds what a mistake could add. */
const STATEMENTS_MAX = 2_000;
