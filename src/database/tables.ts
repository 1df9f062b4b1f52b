/** The tables and their rows, as schema.prisma has them. */
import { Prisma } from './generated/client.ts';

export type Table = Prisma.ModelName;

/** Every column, as statements know it. */
export type Tables = { [T in Table]: Prisma.TypeMap['model'][T]['payload']['scalars'] };

/** What may be large and nobody needs in a list: it is read by itself. */
const LARGE = { Delivery: ['body'], StreamMessage: ['body'] } as const;
type Large<T extends Table> = T extends keyof typeof LARGE ? (typeof LARGE)[T][number] : never;

/** What is read of a row: all but its sealed and its large columns. */
export type Row<T extends Table> = Omit<Tables[T], `${string}Sealed` | Large<T>>;

/** The columns of a `Row`. */
export function columnsOf(table: Table): readonly string[] {
  let columns = COLUMNS.get(table);
  if (!columns) {
    const fields: Record<string, string> = Prisma[`${table}ScalarFieldEnum`];
    const large: readonly string[] = table in LARGE ? LARGE[table as keyof typeof LARGE] : [];
    columns = Object.values(fields).filter(
      (column) => !column.endsWith('Sealed') && !large.includes(column),
    );
    COLUMNS.set(table, columns);
  }
  return columns;
}
const COLUMNS = new Map<Table, readonly string[]>();
