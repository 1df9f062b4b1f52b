/**
 * One connection for the whole process: hints of a PostgreSQL server come over it, and it shows that the server
 * answers. Its lock tells other processes that this one runs. It is open from the start. While no other process runs, hints stay
 * within this one: each process greets the others when it comes, and all look now and then who is still there.
 */
import pg from 'pg';
import { ServiceUnavailable } from '../../errors.ts';
import { type Backoff, backoffMs } from '../../work/backoff.ts';
import { withDeadline } from '../../work/deadline.ts';
import { Listeners } from '../notifications/listeners.ts';
import type { SendNotifications } from '../notifications/notification-sender.ts';
import type { Listen } from '../notifications/notifications.ts';
import type { SharedProcesses } from '../processes.ts';
import { type OpenSession, openSession, type Server } from '../sessions/session.ts';

const RECONNECT: Backoff = { firstMs: 100, maxMs: 5_000, jitter: 0.3 };
/** A quiet connection looks like one that hangs: at this interval it is asked who else is there. */
const HEARTBEAT_MS = 5_000;
/** Statements of this connection are quick. */
const STATEMENT_MAX_MS = 3_000;
/** A process that comes tells it its id. */
const GREETINGS_CHANNEL = 'gateway_greetings';
/** A caller that asks whether the database answers gets a result within a second. */
const PING_MAX_MS = 800;

export class PostgresNotifications implements AsyncDisposable {
  readonly #server: Server;
  readonly #processes: SharedProcesses;
  readonly #notify: SendNotifications;
  readonly #listeners = new Listeners();
  /** False also while that is not known. */
  #isAlone = false;
  #greetings = 0;
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

  /** `notify` tells the listeners of all processes. */
  constructor(server: Server, processes: SharedProcesses, notify: SendNotifications) {
    this.#server = server;
    this.#processes = processes;
    this.#notify = notify;
    this.#connectNow();
  }

  listen: Listen = (channel, onHint) => {
    const listening = this.#listeners.add(channel, onHint);
    const session = this.#session;
    if (session) this.#subscribe(session, channel).catch(() => session.cut());
    else this.#connectNow();
    return listening;
  };

  /** To the listeners of all processes. */
  send: SendNotifications = (notifications) =>
    this.#isAlone ? this.#listeners.send(notifications) : this.#notify(notifications);

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
      this.#newest = session;
      session.once('end', () => this.#lost(session));
      await this.#greet(session);
      for (const channel of this.#listeners.channels) await this.#subscribe(session, channel);
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
    session.on('notification', ({ channel, payload }) => this.#heard(channel, payload));
    this.#subscribed = Promise.resolve();
    return session;
  }

  /** Tells that this process is there, and asks who else is. A server that is a standby refuses it. */
  async #greet(session: OpenSession): Promise<void> {
    await this.#processes.attend((text, values) => session.query(text, values));
    await session.query(`listen ${GREETINGS_CHANNEL}`);
    await session.query(`select pg_notify('${GREETINGS_CHANNEL}', $1)`, [this.#processes.id]);
    await this.#lookForOthers(session);
  }

  #take(session: OpenSession): void {
    this.#isConnecting = false;
    this.#session = session;
    this.#failures = 0;
    this.#connected.resolve(session);
    const look = () =>
      void this.#lookForOthers(session).catch(() => {
        this.#isAlone = false;
      });
    this.#heartbeat = setInterval(look, HEARTBEAT_MS).unref();
    if (this.#isClosed) void session.end();
  }

  /** Told once of each connection, or of one that could not be opened. */
  #lost(session: OpenSession | undefined): void {
    if (session !== this.#newest) return;
    this.#newest = undefined;
    this.#isConnecting = false;
    if (this.#session) this.#connected = Promise.withResolvers();
    this.#session = null;
    this.#isAlone = false;
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
    this.#listeners.tell(channel);
  }

  #heard(channel: string, payload: string | undefined): void {
    if (channel !== GREETINGS_CHANNEL) this.#listeners.tell(channel, payload);
    else if (payload !== this.#processes.id) {
      this.#greetings += 1;
      this.#isAlone = false;
    }
  }

  async #lookForOthers(session: OpenSession): Promise<void> {
    const greetings = this.#greetings;
    const hasOthers = await this.#processes.hasOthers(async (text, values) => {
      const { rows } = await session.query(text, values);
      return rows;
    });
    // Who has greeted meanwhile may have come after the look.
    if (greetings === this.#greetings && session === this.#newest) this.#isAlone = !hasOthers;
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
