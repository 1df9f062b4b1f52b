/** The tables and their rows, as schema.prisma has them. */
import type { Generated } from 'kysely';
import { Prisma } from './generated/client.ts';

export type Table = Prisma.ModelName;

type Model<T extends Table> = Prisma.TypeMap['model'][T];

/** Every column, as it is read. */
export type Tables = { [T in Table]: Model<T>['payload']['scalars'] };

/** A row that Prisma creates: it need not have what has a default. */
type NewRow<T extends Table> = Exclude<
  Model<T>['operations']['createMany']['args']['data'],
  readonly unknown[]
>;

/** Every column, as statements know it: a new row may leave out those that have a default or may be null. */
export type StatementTables = {
  [T in Table]: {
    [K in keyof Tables[T]]: K extends Defaults<T> ? Generated<Tables[T][K]> : Tables[T][K];
  };
};
type Defaults<T extends Table> = {
  [K in keyof Tables[T]]: null extends Tables[T][K]
    ? never
    : undefined extends NewRow<T>[K & keyof NewRow<T>]
      ? K
      : never;
}[keyof Tables[T]];

/** What may be large and nobody needs in a list: it is read by itself. */
const LARGE = { Delivery: ['body'], StreamMessage: ['body'] } as const;
type Large<T extends Table> = T extends keyof typeof LARGE ? (typeof LARGE)[T][number] : never;

/** What is read of a row: all but its sealed and its large columns. */
export type Row<T extends Table> = Omit<Tables[T], `${string}Sealed` | Large<T>>;

export type Column<T extends Table> = T extends Table ? keyof Row<T> & string : never;

/** The columns of a `Row`. */
export function columnsOf<T extends Table>(table: T): readonly Column<T>[];
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
