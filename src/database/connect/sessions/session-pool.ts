/**
 * A pool of connections to PostgreSQL. If one connection hangs, idle ones are dropped too, because they may hang as
 * well.
 */
import pg from 'pg';
import { bindSpan } from '../../../kernel/spans.ts';
import type { Outages } from '../outages.ts';
import { isRepeatable, TRIES_MAX } from '../repeatable-errors.ts';
import {
  createSessionConfig,
  DatabaseSession,
  type DatabaseSessionOptions,
  initializeSession,
  type SessionConfig,
} from './database-session.ts';
import { type OnResult, toPromise } from './results.ts';

/** How long a closing pool waits for running statements. */
const CLOSE_TIMEOUT_MS = 1_000;
/** The shortest time between two drops of idle connections. */
const DROP_INTERVAL_MS = 1_000;

export interface PoolOptions extends DatabaseSessionOptions {
  size: number;
  /** The number of connections that stay open however long they are idle. */
  min?: number;
  /** Sends statements of a connection without waiting for earlier responses. */
  pipeline?: boolean;
  /** Plans named statements once. Behind a pooler, the settings of the role decide instead. */
  plansOnce?: boolean | undefined;
  /** The class of the connections. Default: Session. */
  Client?: typeof DatabaseSession | undefined;
  /** Returns why a statement cannot be sent now, or null. It is called before the statement has a connection. */
  findRefusal?: ((config: unknown, values: unknown) => Error | null) | undefined;
  /**
   * Called first on each new connection. Default: sets the server's settings, unless the connection goes through a
   * pooler.
   */
  onConnect?: (client: pg.ClientBase) => Promise<void>;
}

export class SessionPool extends pg.Pool {
  readonly #outages: Outages;
  readonly #sessions = new Set<DatabaseSession>();
  readonly #findRefusal: PoolOptions['findRefusal'];
  #droppedMs = Number.NEGATIVE_INFINITY;

  constructor({
    size,
    min = 0,
    pipeline = false,
    plansOnce,
    types,
    onConnect,
    Client = DatabaseSession,
    findRefusal,
    ...options
  }: PoolOptions & Pick<pg.ClientConfig, 'types'>) {
    const poolConfig: SessionConfig & pg.PoolConfig = {
      ...createSessionConfig(options),
      max: size,
      min,
      pipeline,
      types,
      Client: Client as never,
      onConnect:
        onConnect ??
        (options.pooler ? undefined : (client) => initializeSession(client, { plansOnce })),
      onSuspect: () => this.dropIdle(),
    };
    super(poolConfig);
    this.#outages = options.outages;
    this.#findRefusal = findRefusal;
    this.on('error', (error) => this.#outages.toCallerError(error));
    this.on('connect', (client) => this.#sessions.add(client as unknown as DatabaseSession));
    this.on('remove', (client) => this.#sessions.delete(client as unknown as DatabaseSession));
  }

  override connect(onConnect?: unknown): never {
    if (!onConnect) return toPromise((onResult) => this.connect(onResult)) as never;
    const onResult = onConnect as (error: unknown, client?: unknown, release?: unknown) => void;
    // Keeps the span of the waiting caller, because the caller that releases a connection runs the callback.
    const onConnected = bindSpan((error: Error | undefined, client: unknown, release: unknown) =>
      onResult(error && this.#outages.toCallerError(error), client, release),
    );
    return super.connect(onConnected as never) as never;
  }

  override query(config: unknown, values?: unknown): never {
    const refusal = this.#findRefusal?.(config, values);
    if (refusal) return Promise.reject(refusal) as never;
    const run = (onResult: OnResult, tries = 1): void =>
      super.query(config as string, values as unknown[], (error: Error, result: unknown) => {
        // The statement can be repeated, because it is not part of a transaction, and the database has rolled it back.
        if (error && tries < TRIES_MAX && isRepeatable(error)) return run(onResult, tries + 1);
        onResult(error && this.#outages.toCallerError(error), result);
      });
    return toPromise(run) as never;
  }

  counts(): { open: number; idle: number; waiting: number; max: number } {
    const { totalCount: open, idleCount: idle, waitingCount: waiting, options } = this;
    return { open, idle, waiting, max: options.max };
  }

  /** Closes the connections. Statements that run for longer than CLOSE_TIMEOUT_MS fail. */
  async close(): Promise<void> {
    const timer = setTimeout(() => this.#destroyAll(), CLOSE_TIMEOUT_MS);
    await this.end();
    clearTimeout(timer);
  }

  #destroyAll(): void {
    for (const session of this.#sessions) session.destroy();
  }

  /** Replaces idle connections, because they may be broken or read-only. Does nothing within DROP_INTERVAL_MS. */
  dropIdle(): void {
    const nowMs = performance.now();
    if (nowMs - this.#droppedMs < DROP_INTERVAL_MS) return;
    this.#droppedMs = nowMs;
    for (let idle = this.idleCount; idle > 0; idle -= 1) {
      super.connect((_error, _client, release) => release?.(true));
    }
  }
}
