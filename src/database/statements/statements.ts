/**
 * Statements that Prisma cannot express: constant SQL, or written with Kysely and typed by schema.prisma. Kysely only
 * builds them. `database.run` runs a statement, and `run` runs it in a transaction.
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
import type { RunQuery } from '../connect/run-query.ts';
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

type Query<R = unknown> = Compilable<R> | RawBuilder<R>;

/** Runs a query in a transaction, or alone on Prisma's client. */
export function run<R>(client: Pick<Transaction, '$queryRawUnsafe'>, query: Query<R>): Promise<R[]>;
/** Runs a statement in a transaction. */
export function run<Input, R>(
  client: Pick<Transaction, '$queryRawUnsafe'>,
  statement: Statement<Input, R>,
  input: Input,
): Promise<R[]>;
export function run<Input, R>(
  client: Pick<Transaction, '$queryRawUnsafe'>,
  statement: Query<R> | Statement<Input, R>,
  input?: Input,
): Promise<R[]> {
  if (statement instanceof Statement) {
    return client.$queryRawUnsafe<R[]>(statement.text, ...statement.readValues(input as Input));
  }
  const { sql: text, parameters } = statement.compile(statements);
  return client.$queryRawUnsafe<R[]>(text, ...parameters);
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

interface StatementOptions {
  /** True if the statement is short, so that it is sent together with other short statements of the same moment. */
  isShort?: boolean;
  /** Set if the rows are arrays of values. */
  rowMode?: 'array';
}

/** A constant text. Values are bound to its parameters, never inserted into the text. */
export class Statement<Input, R = unknown> {
  readonly text: string;
  /** Returns the values of the statement's parameters, in order. */
  readonly readValues: (input: Input) => unknown[];
  readonly options: StatementOptions;
  /** Never set. Carries the type of the result's rows. */
  declare readonly row?: R;

  constructor(
    text: string,
    readValues: (input: Input) => unknown[],
    options: StatementOptions = {},
  ) {
    this.text = text;
    this.readValues = readValues;
    this.options = options;
  }
}

/** A statement in SQL. Its input is the list of the values of $1, $2 and so on. */
export type SqlStatement<R = unknown> = Statement<readonly unknown[], R>;

/** Creates a statement in SQL. `R` is the type of its rows. */
export function sqlStatement<R = unknown>(text: string): SqlStatement<R> {
  return new Statement(text, (values) => [...values]);
}

/** Creates a statement with Kysely, once. Building one takes up to 100 µs. */
export function buildStatement<Input, R = unknown>(
  write: (bind: BindInput<Input>) => Compilable<R>,
): Statement<Input, R> {
  const bind = <T>(source: keyof Input | ((input: Input) => T)) => {
    const read = typeof source === 'function' ? source : (input: Input) => input[source];
    return sql<T>`${new InputValue(read)}`;
  };
  const compiled = write(bind as BindInput<Input>).compile();
  const inputValues = compiled.parameters as InputValue<Input>[];
  const readValues = (input: Input) => inputValues.map(({ read }) => read(input));
  return new Statement(compiled.sql, readValues);
}

/** Returns a form of a short statement that is sent together with reads of the same moment. Its rows are arrays of values. */
export function toShortArrays<Input>({
  text,
  readValues,
}: Statement<Input>): Statement<Input, unknown[]> {
  return new Statement(text, readValues, { isShort: true, rowMode: 'array' });
}

/** Runs a statement. Must not be called inside a transaction. */
export type RunStatement = <Input, R>(statement: Statement<Input, R>, input: Input) => Promise<R[]>;

/** `short` runs short statements, and `query` all others. */
export function createRunStatement(query: RunQuery, short: RunQuery = query): RunStatement {
  return ({ text, readValues, options: { isShort, rowMode } }, input) =>
    (isShort ? short : query)(text, readValues(input), rowMode);
}
