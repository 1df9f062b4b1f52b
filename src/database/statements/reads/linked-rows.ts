/**
 * Reads a page together with the rows that its rows point to, in one statement. The rows are read as arrays, because
 * columns of several tables have equal names, and are converted to the rows of each table.
 */
import { listColumns, type Row, type Table } from '../tables.ts';
import type { Link } from './row-list.ts';

export interface PageRow {
  /**
   * The linked rows by column. Null if the row may not be read. Contains only the columns that were requested as links.
   */
  linked?: Record<string, object | null>;
}

/** Converts the arrays of a page to rows with their linked rows, in the same order. */
export function toPageRows(
  table: Table,
  links: readonly Link[],
  arrays: readonly unknown[][],
): PageRow[] {
  const pageColumns = listColumns(table);
  const shapes = links.map(({ table, column }) => {
    const columns = listColumns(table);
    return { columns, column, idIndex: columns.indexOf('id') };
  });
  return arrays.map((values) => {
    let offset = pageColumns.length;
    const linked: Record<string, object | null> = {};
    for (const { columns, column, idIndex } of shapes) {
      linked[column] = values[offset + idIndex] === null ? null : toRow(columns, values, offset);
      offset += columns.length;
    }
    const row: PageRow = toRow(pageColumns, values, 0);
    if (links.length > 0) row.linked = linked;
    return row;
  });
}

/** Converts one array with the columns of several tables to a row for each table. Null if a table has none. */
export function toTableRows<T extends Table>(
  tables: readonly T[],
  values: readonly unknown[],
): { [Name in T]: Row<Name> | null } {
  let offset = 0;
  const rows = tables.map((table: Table) => {
    const columns = listColumns(table);
    const from = offset;
    offset += columns.length;
    const exists = values[from + columns.indexOf('id')] !== null;
    return [table, exists ? toRow(columns, values, from) : null];
  });
  return Object.fromEntries(rows);
}

function toRow(columns: readonly string[], values: readonly unknown[], from: number) {
  const row: Record<string, unknown> = {};
  for (let index = 0; index < columns.length; index += 1) {
    row[columns[index] as string] = values[from + index];
  }
  return row;
}
