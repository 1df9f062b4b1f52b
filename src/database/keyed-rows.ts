/**
 * Changes many rows by their keys, in a form that keeps the planner from choosing a wrong plan. For a table that has
 * grown since it was analyzed, the planner expects thousands of rows where there is one, and scans all rows of the
 * table for each joined key. So the rows are first found, each by its key alone, and then changed by their physical
 * positions (docs/decisions/046-updates-by-row-location.md).
 */
import type { Table } from './tables.ts';

/** Columns in the order of an index that begins with them, each with the SQL of the value it must equal. */
type Key = Readonly<Record<string, string>>;

interface Wanted {
  /** Set if the rows are only read: the columns to read, without `place`. */
  columns?: readonly string[] | '*';
  /** Further columns to compare, which the index does not contain. */
  beside?: Key;
  /** The condition of a partial index. */
  condition?: string;
  /** The most rows that may have the key. */
  limit?: number;
}

/**
 * SQL: an item of FROM with the rows of a key that preceding items determine: their `place`, and some of their columns.
 * The first rows of a range in an index's order come directly from that index, however few rows the planner expects in
 * a project. With any other index it would have to read and sort them all.
 */
export function rowsByKey(
  table: Table,
  key: Key,
  { columns = [], beside = {}, condition = 'true', limit = 1 }: Wanted = {},
): string {
  const selected = columns === '*' ? ['*'] : ['ctid as "place"', ...columns.map(quoted)];
  const all = { ...key, ...beside };
  const names = Object.keys(all).map(quoted);
  const values = Object.values(all).join(', ');
  const order = Object.keys(key).map(quoted);
  return `lateral (select ${selected.join(', ')} from "${table}"
      where (${names.join(', ')}) between (${values}) and (${values}) and ${condition}
      order by ${order.join(', ')} limit ${limit})`;
}

function quoted(column: string): string {
  return `"${column}"`;
}

/**
 * SQL: true if the row to change is at the `place` of a row of `found`, a member of `with` that has each row's `place`
 * and `projectId`. The operands of the project are in another order than in the indexes, so that the planner uses none
 * of them here.
 */
export function isAtPlaceOf(row: string, found: { with: string; as: string }): string {
  return `${row}.ctid = any(array(select "place" from ${found.with})) and ${row}.ctid = ${found.as}."place"
      and ${row}."projectId" = ${found.as}."projectId" collate "default"`;
}

/** Each try fails only if a concurrent change has moved a row again. After that the caller's own recovery applies. */
const TRIES = 5;

/** The number of rows that a statement has found and not changed. */
export interface Missed {
  missed: number;
}

/**
 * Repeats a change until it has changed all rows that it finds. A row that is changed concurrently has a new position
 * and counts as `missed`. The next try finds it there if it still matches.
 */
export async function changeFound<R extends Missed>(send: () => Promise<R[]>): Promise<R[]> {
  const changed: R[] = [];
  for (let tries = 0; tries < TRIES; tries += 1) {
    const rows = await send();
    changed.push(...rows);
    if (rows.every(({ missed }) => missed === 0)) break;
  }
  return changed;
}

/** SQL: the column `missed`, computed from two members of `with`. */
export const missedColumn = (found: string, changed: string): string =>
  `((select count(*) from ${found}) - (select count(*) from ${changed}))::int as "missed"`;

/** Repeats a change of one row once if it returned nothing, for statements that do not report missed rows. */
export async function repeatIfMoved<R>(send: () => Promise<R | null>): Promise<R | null> {
  return (await send()) ?? (await send());
}
