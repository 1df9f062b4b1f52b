/**
 * Connections to PostgreSQL with time limits. A connection whose client or server stops responding is closed at its
 * limit, and its errors become failures of the database.
 */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { type Meters, NO_METERS, secondsSince } from '../../../kernel/meters.ts';
import { HUNG_MESSAGE, type Outages } from '../outages.ts';
import { RENEWED_CODE } from '../repeatable-errors.ts';
import { DescribedOnce, isNamedStatement, StatementColumns } from './described-once.ts';
import { type OnResult, toPromise } from './results.ts';
import { withSpan } from './statement-span.ts';

/** The longest time a caller waits for a connection. Without a database, requests fail soon with a clear error. */
const CONNECT_TIMEOUT_MS = 4_000;
/**
 * The server cancels a statement at its limit. If no response arrives within this time afterwards, the connection
 * hangs.
 */
const CANCEL_GRACE_MS = 1_000;
/** A transaction makes no network calls. An idle one belongs to a process that hangs, and holds locks. */
const IDLE_IN_TRANSACTION_MS = 10_000;
/** The time to close a connection cleanly. Afterwards it is destroyed. */
const CLOSE_TIMEOUT_MS = 1_000;

/** The server drops a client that disappeared silently: after 10 s with unacknowledged data, and 20 s without. */
const TCP_SETTINGS = `select
  set_config('tcp_user_timeout', '10000', false), set_config('tcp_keepalives_idle', '10', false),
  set_config('tcp_keepalives_interval', '5', false), set_config('tcp_keepalives_count', '2', false)`;
/**
 * Disables sequential scans and JIT compilation. Otherwise the cached query plan of a table that was small scans the whole
 * table for each key, even after the table has grown (docs/decisions/046-updates-by-row-location.md).
 */
export const PLANNER_SETTINGS = `select set_config('enable_seqscan', 'off', false),
  set_config('jit', 'off', false)`;
/**
 * Plans a named statement once for all values. By default PostgreSQL replans a statement with an array or a limit for
 * each use, which costs more than most reads (docs/decisions/049-statements-are-planned-once.md).
 */
export const PLAN_ONCE_SETTING = `select set_config('plan_cache_mode', 'force_generic_plan', false)`;
const KEEP_ALIVE_MS = 10_000;
/** SQLSTATE read_only_sql_transaction. After a failover, the host name may resolve to another server. */
export const READ_ONLY = '25006';

/** The address of a server by URL, or of a server in this process. */
export type FixedAddress =
  | { connectionString: string }
  | Required<Pick<pg.ClientConfig, 'stream' | 'user' | 'database' | 'ssl'>>;

/** The address of one of several servers, resolved for each new connection. */
export type Address = FixedAddress | { resolveAddress: () => FixedAddress };

/** A server and the time limits of its statements. */
export interface Server {
  address: Address;
  limitMs: number;
  /** Set if the connections go through a pooler. */
  pooler?: Pooler | undefined;
  outages: Outages;
  /** Default: none. */
  meters?: Meters | undefined;
}

/** A pooler may use another server connection for each transaction, so that session state is lost between them. */
export interface Pooler {
  /** True if the pooler keeps prepared statements. */
  keepsStatements: boolean;
}

export interface DatabaseSessionOptions extends Server {
  /** The name under which the server lists the connection. */
  name: string;
}

/** One connection. */
export class DatabaseSession extends pg.Client {
  readonly #outages: Outages;
  readonly #onSuspect: (() => void) | undefined;
  readonly #meters: Meters;
  readonly #responses: ResponseWatch;
  #isHung = false;
  /** Null behind a pooler, which prepares a named statement again on each of its connections. */
  readonly #statementColumns: StatementColumns | null;
  readonly #names = new ReplacedNames();

