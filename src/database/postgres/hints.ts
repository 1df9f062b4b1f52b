/**
 * One connection for the whole process: hints of a PostgreSQL server come over it, and it shows that the server
 * answers. Its lock tells other processes that this one runs. It is open from the start.
 */
import pg from 'pg';
import { ServiceUnavailable } from '../../errors.ts';
import { type Backoff, backoffMs } from '../../work/backoff.ts';
import { withDeadline } from '../../work/deadline.ts';
import type { Listen, OnHint } from '../hints/notifications.ts';
import type { SharedProcesses } from '../processes.ts';
import { type OpenSession, openSession, type Server } from '../session.ts';

const RECONNECT: Backoff = { firstMs: 100, maxMs: 5_000, jitter: 0.3 };
/** A quiet connection looks like one that hangs: it is checked at this interval. */
const HEARTBEAT_MS = 5_000;
/** Statements of this connection are quick. */
const STATEMENT_MAX_MS = 3_000;
/** A caller that asks whether the database answers gets a result within a second. */
const PING_MAX_MS = 800;

export class PostgresHints implements AsyncDisposable {
  readonly #server: Server;
  readonly #attend: SharedProcesses['attend'];
  readonly #listeners = new Map<string, Set<OnHint>>();
  /** Null until its channels are subscribed to. */
  #session: OpenSession | null = null;
  #newest: OpenSession | undefined;
  #connected = Promise.withResolvers<OpenSession>();
  #isConnecting = false;
  #isClosed = false;
  #subscribed = Promise.resolve();
  #failures = 0;
  #reconnecting: NodeJS.Timeout | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  #pinging: Promise<unknown> | null = null;

  /** `attend` is run on each new connection, before anything else. */
  constructor(server: Server, attend: SharedProcesses['attend']) {
    this.#server = server;
    this.#attend = attend;
    this.#connectNow();
  }

  /** Channels are few, and stay subscribed to when their last listener goes. */
  listen: Listen = (channel, onHint) => {
    const listeners = this.#listeners.get(channel) ?? new Set();
    this.#listeners.set(channel, listeners.add(onHint));
    const session = this.#session;
    if (session) this.#subscribe(session, channel).catch(() => session.cut());
    else this.#connectNow();
    return {
      async [Symbol.asyncDispose]() {
        listeners.delete(onHint);
      },
    };
  };

  /** Throws if the server does not answer within a second. A lost connection is opened again at once. */
  ping = async (): Promise<void> => {
    if (!this.#session) this.#connectNow();
    this.#pinging ??= this.#ask().finally(() => {
      this.#pinging = null;
    });
    await withDeadline(this.#pinging, PING_MAX_MS, () => {
      const about = { cause: undefined, retryAfterSeconds: 1 };
      throw new ServiceUnavailable('The database does not answer.', about);
    });
  };

  /** The row of a quick statement. Hints of what was committed before it is asked have been told when it answers. */
  ask = async <R extends pg.QueryResultRow>(text: string): Promise<R | undefined> => {
    if (!this.#session) throw new Error('There is no connection for hints at the moment.');
    const { rows } = await this.#session.query<R>(text);
    return rows[0];
  };

  async #ask(): Promise<void> {
    const session = await this.#connected.promise;
    await session.query('select 1');
  }

  #connectNow(): void {
    clearTimeout(this.#reconnecting);
    if (!this.#isConnecting && !this.#isClosed) void this.#connect();
  }

  async #connect(): Promise<void> {
    this.#isConnecting = true;
    let session: OpenSession | undefined;
    try {
      session = await this.#open();
      session.once('end', () => this.#lost(session));
      // A channel that is added meanwhile is visited too: iterating a Map includes new entries.
      for (const channel of this.#listeners.keys()) await this.#subscribe(session, channel);
      this.#take(session);
    } catch {
      session?.cut();
      this.#lost(session);
    }
  }

  async #open(): Promise<OpenSession> {
    const limitMs = Math.min(this.#server.limitMs, STATEMENT_MAX_MS);
    const name = 'integration-gateway hints';
    const session = await openSession({ ...this.#server, name, limitMs });
    session.on('notification', ({ channel, payload }) => this.#tell(channel, payload));
    this.#subscribed = Promise.resolve();
    this.#newest = session;
    await this.#attend((text, values) => session.query(text, values));
    return session;
  }

  #take(session: OpenSession): void {
    this.#isConnecting = false;
    this.#session = session;
    this.#failures = 0;
    this.#connected.resolve(session);
    this.#heartbeat = setInterval(() => void this.ping().catch(() => {}), HEARTBEAT_MS).unref();
    if (this.#isClosed) void session.end();
  }

  /** Told once of each connection, or of one that could not be opened. */
  #lost(session: OpenSession | undefined): void {
    if (session !== this.#newest) return;
    this.#newest = undefined;
    this.#isConnecting = false;
    if (this.#session) this.#connected = Promise.withResolvers();
    this.#session = null;
    clearInterval(this.#heartbeat);
    this.#reconnectSoon();
  }

  /** One after the other: a connection takes one statement at a time. */
  async #subscribe(session: OpenSession, channel: string): Promise<void> {
    const before = this.#subscribed;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#subscribed = promise;
    await before;
    try {
      await session.query(`listen ${pg.escapeIdentifier(channel)}`);
    } finally {
      resolve();
    }
    this.#tell(channel);
  }

  #tell(channel: string, payload?: string): void {
    for (const onHint of this.#listeners.get(channel) ?? []) onHint(payload);
  }

  #reconnectSoon(): void {
    if (this.#isClosed) return;
    this.#failures += 1;
    const delayMs = backoffMs(RECONNECT, this.#failures);
    this.#reconnecting = setTimeout(() => this.#connectNow(), delayMs).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#reconnecting);
    clearInterval(this.#heartbeat);
    await this.#session?.end();
  }
}
