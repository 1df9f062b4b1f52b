/**
 * Statements that Prisma cannot express, written with Kysely and typed by schema.prisma. Kysely only builds them:
 * `rows` executes reads, and the transaction executes its own statements.
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
import type { Transaction } from '../transactions/transaction.ts';
import type { StatementTables } from './tables.ts';

export { sql } from 'kysely';

export const statements = new Kysely<StatementTables>({
  dialect: {
    createAdapter: () => new PostgresAdapter(),
    createDriver: () => new DummyDriver(),
    createIntrospector: (tables) => new PostgresIntrospector(tables),
    createQueryCompiler: () => new PostgresQueryCompiler(),
  },
});

type Statement<R = unknown> = Compilable<R> | RawBuilder<R>;

/** Runs a statement in a transaction, or alone on Prisma's client. */
export async function run<R>(
  client: Pick<Transaction, '$queryRawUnsafe'>,
  statement: Statement<R>,
): Promise<R[]> {
  const { sql: text, parameters } = statement.compile(statements);
  return client.$queryRawUnsafe<R[]>(text, ...parameters);
}

/** Runs a statement that returns no rows. Returns the number of changed rows. */
export async function runChange(
  client: Pick<Transaction, '$executeRawUnsafe'>,
  statement: Statement,
): Promise<number> {
  const { sql: text, parameters } = statement.compile(statements);
  return client.$executeRawUnsafe(text, ...parameters);
}

/** Compares a text column with several values, with one text for any number of values. */
export function anyOf<T extends string>(values: readonly T[]): RawBuilder<T> {
  return sql<T>`any(${[...values]}::text[])`;
}

/** Like `anyOf`, for values of a compiled statement. */
export function anyOfBound<T extends string>(values: RawBuilder<readonly T[]>): RawBuilder<T> {
  return sql<T>`any(${values})`;
}

/** Returns a placeholder for a value of the input that the statement is run with: a member, or what `read` returns. */
export interface BindInput<Input> {
  <Name extends keyof Input>(member: Name): RawBuilder<Input[Name]>;
  <T>(read: (input: Input) => T): RawBuilder<T>;
}

class InputValue<Input> {
  readonly read: (input: Input) => unknown;

  constructor(read: (input: Input) => unknown) {
    this.read = read;
  }
}

/** A statement that is built once and then only bound to values. Building one takes up to 100 µs. */
export class CompiledStatement<Input, R = unknown> {
  readonly text: string;
  readonly #inputValues: readonly InputValue<Input>[];

  constructor(write: (bind: BindInput<Input>) => Compilable<R>) {
    const bind = <T>(source: keyof Input | ((input: Input) => T)) => {
      const read = typeof source === 'function' ? source : (input: Input) => input[source];
      return sql<T>`${new InputValue(read)}`;
    };
    const compiled = write(bind as BindInput<Input>).compile();
    this.text = compiled.sql;
    this.#inputValues = compiled.parameters as InputValue<Input>[];
  }

  /** Returns the values of the statement's parameters, in order. */
  readValues(input: Input): unknown[] {
    return this.#inputValues.map(({ read }) => read(input));
  }
}