  constructor({
    outages,
    onSuspect,
    meters = NO_METERS,
    silenceMaxMs,
    resolveAddress,
    isPooled,
    ...config
  }: SessionConfig) {
    super({ ...config, ...resolveAddress?.() });
    this.#statementColumns = isPooled ? null : new StatementColumns(config.types ?? pg.types);
    this.#outages = outages;
    this.#meters = meters;
    this.#onSuspect = onSuspect;
    this.#responses = new ResponseWatch(silenceMaxMs, () => {
      this.#isHung = true;
      this.destroy();
    });
    this.once('end', () => this.#responses[Symbol.dispose]());
    // Without a listener, a connection that the server closes ends the process.
    this.on('error', (error) => outages.toCallerError(error));
  }

  /** Works like pg's query. Errors of the connection become failures of the database. */
  override query(config: unknown, values?: unknown, onResult?: unknown): never {
    const [boundValues, callback] =
      typeof values === 'function' ? [undefined, values] : [values, onResult];
    if (callback) return this.#run(config, boundValues, callback as OnResult) as never;
    return toPromise((onResult) => this.#run(config, boundValues, onResult)) as never;
  }

  #run(config: unknown, boundValues: unknown, onResult: OnResult): void {
    const report = withSpan(config, this.#meters.isOn ? this.#withMeters(onResult) : onResult);
    this.#responses.countSent();
    const end: OnResult = (error, result) => {
      this.#responses.countEnded();
      report(error && this.#toCallerError(error as Error), result);
    };
    const statement = this.#names.apply(config);
    this.#send(statement, boundValues, (error, result) => {
      const outdatedName =
        error && isOutdated(error) ? (statement as pg.QueryConfig).name : undefined;
      if (!outdatedName) return end(error, result);
      this.#forget((config as Required<pg.QueryConfig>).name, outdatedName);
      // A failed transaction can only be repeated from its beginning, by its caller.
      if (this.getTransactionStatus() !== 'I') {
        return end(Object.assign(error as pg.DatabaseError, { code: RENEWED_CODE }));
      }
      // Without a name, because a pooler that keeps prepared statements has the outdated one on its own connections.
      this.#send({ ...(config as pg.QueryConfig), name: undefined }, boundValues, end);
    });
  }

  /** Closes the connection cleanly, but waits at most CLOSE_TIMEOUT_MS for the server. */
  override end(onEnd?: unknown): never {
    const timer = setTimeout(() => this.destroy(), CLOSE_TIMEOUT_MS).unref();
    this.once('end', () => clearTimeout(timer));
    return super.end(onEnd as () => void) as never;
  }

  /** Closes the connection immediately. Running statements fail. */
  destroy(): void {
    this.connection.stream.destroy();
  }

  #send(config: unknown, boundValues: unknown, onResult: OnResult): void {
    if (!this.#statementColumns || !isNamedStatement(config)) {
      return void super.query(config as string, boundValues as unknown[], onResult);
    }
    const statement = boundValues ? { ...config, values: boundValues as unknown[] } : config;
    super.query(new DescribedOnce(statement, onResult, this.#statementColumns));
  }

  /** Closes an outdated prepared statement, so that its next use prepares it again. */
  #forget(originalName: string, outdatedName: string): void {
    if (!this.#names.replace(originalName, outdatedName)) return;
    this.#statementColumns?.byStatement.delete(outdatedName);
    this.connection.close({ type: 'S', name: outdatedName }, true);
  }

  #withMeters(onResult: OnResult): OnResult {
    const startMs = performance.now();
    return (error, result) => {
      const outcome = error ? 'failed' : 'ok';
      this.#meters.statementEnded({ outcome, seconds: secondsSince(startMs) });
      onResult(error, result);
    };
  }

  #toCallerError(error: Error): unknown {
    if (this.#isHung || (error as pg.DatabaseError).code === READ_ONLY) this.#onSuspect?.();
    return this.#outages.toCallerError(
      this.#isHung ? new Error(HUNG_MESSAGE, { cause: error }) : error,
    );
  }
}

export interface SessionConfig extends pg.ClientConfig {
  outages: Outages;
  meters?: Meters | undefined;
  /** Called when other connections to the same server may be broken too. */
  onSuspect?: () => void;
  /** If a statement waits and no response arrives for this long, the connection is destroyed. */
  silenceMaxMs: number;
  /** Returns the address at which to connect, if it is not fixed. */
  resolveAddress?: () => FixedAddress;
  isPooled: boolean;
}

