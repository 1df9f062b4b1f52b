/**
 * A page with the rows that its rows point to, in one statement: read as arrays, since columns of several
 * tables have the same names, and made into the rows that each table gives by itself.
 */
import { columnsOf, type Row, type Table } from '../tables.ts';
import type { Conditions } from './list-shape.ts';

/** Of every row of a page: the row of another table whose id a column holds. */
export interface Link {
  table: Table;
  column: string;
  /** Rows of the other table that may be read. */
  where: Conditions;
}

/** A row as a page gives it. */
export interface PageRow {
  /** What its links led to, by their columns: null if nothing may be read there. Only columns that were links. */
  linked?: Record<string, object | null>;
}

/** The rows of the page, in the order of the arrays, each with what it is linked to. */
export function rowsOfArrays(
  table: Table,
  links: readonly Link[],
  arrays: readonly unknown[][],
): PageRow[] {
  const own = columnsOf(table);
  const shapes = links.map(({ table, column }) => {
    const columns = columnsOf(table);
    return { columns, column, idAt: columns.indexOf('id') };
  });
  return arrays.map((values) => {
    let at = own.length;
    const linked: Record<string, object | null> = {};
    for (const { columns, column, idAt } of shapes) {
      linked[column] = values[at + idAt] === null ? null : rowOf(columns, values, at);
      at += columns.length;
    }
    const row: PageRow = rowOf(own, values, 0);
    if (links.length > 0) row.linked = linked;
    return row;
  });
}

/** The rows of several tables, by table, from one array of all their columns; null for one that was not there. */
export function rowsOfTables<T extends Table>(
  tables: readonly T[],
  values: readonly unknown[],
): { [One in T]: Row<One> | null } {
  let at = 0;
  const rows = tables.map((table: Table) => {
    const columns = columnsOf(table);
    const from = at;
    at += columns.length;
    const isThere = values[from + columns.indexOf('id')] !== null;
    return [table, isThere ? rowOf(columns, values, from) : null];
  });
  return Object.fromEntries(rows);
}

function rowOf(columns: readonly string[], values: readonly unknown[], from: number) {
  const row: Record<string, unknown> = {};
  for (let index = 0; index < columns.length; index += 1) {
    row[columns[index] as string] = values[from + index];
  }
  return row;
}
