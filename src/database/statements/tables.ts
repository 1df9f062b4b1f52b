/** The types of tables and rows, from schema.prisma. */
import type { Generated } from 'kysely';
import { Prisma } from '../generated/client.ts';

export type Table = Prisma.ModelName;

type Model<T extends Table> = Prisma.TypeMap['model'][T];

/** All columns as they are read. */
export type Tables = { [T in Table]: Model<T>['payload']['scalars'] };

/** A row that Prisma creates. Columns with a default may be omitted. */
type NewRow<T extends Table> = Exclude<
  Model<T>['operations']['createMany']['args']['data'],
  readonly unknown[]
>;

/** All columns as statements use them. A new row may omit columns that are nullable or have a default. */
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

/** Large columns that lists do not need. They are read separately. */
const LARGE = { Delivery: ['body'], StreamMessage: ['body'] } as const;
type Large<T extends Table> = T extends keyof typeof LARGE ? (typeof LARGE)[T][number] : never;

/** The columns that are read by default: all except sealed and large ones. */
export type Row<T extends Table> = Omit<Tables[T], `${string}Sealed` | Large<T>>;

export type Column<T extends Table> = T extends Table ? keyof Row<T> & string : never;

const COLUMNS = new Map<Table, readonly string[]>();

/** Returns the columns of a `Row`. */
export function listColumns<T extends Table>(table: T): readonly Column<T>[];
export function listColumns(table: Table): readonly string[] {
  const cachedColumns = COLUMNS.get(table);
  if (cachedColumns) return cachedColumns;
  const fields: Record<string, string> = Prisma[`${table}ScalarFieldEnum`];
  const largeColumns: readonly string[] = table in LARGE ? LARGE[table as keyof typeof LARGE] : [];
  const columns = Object.values(fields).filter(
    (column) => !column.endsWith('Sealed') && !largeColumns.includes(column),
  );
  COLUMNS.set(table, columns);
  return columns;
}
