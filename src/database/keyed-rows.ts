/**
 * Changes of many rows by their keys, in a form that the planner cannot get wrong. For a table that has grown since it
 * was analyzed it takes thousands of rows for one, and then walks all of them for each key that is joined to them. So
 * the rows are found first, each by its key alone, and changed at the places where they were found
 * (docs/decisions/046-rows-are-changed-where-they-were-found.md).
 */
import type { Table } from './tables.ts';

/** Columns in the order of an index that begins with them, each with the SQL of what it is equal to. */
type Key = Readonly<Record<string, string>>;

interface Wanted {
  /** All of them without the `place`, where the rows are only read. */
  columns?: readonly string[] | '*';
  /** Of these the index has none: they are compared row by row. */
  beside?: Key;
  /** Of a partial index. */
  condition?: string;
  /** How many rows may have the key. */
  limit?: number;
}

/**
 * SQL: an item of FROM, the rows of a key that items before it tell: their `place`, and some of their columns. The first
 * rows of a range in the order of an index are what that index gives at once: however few rows the planner takes the
 * table to have of a project, by any other index it would have to read and sort them all.
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
 * SQL: whether the row to change is at the place of a row of `found`, a member of `with` that has each row's `place` and
 * `projectId`. The project is compared in another order than that of the indexes: none of them offers itself for it.
 */
export function isAtPlaceOf(row: string, found: { with: string; as: string }): string {
  return `${row}.ctid = any(array(select "place" from ${found.with})) and ${row}.ctid = ${found.as}."place"
      and ${row}."projectId" = ${found.as}."projectId" collate "default"`;
}

/** Another one has moved a row at the same time, again and again: that is left to what notices it. */
const TRIES = 5;

/** How many rows a statement has found and not changed. */
export interface Missed {
  missed: number;
}

/**
 * Sends a change until it has met all rows that it finds. One that another changes between the two has a new place, is
 * `missed`, and is found there by the next try if it still is to be changed.
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

/** SQL: a column `missed`, of two members of `with`. */
export const missedColumn = (found: string, changed: string): string =>
  `((select count(*) from ${found}) - (select count(*) from ${changed}))::int as "missed"`;

/** The same for a change of one row that does not tell whether it has missed it: without an answer it is sent again, once. */
export async function repeatIfMoved<R>(send: () => Promise<R | null>): Promise<R | null> {
  return (await send()) ?? (await send());
}
