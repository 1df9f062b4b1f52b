/**
 * Statements that Prisma has no words for, written with Kysely and typed by schema.prisma. Kysely only writes
 * them: reads are sent by `rows`, and what belongs to a transaction by the transaction.
 */
import {
  type Compilable,
  DummyDriver,
  Kysely,
  PostgresAdapter,
  PostgresIntrospector,
  PostgresQueryCompiler,
  type RawBuilder,
  sql,
} from 'kysely';
import type { StatementTables } from './tables.ts';
import type { Transaction } from './transaction.ts';

export { sql } from 'kysely';

export const statements = new Kysely<StatementTables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (tables) => new PostgresIntrospector(tables),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

export type Statement<R = unknown> = Compilable<R> | RawBuilder<R>;

/** Runs a statement inside a transaction; Prisma's client runs it by itself. */
export async function run<R>(
  client: Pick<Transaction, '$queryRawUnsafe'>,
  statement: Statement<R>,
): Promise<R[]> {
  const { sql: text, parameters } = statement.compile(statements);
  return client.$queryRawUnsafe<R[]>(text, ...parameters);
}

/** The same for a statement that returns nothing: how many rows it has changed. */
export async function runChange(
  client: Pick<Transaction, '$executeRawUnsafe'>,
  statement: Statement,
): Promise<number> {
  const { sql: text, parameters } = statement.compile(statements);
  return client.$executeRawUnsafe(text, ...parameters);
}

/** Compares a column of text with several values, by a statement that is the same for any number of them. */
export function anyOf<T extends string>(values: readonly T[]): RawBuilder<T> {
  return sql<T>`any(${[...values]}::text[])`;
}

/** Stands in a statement for a value of the input that the statement is run with. */
export type ValueOf<Input> = <T>(of: (input: Input) => T) => RawBuilder<T>;

class Place<Input> {
  readonly of: (input: Input) => unknown;

  constructor(of: (input: Input) => unknown) {
    this.of = of;
  }
}

/** The same for values of a kept statement. */
export function anyOfThese<T extends string>(values: RawBuilder<readonly T[]>): RawBuilder<T> {
  return sql<T>`any(${values})`;
}

/** A statement that is written once, and then only filled with values: to write one costs up to 100 µs. */
export class Kept<Input, R = unknown> {
  readonly text: string;
  readonly #places: readonly Place<Input>[];

  constructor(write: (value: ValueOf<Input>) => Compilable<R>) {
    const value: ValueOf<Input> = <T>(of: (input: Input) => T) => sql<T>`${new Place(of)}`;
    const compiled = write(value).compile();
    this.text = compiled.sql;
    this.#places = compiled.parameters as Place<Input>[];
  }

  /** The values of its parameters, in their order. */
  valuesOf(input: Input): unknown[] {
    return this.#places.map(({ of }) => of(input));
  }
}
