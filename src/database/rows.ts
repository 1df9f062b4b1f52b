/**
 * Hot reads as prepared statements on the database that Prisma writes to: pages, nodes, relations, counts.
 * Equality and one key range only, always over an index; columns that end in "Sealed" are never selected.
 */
import { createHash } from 'node:crypto';
import { bind, type Conditions, conditionsOf, quote, rangesOf, whereClause } from './conditions.ts';
import type { Prisma } from './generated/client.ts';
import { indexRange, isIndexRange } from './index-range.ts';
import { columnList, joinLinks, type Link, rowsOfArrays } from './linked-rows.ts';
import { askTogether, joinAsked } from './many-lists.ts';

export type Table = Prisma.ModelName;
export type Row<T extends Table> = Omit<
  Prisma.TypeMap['model'][T]['payload']['scalars'],
  `${string}Sealed`
>;

export type RunQuery = <T>(text: string, values: unknown[], rowMode?: 'array') => Promise<T[]>;

/** Rows whose projectId is of any project of these orgs. */
export interface InOrgs {
  projectsOfOrgs: string[];
}

/** Times after one, or up to and including one. */
export type TimeRange = { after: Date } | { upTo: Date };

/** Equal to a value, or to one of several; times may be in a range. */
export type Where<T extends Table> = {
  [K in keyof Row<T>]?:
    | Row<T>[K]
    | NonNullable<Row<T>[K]>[]
    | (Date extends Row<T>[K] ? TimeRange : never)
    | (K extends 'projectId' ? InOrgs : never);
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
  /** What its rows are to be read with: `linkedRow` finds it. */
  links?: readonly Link[];
}

export interface Rows {
  page<T extends Table>(table: T, where: Where<T>, range: KeyRange<T>): Promise<Row<T>[]>;
  /** A page of each list; those that differ by ids alone take one statement together. */
  pages(lists: readonly RowList[]): Promise<object[][]>;
  /** In no order; what doesn't exist is left out. */
  find<T extends Table>(table: T, where: Where<T>): Promise<Row<T>[]>;
  /** The project that nearly every call names. Its row may be shared with other calls: nobody may change it. */
  findProject(where: Where<'Project'>): Promise<Readonly<Row<'Project'>> | null>;
  count<T extends Table>(table: T, where: Where<T>): Promise<number>;
  /** In the same way as pages. */
  counts(lists: readonly Omit<RowList, 'range'>[]): Promise<number[]>;
  /** The escape hatch for a statement that this file has no words for. Values are bound, never joined in. */
  query: RunQuery;
}

/** Short reads, of pages and of rows by their keys, may have a way of their own, and so may that of a project. */
export function createRows(
  query: RunQuery,
  ways: { short?: RunQuery; shared?: RunQuery } = {},
): Rows {
  const { short = query, shared = short } = ways;
  const pageOf = <T>(list: RowList): Promise<T[]> => {
    const values: unknown[] = [];
    const page = selectPage(list, values);
    return list.links?.length
      ? (linkedPage(short, { ...list, from: `(${page}) page` }, values) as Promise<T[]>)
      : short(page, values);
  };
  const count: Rows['count'] = async (table, where) => {
    const values: unknown[] = [];
    const [row] = await query<Counted>(selectCount(table, where, values), values);
    return row?.count ?? 0;
  };
  return {
    query,
    page: (table, where, range) => pageOf({ table, where, range }),
    count,
    pages: (lists) =>
      askTogether<RowList, object[]>(lists, {
        one: pageOf,
        many: (alike) => pagesTogether(short, alike),
      }),
    counts: (lists) =>
      askTogether<Omit<RowList, 'range'>, number>(lists, {
        one: ({ table, where }) => count(table, where as Where<Table>),
        many: (alike) => countsTogether(query, alike),
      }),
    find: (table, where) => short(...selectRows(table, where)),
    async findProject(where) {
      const [project] = await shared<Row<'Project'>>(...selectRows('Project', where));
      return project ? Object.freeze(project) : null;
    },
  };
}

