/** What tells the statements of lists apart: all of a list but its values. */
import type { RowList } from '../rows.ts';

export type Conditions = Record<string, unknown>;

/** A list without its range is all of its rows, or their count. */
export type AnyList = Omit<RowList, 'range'> & Partial<Pick<RowList, 'range'>>;

/** One list, or several that differ by ids alone: those are the rows of `requested`, which the table is joined to. */
export type Lists = readonly AnyList[];

/** How a column is compared with its value. */
export type Comparison =
  | 'null'
  | 'text'
  | 'equal'
  | 'any'
  | 'inOrgs'
  | 'after'
  | 'upTo'
  | 'noneOf'
  | 'oneOf'
  | 'requested';

export function comparisonOf(value: unknown): Comparison {
  if (value === null) return 'null';
  if (typeof value === 'string') return 'text';
  if (Array.isArray(value)) return 'any';
  if (typeof value !== 'object') return 'equal';
  if ('projectsOfOrgs' in value) return 'inOrgs';
  if ('after' in value) return 'after';
  if ('noneOf' in value) return 'noneOf';
  if ('oneOf' in value) return 'oneOf';
  return 'upTo' in value ? 'upTo' : 'equal';
}

/** A column by which lists of one kind may differ. */
export function isId(name: string, value: unknown): boolean {
  return typeof value === 'string' && /(^id|Id)$/.test(name);
}

export function idsOf([list]: Lists): string[] {
  const { where = {} } = list ?? {};
  return Object.keys(where).filter((name) => isId(name, where[name]));
}

/** Where a column may have several values, an index gives each of them in order, but not all together. */
const RANGES_MAX = 16;

/** The column of several values that a page is merged from, a range of an index for each of them. */
export function mergedColumn({ where, range }: AnyList): string | undefined {
  if (!range) return undefined;
  let column: string | undefined;
  for (const name in where) {
    if (!Array.isArray(where[name])) continue;
    if (column !== undefined) return undefined;
    column = name;
  }
  if (column === undefined) return undefined;
  const { length } = distinct(where[column]);
  return length > 0 && length <= RANGES_MAX ? column : undefined;
}

export function distinct(values: unknown): unknown[] {
  return [...new Set(values as unknown[])];
}

/** Lists of one key have one statement. */
export function shapeOf(purpose: 'rows' | 'count', lists: Lists): string {
  const [list] = lists as [AnyList];
  const { table, where, range, along, links } = list;
  const merged = mergedColumn(list);
  const places = merged === undefined ? '' : `${merged} ${distinct(where[merged]).length}`;
  let shape = `${purpose} ${lists.length > 1} ${table} ${comparisons(where)}| ${places} |`;
  if (range) {
    const { column, direction, above, below, at } = range;
    shape += `${column} ${direction} ${above !== undefined} ${below !== undefined} ${at !== undefined}`;
    shape += ` ${along}`;
  }
  for (const link of links ?? []) {
    shape += `| ${link.table} ${link.column} ${comparisons(link.where)}`;
  }
  return shape;
}

function comparisons(where: Conditions): string {
  let text = '';
  for (const name in where) {
    if (where[name] !== undefined) text += `${name} ${comparisonOf(where[name])} `;
  }
  return text;
}
