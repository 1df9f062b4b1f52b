/**
 * A named prepared statement returns the same columns at each use. The session has the server describe them once, while
 * pg requests a description for every execution and rebuilds its row parsers.
 *
 * Uses only the methods that pg's client calls on every query it is given, and no field of pg's own query or result.
 */
import pg from 'pg';
import type { OnResult } from './session.ts';

export interface ResultField {
  name: string;
  dataTypeID: number;
}

type ReadValue = (text: string) => unknown;

interface ResultColumns {
  fields: readonly ResultField[];
  readers: readonly ReadValue[];
  /** A row of nulls. Copies of it share one shape, which makes rows cheaper to build and to read. */
  emptyRow: Readonly<Record<string, unknown>>;
}

/** The columns of a connection's prepared statements. */
export class Descriptions {
  /** By statement name. */
  readonly columns = new Map<string, ResultColumns>();
  readonly types: pg.CustomTypesConfig;
  #silent: pg.Connection | undefined;

  constructor(types: pg.CustomTypesConfig) {
    this.types = types;
  }

  /** Returns a view of the connection that sends no Describe message. */
  withoutDescribe(connection: pg.Connection): pg.Connection {
    this.#silent ??= Object.create(connection, { describe: { value: () => {} } }) as pg.Connection;
    return this.#silent;
  }
}

interface NamedStatement {
  name: string;
  text: string;
  values?: unknown[] | undefined;
  rowMode?: 'array' | undefined;
}

/** The methods that pg's client calls on a query. */
interface ClientQuery {
  submit(connection: pg.Connection): void;
  handleRowDescription(message: { fields: ResultField[] }): void;
  handleDataRow(message: { fields: (string | null)[] }): void;
  handleCommandComplete(message: { text: string }, connection: pg.Connection): void;
  handleReadyForQuery(connection: pg.Connection): void;
}

const Query = pg.Query as unknown as new (
  config: { name: string; text: string },
  values: unknown[] | undefined,
  take: OnResult,
) => ClientQuery;

/** True for a statement with a name, whose columns are read by the connection's own type parsers. */
export function isNamedStatement(config: unknown): config is NamedStatement {
  if (typeof config !== 'object' || config === null || 'submit' in config) return false;
  const { name, types } = config as { name?: unknown; types?: unknown };
  return typeof name === 'string' && types === undefined;
}

export class DescribedOnce extends Query {
  readonly #statement: NamedStatement;
  readonly #take: OnResult;
  readonly #descriptions: Descriptions;
  #columns: ResultColumns | undefined;
  #rows: unknown[] = [];
  #tag = '';
  #failure: unknown;

  constructor(statement: NamedStatement, take: OnResult, descriptions: Descriptions) {
    const { name, text, values } = statement;
    super({ name, text }, values, take);
    this.#statement = statement;
    this.#take = take;
    this.#descriptions = descriptions;
  }

  override submit(connection: pg.Connection): void {
    this.#columns = this.#descriptions.columns.get(this.#statement.name);
    super.submit(this.#columns ? this.#descriptions.withoutDescribe(connection) : connection);
  }

  override handleRowDescription({ fields }: { fields: ResultField[] }): void {
    const readers = fields.map(({ dataTypeID }) =>
      this.#descriptions.types.getTypeParser(dataTypeID, 'text'),
    );
    const empty = Object.fromEntries(fields.map(({ name }) => [name, null]));
    this.#columns = { fields, readers, emptyRow: { ...empty } };
    this.#descriptions.columns.set(this.#statement.name, this.#columns);
  }

  override handleDataRow({ fields: texts }: { fields: (string | null)[] }): void {
    if (this.#failure !== undefined) return;
    try {
      this.#rows.push(this.#rowOf(texts));
    } catch (error) {
      this.#failure = error;
    }
  }

  override handleCommandComplete({ text }: { text: string }): void {
    this.#tag = text;
  }

  override handleReadyForQuery(): void {
    if (this.#failure !== undefined) {
      this.#take(this.#failure);
      return;
    }
    const [command, ...counts] = this.#tag.split(' ');
    const { fields = [] } = this.#columns ?? {};
    const rowCount = counts.length > 0 ? Number(counts.at(-1)) : null;
    this.#take(null, { command, rowCount, rows: this.#rows, fields });
  }

  #rowOf(texts: (string | null)[]): unknown {
    const { fields, readers, emptyRow } = this.#columns as ResultColumns;
    const isArray = this.#statement.rowMode === 'array';
    const row: Record<string, unknown> | unknown[] = isArray
      ? new Array(texts.length)
      : { ...emptyRow };
    for (let index = 0; index < texts.length; index += 1) {
      const text = texts[index];
      const value = text === null ? null : (readers[index] as ReadValue)(text as string);
      if (isArray) (row as unknown[])[index] = value;
      else (row as Record<string, unknown>)[(fields[index] as ResultField).name] = value;
    }
    return row;
  }
}
