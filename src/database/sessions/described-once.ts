/**
 * A statement that is prepared by name has the same columns at each use: the server is asked for them once for each connection,
 * where pg asks each time, and makes of the answer anew how a row is read.
 */
import pg from 'pg';
import type { OnAnswer } from './session.ts';

/** As pg keeps what it knows of columns. */
interface Columns {
  fields: unknown[];
  _parsers: unknown[];
  _prebuiltEmptyResultObject: object;
}

/** Of a connection, by the names of statements. */
export type KnownColumns = Map<string, Columns>;

export interface NamedStatement {
  name: string;
  text: string;
  values?: unknown[] | undefined;
  rowMode?: 'array' | undefined;
}

/** What pg's query is made of, beside its types. */
interface Inner extends pg.Submittable {
  name: string;
  _result: Columns;
  _accumulateRows: boolean;
  prepare(connection: pg.Connection): void;
  handleRowDescription(message: object): void;
}

type Config = NamedStatement | string;
const Query = pg.Query as unknown as new (
  config: Config,
  values: unknown[] | undefined,
  take: OnAnswer,
) => Inner;

/** True for a statement with a name, whose columns are read as the connection reads all. */
export function isNamed(config: unknown): config is NamedStatement {
  if (typeof config !== 'object' || config === null || 'submit' in config) return false;
  const { name, types } = config as { name?: unknown; types?: unknown };
  return typeof name === 'string' && types === undefined;
}

export class DescribedOnce extends Query {
  readonly #known: KnownColumns;

  constructor(statement: NamedStatement, take: OnAnswer, known: KnownColumns) {
    const { name, text, values, rowMode } = statement;
    // Of an object pg makes a copy, property by property.
    super(rowMode ? statement : text, values, take);
    this.name = name;
    this.#known = known;
  }

  override prepare(connection: pg.Connection): void {
    const columns = this.#known.get(this.name);
    if (columns) {
      Object.assign(this._result, columns);
      this._accumulateRows = true;
    }
    super.prepare(columns ? withoutDescribe(connection) : connection);
  }

  override handleRowDescription(message: object): void {
    super.handleRowDescription(message);
    const { fields, _parsers, _prebuiltEmptyResultObject } = this._result;
    this.#known.set(this.name, { fields, _parsers, _prebuiltEmptyResultObject });
  }
}

const SILENT = Symbol('without describe');

/** The same connection, which sends no such message. */
function withoutDescribe(connection: pg.Connection & { [SILENT]?: pg.Connection }): pg.Connection {
  connection[SILENT] ??= Object.create(connection, { describe: { value: () => {} } });
  return connection[SILENT] as pg.Connection;
}
