/** The shape of a list: everything about it except its values. Lists of one shape share a statement. */
import type { Conditions, RowList } from './row-list.ts';

/** A list without a range means all of its rows, or their count. */
export type AnyList = Omit<RowList, 'range'> & Partial<Pick<RowList, 'range'>>;

/** One list, or several that differ only by ids. The ids are the rows of `requested`, which the table is joined to. */
export type SimilarLists = readonly AnyList[];

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
  | 'from'
  | 'until'
  | 'span'
  | 'timeFrom'
  | 'timeUntil'
  | 'timeSpan'
  | 'firstFrom'
  | 'requested';

export function toComparison(value: unknown): Comparison {
  if (value === null) return 'null';
  if (typeof value === 'string') return 'text';
  if (Array.isArray(value)) return 'any';
  if (typeof value !== 'object') return 'equal';
  if ('projectsOfOrgs' in value) return 'inOrgs';
  if ('after' in value) return 'after';
  if ('noneOf' in value) return 'noneOf';
  if ('oneOf' in value) return 'oneOf';
  if ('upTo' in value) return 'upTo';
  if ('firstFrom' in value) return 'firstFrom';
  return toSpanComparison(value);
}

function toSpanComparison({ from, until }: { from?: unknown; until?: unknown }): Comparison {
  if (from instanceof Date || until instanceof Date) {
    if (from === undefined) return 'timeUntil';
    return until === undefined ? 'timeFrom' : 'timeSpan';
  }
  if (from === undefined) return until === undefined ? 'equal' : 'until';
  return until === undefined ? 'from' : 'span';
}

/** True for a condition on an id. Lists of one shape may differ by ids. */
export function isId(name: string, value: unknown): boolean {
  return typeof value === 'string' && /(^id|Id)$/.test(name);
}

export function listIdColumns([list]: SimilarLists): string[] {
  const { where = {} } = list ?? {};
  return Object.keys(where).filter((name) => isId(name, where[name]));
}

/**
 * The maximum number of index ranges from which a page is merged. An index has the rows of one value in order, but not
 * the rows of several values together.
 */
const RANGES_MAX = 16;

/** The columns with several values. A page is merged from an index range for each combination of their values. */
export function listMergedColumns({ where, range }: AnyList): readonly string[] {
  if (!range) return [];
  const columns: string[] = [];
  let ranges = 1;
  for (const name in where) {
    if (!Array.isArray(where[name])) continue;
    columns.push(name);
    ranges *= listDistinct(where[name]).length;
  }
  return ranges > 0 && ranges <= RANGES_MAX ? columns : [];
}

export function listDistinct(values: unknown): unknown[] {
  return [...new Set(values as unknown[])];
}

/** Returns a key. Lists with equal keys share a statement. */
export function formatShape(purpose: 'rows' | 'count', lists: SimilarLists): string {
  const [list] = lists as [AnyList];
  const { table, where, range, indexPrefix, links } = list;
  const mergedRanges = listMergedColumns(list)
    .map((name) => `${name} ${listDistinct(where[name]).length}`)
    .join(' ');
  let shape = `${purpose} ${lists.length > 1} ${table} ${formatComparisons(where)}| ${mergedRanges} |`;
  if (range) {
    const { column, direction, above, below, at } = range;
    shape += `${column} ${direction} ${above !== undefined} ${below !== undefined} ${at !== undefined}`;
    shape += ` ${indexPrefix}`;
  }
  for (const link of links ?? []) {
    shape += `| ${link.table} ${link.column} ${formatComparisons(link.where)}`;
  }
  return shape;
}

function formatComparisons(where: Conditions): string {
  let text = '';
  for (const name in where) {
    if (where[name] !== undefined) text += `${name} ${toComparison(where[name])} `;
  }
  return text;
}
