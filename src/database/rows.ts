/**
 * Hot reads as prepared statements on the database that Prisma writes to: pages, nodes, relations, counts.
 * Equality and one key range only, always over an index; columns that end in "Sealed" are never selected.
 */
import { createHash } from 'node:crypto';
import { Prisma } from './generated/client.ts';

export type Table = Prisma.ModelName;
export type Row<T extends Table> = Omit<
  Prisma.TypeMap['model'][T]['payload']['scalars'],
  `${string}Sealed`
>;

export type RunQuery = <T>(text: string, values: unknown[]) => Promise<T[]>;

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

export interface Rows {
  page<T extends Table>(table: T, where: Where<T>, range: KeyRange<T>): Promise<Row<T>[]>;
  /** In no order; what doesn't exist is left out. */
  find<T extends Table>(table: T, where: Where<T>): Promise<Row<T>[]>;
  count<T extends Table>(table: T, where: Where<T>): Promise<number>;
  /** The escape hatch for a statement that this file has no words for. Values are bound, never joined in. */
  query: RunQuery;
}

export function createRows(query: RunQuery): Rows {
  return {
    query,
    page(table, where, range) {
      const values: unknown[] = [];
      const column = quote(range.column);
      const bounds = boundsOf(range, values);
      const part = `order by ${column} ${range.direction} limit ${bind(values, range.limit)}`;
      const selects = rangesOf(where).map((one) => {
        const conditions = [...conditionsOf(one, values), ...bounds];
        return `${selectFrom(table)} ${whereClause(conditions)} ${part}`;
      });
      return query(
        selects.length === 1 ? `${selects[0]}` : `(${selects.join(') union all (')}) ${part}`,
        values,
      );
    },
    find(table, where) {
      const values: unknown[] = [];
      const conditions = conditionsOf(where, values);
      return query(`${selectFrom(table)} ${whereClause(conditions)}`, values);
    },
    async count(table, where) {
      const values: unknown[] = [];
      const conditions = conditionsOf(where, values);
      const rows = await query<{ count: number }>(
        `select count(*)::int as count from ${quote(table)} ${whereClause(conditions)}`,
        values,
      );
      return rows[0]?.count ?? 0;
    },
  };
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

const SELECTS = new Map<Table, string>();

function selectFrom(table: Table): string {
  let select = SELECTS.get(table);
  if (select === undefined) {
    const fields: Record<string, string> = Prisma[`${table}ScalarFieldEnum`];
    const columns = Object.values(fields).filter((column) => !column.endsWith('Sealed'));
    select = `select ${columns.map(quote).join(', ')} from ${quote(table)}`;
    SELECTS.set(table, select);
  }
  return select;
}

/** Where a column may have several values, an index gives each of them in order, but not all together. */
const MOST_RANGES = 16;

/** One `where` for each range of an index that a page is merged from. */
function rangesOf(where: Record<string, unknown>): Record<string, unknown>[] {
  const several = Object.entries(where).filter(([, value]) => Array.isArray(value));
  if (several.length !== 1) return [where];
  const [[name, list]] = several as [[string, unknown[]]];
  const distinct = [...new Set(list)];
  if (distinct.length === 0 || distinct.length > MOST_RANGES) return [where];
  return distinct.map((value) => ({ ...where, [name]: value }));
}

function boundsOf<T extends Table>(range: KeyRange<T>, values: unknown[]): string[] {
  const column = quote(range.column);
  const bounds: string[] = [];
  if (range.above !== undefined) bounds.push(`${column} > ${bind(values, range.above)}`);
  if (range.below !== undefined) bounds.push(`${column} < ${bind(values, range.below)}`);
  if (range.at !== undefined) bounds.push(`${column} = ${bind(values, range.at)}`);
  return bounds;
}

function conditionsOf(where: Record<string, unknown>, values: unknown[]): string[] {
  return Object.entries(where)
    .filter(([, value]) => value !== undefined)
    .map(([name, value]) => {
      const column = quote(name);
      if (value === null) return `${column} is null`;
      if (Array.isArray(value)) return `${column} = any(${bind(values, value)})`;
      if (isInOrgs(value)) {
        return `${column} in (select "id" from "Project" where "orgId" = any(${bind(values, value.projectsOfOrgs)}))`;
      }
      if (isTimeRange(value)) {
        return 'after' in value
          ? `${column} > ${bind(values, value.after)}`
          : `${column} <= ${bind(values, value.upTo)}`;
      }
      return `${column} = ${bind(values, value)}`;
    });
}

function isTimeRange(value: unknown): value is TimeRange {
  return typeof value === 'object' && value !== null && ('after' in value || 'upTo' in value);
}

function isInOrgs(value: unknown): value is InOrgs {
  return typeof value === 'object' && value !== null && 'projectsOfOrgs' in value;
}

function whereClause(conditions: string[]): string {
  return conditions.length > 0 ? `where ${conditions.join(' and ')}` : '';
}

function bind(values: unknown[], value: unknown): string {
  values.push(value);
  return `$${values.length}`;
}

function quote(name: string): string {
  return `"${name}"`;
}
