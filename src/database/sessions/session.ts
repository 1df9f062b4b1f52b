/**
 * Connections to PostgreSQL with time limits: none hangs for longer than its limits, on either side, and its errors
 * become failures of the database.
 */
import { randomUUID } from 'node:crypto';
import pg from 'pg';
import { type Meters, NO_METERS, secondsSince } from '../../meters.ts';
import { HUNG } from '../failure-kind.ts';
import type { Outages } from '../outages.ts';
import { DescribedOnce, Descriptions, isNamed } from './described-once.ts';
import { spanned } from './statement-span.ts';

/** A caller never waits longer for a connection: with the database gone, requests fail soon and cleanly. */
export const CONNECT_TIMEOUT_MS = 4_000;
/** The server ends a statement at its limit by itself: without an answer for this time after it, the connection hangs. */
const SILENCE_MS = 1_000;
/** No network call is made inside a transaction. One that idles belongs to a process that hangs, and holds locks. */
const IDLE_IN_TRANSACTION_MS = 10_000;
/** The time to close a connection cleanly; then it is cut. */
const END_MS = 1_000;

/** The server drops a client that is silently gone: after 10 s with unacknowledged data, and 20 s without. */
const SERVER_SIDE = `select
  set_config('tcp_user_timeout', '10000', false), set_config('tcp_keepalives_idle', '10', false),
  set_config('tcp_keepalives_interval', '5', false), set_config('tcp_keepalives_count', '2', false)`;
/**
 * A table that is known to be small is read from end to end for each key, and stays so in plans that are kept, however it
 * has grown since (docs/decisions/046-rows-are-changed-where-they-were-found.md).
 */
export const PLANNING = `select set_config('enable_seqscan', 'off', false),
  set_config('jit', 'off', false)`;
/**
 * What is prepared by name is planned once for all values. By itself PostgreSQL plans a statement with an array or a limit anew
 * for each use, which costs it more than most reads (docs/decisions/049-statements-are-planned-once.md).
 */
export const PLANNED_ONCE = `select set_config('plan_cache_mode', 'force_generic_plan', false)`;
const KEEP_ALIVE_MS = 10_000;

/** Of a server that is reached by its URL, or of one in this process. */
export type FixedAddress =
  | { connectionString: string }
  | Required<Pick<pg.ClientConfig, 'stream' | 'user' | 'database' | 'ssl'>>;

/** Of one of several servers: asked for each new connection. */
export type Address = FixedAddress | { at: () => FixedAddress };

/** The server, and how long a statement may take there. */
export interface Server {
  address: Address;
  limitMs: number;
  /** Set if its connections go through one. */
  pooler?: Pooler | undefined;
  outages: Outages;
  /** Default: none. */
  meters?: Meters | undefined;
}

/** Gives each transaction another connection of the server: what belongs to a session is lost between them. */
export interface Pooler {
  /** But for statements that were prepared. */
  keepsStatements: boolean;
}

export interface SessionOptions extends Server {
  /** As the server lists it. */
  name: string;
}

/** One connection. */
export class Session extends pg.Client {
  readonly #outages: Outages;
  readonly #onSuspect: (() => void) | undefined;
  readonly #meters: Meters;
  /** Statements without an answer. */
  #waiting = 0;
  /**
   * One for all statements. With pg's own timer of each (`query_timeout`) rows outlive their answer
   * (docs/decisions/048-what-requests-read-dies-young.md).
   */
  readonly #silence: NodeJS.Timeout;
  #isHung = false;
  /** Null behind a pooler, which prepares a named statement again on each of its own connections. */
  readonly #descriptions: Descriptions | null;
  /** Names under which outdated statements are prepared again, by their first names. */
  readonly #renamed = new Map<string, string>();