export function createSessionConfig({
  address,
  name,
  limitMs,
  pooler,
  outages,
  meters,
}: DatabaseSessionOptions): SessionConfig {
  return {
    ...address,
    application_name: name,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    silenceMaxMs: limitMs + CANCEL_GRACE_MS,
    isPooled: pooler !== undefined,
    // A pooler refuses these options: the database role sets them instead.
    ...(!pooler && {
      statement_timeout: limitMs,
      idle_in_transaction_session_timeout: IDLE_IN_TRANSACTION_MS,
    }),
    keepAlive: true,
    keepAliveInitialDelayMillis: KEEP_ALIVE_MS,
    outages,
    meters,
  };
}

/** Opens a connection outside of any pool. */
export async function openDatabaseSession(
  options: DatabaseSessionOptions,
): Promise<OpenDatabaseSession> {
  const session: OpenDatabaseSession = new DatabaseSession(createSessionConfig(options));
  try {
    await session.connect();
    if (!options.pooler) await initializeSession(session);
    return session;
  } catch (error) {
    session.destroy();
    throw options.outages.toCallerError(error);
  }
}

export type OpenDatabaseSession = pg.Client & Pick<DatabaseSession, 'destroy'>;

/**
 * Sets the server's settings of a new connection. Ignores failures, because a database that only speaks PostgreSQL's
 * protocol may lack these settings.
 */
export async function initializeSession(
  client: pg.ClientBase,
  { plansOnce = false } = {},
): Promise<void> {
  const settings = [TCP_SETTINGS, PLANNER_SETTINGS, ...(plansOnce ? [PLAN_ONCE_SETTING] : [])];
  for (const statement of settings) await client.query(statement).catch(() => {});
}

/** Detects that a server has stopped responding to the statements of a connection. */
class ResponseWatch implements Disposable {
  /** Statements without a response. */
  #waiting = 0;
  /**
   * One timer for all statements. With pg's own timer for each (`query_timeout`), rows outlive their response
   * (docs/decisions/048-request-object-lifetime.md).
   */
  readonly #timer: NodeJS.Timeout;

  /** Calls `onSilence` once if a statement waits and no response arrives for `silenceMaxMs`. */
  constructor(silenceMaxMs: number, onSilence: () => void) {
    const check = () => {
      if (this.#waiting > 0) onSilence();
    };
    this.#timer = setTimeout(check, silenceMaxMs).unref();
  }

  countSent(): void {
    if (this.#waiting === 0) this.#timer.refresh();
    this.#waiting += 1;
  }

  /** Restarts the timer, because the server now begins the next statement. */
  countEnded(): void {
    this.#timer.refresh();
    this.#waiting -= 1;
  }

  [Symbol.dispose](): void {
    clearTimeout(this.#timer);
  }
}

/**
 * New names for prepared statements that are outdated: a migration has changed the columns of their `select *`. pg
 * considers a name prepared for as long as the connection exists, so the statement needs another name.
 */
class ReplacedNames {
  /** The current names, by the original names. */
  readonly #newNames = new Map<string, string>();

  /** Returns the statement under its current name. */
  apply(statement: unknown): unknown {
    if (this.#newNames.size === 0) return statement;
    const newName = this.#newNames.get((statement as pg.QueryConfig).name ?? '');
    return newName === undefined ? statement : { ...(statement as pg.QueryConfig), name: newName };
  }

  /** Replaces an outdated name. Returns false if another use of the statement has replaced it already. */
  replace(originalName: string, outdatedName: string): boolean {
    if ((this.#newNames.get(originalName) ?? originalName) !== outdatedName) return false;
    this.#newNames.set(originalName, randomUUID());
    return true;
  }
}

/**
 * True if a migration has changed the columns since the statement was prepared. The statement was not executed. Checks
 * the routine, because other errors have the same code, and the message is localized.
 */
function isOutdated(error: unknown): boolean {
  return (error as pg.DatabaseError).routine === 'RevalidateCachedQuery';
}