interface Counted extends Conditions {
  count: number;
}

async function pagesTogether(query: RunQuery, lists: RowList[]): Promise<object[][]> {
  const [first] = lists as [RowList];
  const { table, range, links = [] } = first;
  const values: unknown[] = [];
  const { asked, where, placeOf } = joinAsked(lists, values);
  const page = selectPage({ ...first, where }, values);
  const from = `${asked} cross join lateral (${page}) page`;
  const found = await linkedPage(query, { table, range, links, from }, values);
  const pages = Map.groupBy(found as Conditions[], placeOf);
  return lists.map((list) => pages.get(placeOf(list.where)) ?? []);
}

async function linkedPage(
  query: RunQuery,
  { table, range, links = [], from }: Omit<RowList, 'where'> & { from: string },
  values: unknown[],
): Promise<object[]> {
  const { columns, joins } = joinLinks(table, links, values);
  const order = `order by page.${quote(range.column)} ${range.direction}`;
  const text = `select ${columns} from ${from} ${joins} ${order}`;
  return rowsOfArrays(table, links, await query<unknown[]>(text, values, 'array'));
}

async function countsTogether(query: RunQuery, lists: Omit<RowList, 'range'>[]): Promise<number[]> {
  const [{ table }] = lists as [RowList];
  const values: unknown[] = [];
  const { asked, where, placeOf } = joinAsked(lists, values);
  const found = await query<Counted>(
    `select * from ${asked} cross join lateral (${selectCount(table, where, values)}) counted`,
    values,
  );
  const counts = new Map(found.map((row) => [placeOf(row), row.count]));
  return lists.map((list) => counts.get(placeOf(list.where)) ?? 0);
}

/** One name for each text, so that every connection prepares it once. */
export function statementName(text: string): string {
  let name = STATEMENT_NAMES.get(text);
  if (name === undefined) {
    name = createHash('sha1').update(text).digest('base64url');
    if (STATEMENT_NAMES.size < MOST_STATEMENTS) STATEMENT_NAMES.set(text, name);
  }
  return name;
}
const STATEMENT_NAMES = new Map<string, string>();
/** Our own texts are a few hundred; this only bounds what a mistake could add. */
const MOST_STATEMENTS = 2_000;

function selectFrom(table: Table): string {
  return `select ${columnList(table)} from ${quote(table)}`;
}

function selectRows(table: Table, where: Conditions): [text: string, values: unknown[]] {
  const values: unknown[] = [];
  const conditions = conditionsOf(where, values);
  return [`${selectFrom(table)} ${whereClause(conditions)}`, values];
}

function selectPage(list: RowList, values: unknown[]): string {
  const { table, where, range } = list;
  const limit = `limit ${bind(values, range.limit)}`;
  const byKey = `${quote(range.column)} ${range.direction}`;
  const selects = rangesOf(where).map((one) => {
    const { conditions, order } = isIndexRange(one, list)
      ? indexRange(one, list, values)
      : {
          conditions: [...conditionsOf(one, values), ...boundsOf(range, values)],
          order: byKey,
        };
    return `${selectFrom(table)} ${whereClause(conditions)} order by ${order} ${limit}`;
  });
  return selects.length === 1
    ? (selects[0] as string)
    : `(${selects.join(') union all (')}) order by ${byKey} ${limit}`;
}

function selectCount(table: Table, where: Conditions, values: unknown[]): string {
  const conditions = conditionsOf(where, values);
  return `select count(*)::int as "count" from ${quote(table)} ${whereClause(conditions)}`;
}

function boundsOf(range: RowList['range'], values: unknown[]): string[] {
  const column = quote(range.column);
  const bounds: string[] = [];
  if (range.above !== undefined) bounds.push(`${column} > ${bind(values, range.above)}`);
  if (range.below !== undefined) bounds.push(`${column} < ${bind(values, range.below)}`);
  if (range.at !== undefined) bounds.push(`${column} = ${bind(values, range.at)}`);
  return bounds;
}
