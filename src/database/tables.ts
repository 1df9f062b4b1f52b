/** The tables and their rows, as schema.prisma has them. */
import { Prisma } from './generated/client.ts';

export type Table = Prisma.ModelName;

/** Every column, as statements know it. */
export type Tables = { [T in Table]: Prisma.TypeMap['model'][T]['payload']['scalars'] };

/** What is read of a row: all but its sealed columns. */
export type Row<T extends Table> = Omit<Tables[T], `${string}Sealed`>;

/** The columns of a `Row`. */
export function columnsOf(table: Table): readonly string[] {
  let columns = COLUMNS.get(table);
  if (!columns) {
    const fields: Record<string, string> = Prisma[`${table}ScalarFieldEnum`];
    columns = Object.values(fields).filter((column) => !column.endsWith('Sealed'));
    COLUMNS.set(table, columns);
  }
  return columns;
}
const COLUMNS = new Map<Table, readonly string[]>();