  constructor({
    outages,
    onSuspect,
    meters = NO_METERS,
    silenceMs,
    at,
    isPooled,
    ...config
  }: SessionConfig) {
    super({ ...config, ...at?.() });
    this.#descriptions = isPooled ? null : new Descriptions(config.types ?? pg.types);
    this.#outages = outages;
    this.#meters = meters;
    this.#onSuspect = onSuspect;
    this.#silence = setTimeout(() => this.#cutIfHung(), silenceMs).unref();
    this.once('end', () => clearTimeout(this.#silence));
    // Without a listener, a connection that the server closes ends the process.
    this.on('error', (error) => outages.told(error));
  }

  /** Like pg's own query; errors of the connection become failures of the database. */
  override query(config: unknown, values?: unknown, onAnswer?: unknown): never {
    const [bound, answered] =
      typeof values === 'function' ? [undefined, values] : [values, onAnswer];
    const run = (take: OnResult) => {
      const told = spanned(config, this.#meters.isOn ? this.#measured(take) : take);
      this.#waitFor(1);
      const end: OnResult = (error, result) => {
        this.#waitFor(-1);
        told(error && this.#told(error as Error), result);
      };
      const named = this.#underCurrentName(config);
      this.#send(named, bound, (error, result) => {
        const used = error && isOutdated(error) ? (named as pg.QueryConfig).name : undefined;
        if (!used) return end(error, result);
        this.#forget((config as Required<pg.QueryConfig>).name, used);
        // A transaction has to be begun again.
        if (this.getTransactionStatus() !== 'I') return end(error);
        // Without a name: a pooler that keeps prepared statements has the outdated one on its own connections.
        this.#send({ ...(config as pg.QueryConfig), name: undefined }, bound, end);
      });
    };
    if (answered) return run(answered as OnResult) as never;
    return promised(run) as never;
  }

  /** Closes it cleanly, but waits only a moment for the server. */
  override end(onEnd?: unknown): never {
    const timer = setTimeout(() => this.cut(), END_MS).unref();
    this.once('end', () => clearTimeout(timer));
    return super.end(onEnd as () => void) as never;
  }

  /** At once; statements under way fail. */
  cut(): void {
    this.connection.stream.destroy();
  }

  #send(config: unknown, bound: unknown, take: OnResult): void {
    if (!this.#descriptions || !isNamed(config)) {
      return void super.query(config as string, bound as unknown[], take);
    }
    const statement = bound ? { ...config, values: bound as unknown[] } : config;
    super.query(new DescribedOnce(statement, take, this.#descriptions));
  }

  #underCurrentName(config: unknown): unknown {
    if (this.#renamed.size === 0) return config;
    const renamed = this.#renamed.get((config as pg.QueryConfig).name ?? '');
    return renamed === undefined ? config : { ...(config as pg.QueryConfig), name: renamed };
  }

  /** The next use of `name` prepares the statement under a new name, because pg takes `used` for prepared. */
  #forget(name: string, used: string): void {
    if ((this.#renamed.get(name) ?? name) !== used) return;
    this.#renamed.set(name, randomUUID());
    this.#descriptions?.columns.delete(used);
    this.connection.close({ type: 'S', name: used }, true);
  }

  #measured(take: OnResult): OnResult {
    const startedMs = performance.now();
    return (error, result) => {
      const outcome = error ? 'failed' : 'ok';
      this.#meters.statementEnded({ outcome, seconds: secondsSince(startedMs) });
      take(error, result);
    };
  }

  /** The server answers one statement after the other: the time of each begins with the answer to the one before. */
  #waitFor(more: 1 | -1): void {
    if (more === -1 || this.#waiting === 0) this.#silence.refresh();
    this.#waiting += more;
  }

  #cutIfHung(): void {
    if (this.#waiting === 0) return;
    this.#isHung = true;
    this.cut();
  }

  #told(error: Error): unknown {
    if (this.#isHung || (error as pg.DatabaseError).code === READ_ONLY) this.#onSuspect?.();
    return this.#outages.told(this.#isHung ? new Error(HUNG, { cause: error }) : error);
  }
}

/**
 * Since it was prepared, a newer version has given a table of its `select *` another column. It was not run. The code is that of
 * others too, and the message is in the server's language.
 */
function isOutdated(error: unknown): boolean {
  return (error as pg.DatabaseError).routine === 'RevalidateCachedQuery';
}

/** SQLSTATE. After a failover the name of the server may lead to another one. */
const READ_ONLY = '25006';

export type OnResult = (error: unknown, result?: unknown) => void;

/** The result of a callback, as a promise. */
export function promised(run: (take: OnResult) => void): Promise<unknown> {
  return new Promise((resolve, reject) => {
    run((error, result) => (error ? reject(error) : resolve(result)));
  });
}

export interface SessionConfig extends pg.ClientConfig {
  outages: Outages;
  meters?: Meters | undefined;
  /** Called if other connections to the same server may be broken too. */
  onSuspect?: () => void;
  /** The longest time that the server may say nothing while a statement waits; then the connection is cut. */
  silenceMs: number;
  at?: () => FixedAddress;
  isPooled: boolean;
}

export function sessionConfig({
  address,
  name,
  limitMs,
  pooler,
  outages,
  meters,
}: SessionOptions): SessionConfig {
  return {
    ...address,
    application_name: name,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    silenceMs: limitMs + SILENCE_MS,
    isPooled: pooler !== undefined,
    // A pooler refuses them: there they are the role's.
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

/** An open connection apart from any pool. */
export async function openSession(options: SessionOptions): Promise<OpenSession> {
  const session: OpenSession = new Session(sessionConfig(options));
  try {
    await session.connect();
    if (!options.pooler) await setUp(session);
    return session;
  } catch (error) {
    session.cut();
    throw options.outages.told(error);
  }
}

export type OpenSession = pg.Client & Pick<Session, 'cut'>;

/** For a new connection. A database that only speaks PostgreSQL's protocol may not know of these settings. */
export async function setUp(client: pg.ClientBase, { plansOnce = false } = {}): Promise<void> {
  const settings = [SERVER_SIDE, PLANNING, ...(plansOnce ? [PLANNED_ONCE] : [])];
  for (const one of settings) await client.query(one).catch(() => {});
}
