/**
 * SQL that changes many rows by their keys. If a table has grown since it was analyzed, the planner expects thousands of
 * rows for each key, and would scan the whole table for each key of a join. These statements therefore find each row by
 * its key alone, and then change the rows by their physical positions (docs/decisions/046-updates-by-row-location.md).
 */
import type { Table } from './tables.ts';

/** Columns in the order of an index that begins with them, each with the SQL of the value it must equal. */
type KeyColumns = Readonly<Record<string, string>>;

interface KeyedRowsOptions {
  /** Set if the rows are only read: the columns to read, without `place`. */
  columns?: readonly string[] | '*';
  /** Further columns to compare, which the index does not contain. */
  alsoEqual?: KeyColumns;
  /** The condition of a partial index. */
  condition?: string;
  /** The maximum number of rows with the key. */
  limit?: number;
}

/**
 * SQL: an item of FROM with the rows of a key, whose values come from preceding items. It has the position of each row
 * as `place`, and some columns. It selects a range in the order of the index, so that the planner uses that index: with
 * another index, it would have to read and sort all rows of the project.
 */
export function rowsByKeySql(
  table: Table,
  key: KeyColumns,
  { columns = [], alsoEqual = {}, condition = 'true', limit = 1 }: KeyedRowsOptions = {},
): string {
  const selection = columns === '*' ? ['*'] : ['ctid as "place"', ...columns.map(quoteName)];
  const equalities = { ...key, ...alsoEqual };
  const names = Object.keys(equalities).map(quoteName);
  const values = Object.values(equalities).join(', ');
  const order = Object.keys(key).map(quoteName);
  return `lateral (select ${selection.join(', ')} from "${table}"
      where (${names.join(', ')}) between (${values}) and (${values}) and ${condition}
      order by ${order.join(', ')} limit ${limit})`;
}

function quoteName(column: string): string {
  return `"${column}"`;
}

/**
 * SQL: joins the row to change with `located`, a CTE that has the `place` and `projectId` of each row. The collation of
 * the comparison differs from the collation of the indexes, so that the planner uses no index here.
 */
export function isAtPositionSql(row: string, located: string): string {
  return `${row}.ctid = any(array(select "place" from ${located})) and ${row}.ctid = ${located}."place"
      and ${row}."projectId" = ${located}."projectId" collate "default"`;
}

/** A try fails only if a concurrent change has moved a row again. After the last try, the caller's recovery applies. */
const TRIES_MAX = 5;

/** The number of rows that a statement found and did not change. */
export interface MissedCount {
  missed: number;
}

/**
 * Repeats a change until it has changed all rows that it finds. A row that is changed concurrently has a new position
 * and counts as `missed`. The next try finds it there if it still matches.
 */
export async function repeatUntilAllChanged<R extends MissedCount>(
  send: () => Promise<R[]>,
): Promise<R[]> {
  const changedRows: R[] = [];
  for (let tries = 0; tries < TRIES_MAX; tries += 1) {
    const rows = await send();
    changedRows.push(...rows);
    if (rows.every(({ missed }) => missed === 0)) break;
  }
  return changedRows;
}

/** SQL: the column `missed`, computed from two members of `with`. */
export const missedCountSql = (source: string, changed: string): string =>
  `((select count(*) from ${source}) - (select count(*) from ${changed}))::int as "missed"`;

/** Repeats a change of one row once if it returned nothing, for statements that do not report missed rows. */
export async function repeatIfMoved<R>(send: () => Promise<R | null>): Promise<R | null> {
  return (await send()) ?? (await send());
}
