/**
 * A page with the rows that its rows point to, in one statement: read as arrays, since columns of several
 * tables have the same names, and made into the rows that each table gives by itself.
 */
import { type Conditions, conditionsOf, quote } from './conditions.ts';
import { Prisma } from './generated/client.ts';

/** Of every row of a page: the row of another table whose id a column holds. */
export interface Link {
  table: Prisma.ModelName;
  column: string;
  /** Rows of the other table that may be read. */
  where: Conditions;
}

/** What a row's links led to, by their columns; null where there was nothing to be read. */
const LINKED = Symbol('linked');
type LinkedRows = Record<string, object | null>;

/** What a row's page was read with; undefined where the column was no link of it. */
export function linkedRow(row: object, column: string): object | null | undefined {
  return (row as { [LINKED]?: LinkedRows })[LINKED]?.[column];
}

/** Columns that end in "Sealed" are never selected. */
function columnsOf(table: Prisma.ModelName): readonly string[] {
  let columns = COLUMNS.get(table);
  if (!columns) {
    const fields: Record<string, string> = Prisma[`${table}ScalarFieldEnum`];
    columns = Object.values(fields).filter((column) => !column.endsWith('Sealed'));
    COLUMNS.set(table, columns);
  }
  return columns;
}
const COLUMNS = new Map<Prisma.ModelName, readonly string[]>();

/** Parts of a statement whose page is named `page`. Each link is one look at a primary key, whatever the plan. */
export function joinLinks(table: Prisma.ModelName, links: readonly Link[], values: unknown[]) {
  let columns = columnList(table, 'page.');
  let joins = '';
  for (const [index, link] of links.entries()) {
    const name = `link${index}`;
    const conditions = [`"id" = page.${quote(link.column)}`, ...conditionsOf(link.where, values)];
    columns += `, ${columnList(link.table, `${name}.`)}`;
    joins += ` left join lateral (select ${columnList(link.table)} from ${quote(link.table)}
      where ${conditions.join(' and ')} limit 1) ${name} on true`;
  }
  return { columns, joins };
}

/** All columns of a table, each after the prefix. */
export function columnList(table: Prisma.ModelName, prefix = ''): string {
  const key = `${prefix}${table}`;
  let list = LISTS.get(key);
  if (list === undefined) {
    list = columnsOf(table)
      .map((column) => `${prefix}${quote(column)}`)
      .join(', ');
    LISTS.set(key, list);
  }
  return list;
}
/** As many as there are tables, times the links that a type has. */
const LISTS = new Map<string, string>();

/** The rows of the page, in the order of the arrays, each with what it is linked to. */
export function rowsOfArrays(
  table: Prisma.ModelName,
  links: readonly Link[],
  arrays: readonly unknown[][],
): object[] {
  const own = columnsOf(table);
  const shapes = links.map(({ table, column }) => {
    const columns = columnsOf(table);
    return { columns, column, idAt: columns.indexOf('id') };
  });
  return arrays.map((values) => {
    let at = own.length;
    const linked: LinkedRows = {};
    for (const { columns, column, idAt } of shapes) {
      linked[column] = values[at + idAt] === null ? null : rowOf(columns, values, at);
      at += columns.length;
    }
    const row = rowOf(own, values, 0);
    if (links.length > 0) row[LINKED] = linked;
    return row;
  });
}

function rowOf(columns: readonly string[], values: readonly unknown[], from: number) {
  const row: Record<string | symbol, unknown> = {};
  for (let index = 0; index < columns.length; index += 1) {
    row[columns[index] as string] = values[from + index];
  }
  return row;
}
