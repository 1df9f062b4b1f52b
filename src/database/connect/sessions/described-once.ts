/**
 * Requests the columns of a named prepared statement once, because they are the same at each use. pg itself would
 * request them for every execution, and rebuild its row parsers. `DescribedOnce` overrides only the methods that pg's
 * client calls on every query, and reads no internal field of pg.
 */
import pg from 'pg';
import type { OnResult } from './results.ts';

interface ResultField {
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
export class StatementColumns {
  /** By statement name. */
  readonly byStatement = new Map<string, ResultColumns>();
  readonly types: pg.CustomTypesConfig;
  #withoutDescribe: pg.Connection | undefined;

  constructor(types: pg.CustomTypesConfig) {
    this.types = types;
  }

  /** Returns a view of the connection that sends no Describe message. */
  withoutDescribe(connection: pg.Connection): pg.Connection {
    this.#withoutDescribe ??= Object.create(connection, {
      describe: { value: () => {} },
    }) as pg.Connection;
    return this.#withoutDescribe;
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
  onResult: OnResult,
) => ClientQuery;

/** True for a statement with a name, whose columns are read by the connection's own type parsers. */
export function isNamedStatement(config: unknown): config is NamedStatement {
  if (typeof config !== 'object' || config === null || 'submit' in config) return false;
  const { name, types } = config as { name?: unknown; types?: unknown };
  return typeof name === 'string' && types === undefined;
}

export class DescribedOnce extends Query {
  readonly #statement: NamedStatement;
  readonly #onResult: OnResult;
  readonly #statementColumns: StatementColumns;
  #columns: ResultColumns | undefined;
  #rows: unknown[] = [];
  #commandTag = '';
  #failure: unknown;

  constructor(statement: NamedStatement, onResult: OnResult, statementColumns: StatementColumns) {
    const { name, text, values } = statement;
    super({ name, text }, values, onResult);
    this.#statement = statement;
    this.#onResult = onResult;
    this.#statementColumns = statementColumns;
  }

  override submit(connection: pg.Connection): void {
    this.#columns = this.#statementColumns.byStatement.get(this.#statement.name);
    super.submit(this.#columns ? this.#statementColumns.withoutDescribe(connection) : connection);
  }

  override handleRowDescription({ fields }: { fields: ResultField[] }): void {
    const readers = fields.map(({ dataTypeID }) =>
      this.#statementColumns.types.getTypeParser(dataTypeID, 'text'),
    );
    const empty = Object.fromEntries(fields.map(({ name }) => [name, null]));
    this.#columns = { fields, readers, emptyRow: { ...empty } };
    this.#statementColumns.byStatement.set(this.#statement.name, this.#columns);
  }

  override handleDataRow({ fields: texts }: { fields: (string | null)[] }): void {
    if (this.#failure !== undefined) return;
    try {
      this.#rows.push(this.#toRow(texts));
    } catch (error) {
      this.#failure = error;
    }
  }

  override handleCommandComplete({ text }: { text: string }): void {
    this.#commandTag = text;
  }

  override handleReadyForQuery(): void {
    if (this.#failure !== undefined) {
      this.#onResult(this.#failure);
      return;
    }
    const [command, ...counts] = this.#commandTag.split(' ');
    const { fields = [] } = this.#columns ?? {};
    const rowCount = counts.length > 0 ? Number(counts.at(-1)) : null;
    this.#onResult(null, { command, rowCount, rows: this.#rows, fields });
  }

  #toRow(texts: (string | null)[]): unknown {
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
