/**
 * Manages this process's notification connection. The connection receives `NOTIFY` messages, serves readiness checks,
 * and holds the lock that marks this process as running. Notifications stay in memory while no other process runs.
 */
import pg from 'pg';
import { ServiceUnavailable } from '../../errors.ts';
import { type Backoff, computeBackoffMs } from '../../work/backoff.ts';
import { withDeadline } from '../../work/deadline.ts';
import { Listeners } from '../notifications/listeners.ts';
import type { SendNotifications } from '../notifications/notification-sender.ts';
import type { Listen } from '../notifications/notifications.ts';
import type { SharedProcesses } from '../processes.ts';
import { type OpenSession, openSession, type Server } from '../sessions/session.ts';

const RECONNECT: Backoff = { firstMs: 100, maxMs: 5_000, jitter: 0.3 };
/** The interval of the check for other processes. It also shows that a quiet connection does not hang. */
const HEARTBEAT_MS = 5_000;
/** Statements of this connection are short. */
const STATEMENT_MAX_MS = 3_000;
/** A new process announces its id on this channel. */
const GREETINGS_CHANNEL = 'gateway_greetings';
/** A readiness check gets its result within a second. */
const PING_MAX_MS = 800;

export class PostgresNotifications implements AsyncDisposable {
  readonly #server: Server;
  readonly #processes: SharedProcesses;
  readonly #notify: SendNotifications;
  readonly #listeners = new Listeners();
  /** True if no other process uses the database. False also while that is unknown. */
  #isAlone = false;
  #greetings = 0;
  /** Null until the channels are subscribed to. */
  #session: OpenSession | null = null;
  /** The session that was opened last, which may not be subscribed to the channels yet. */
  #newestSession: OpenSession | undefined;
  #connected = Promise.withResolvers<OpenSession>();
  #isConnecting = false;
  #isClosed = false;
  #lastSubscription = Promise.resolve();
  #failures = 0;
  #reconnecting: NodeJS.Timeout | undefined;
  #heartbeat: NodeJS.Timeout | undefined;
  #pinging: Promise<unknown> | null = null;

  /** `notify` sends notifications to the listeners of all processes. */
  constructor(server: Server, processes: SharedProcesses, notify: SendNotifications) {
    this.#server = server;
    this.#processes = processes;
    this.#notify = notify;
    this.#connectNow();
  }

  listen: Listen = (channel, onNotification) => {
    const listening = this.#listeners.add(channel, onNotification);
    const session = this.#session;
    if (session) this.#subscribe(session, channel).catch(() => session.cut());
    else this.#connectNow();
    return listening;
  };

  /** Sends notifications to the listeners of all processes. */
  send: SendNotifications = (notifications) =>
    this.#isAlone ? this.#listeners.send(notifications) : this.#notify(notifications);

  /** Throws if the server does not respond within a second. A lost connection is reopened immediately. */
  ping = async (): Promise<void> => {
    if (!this.#session) this.#connectNow();
    this.#pinging ??= this.#pingSession().finally(() => {
      this.#pinging = null;
    });
    await withDeadline(this.#pinging, PING_MAX_MS, () => {
      const options = { cause: undefined, retryAfterSeconds: 1 };
      throw new ServiceUnavailable('The database does not respond.', options);
    });
  };

  async #pingSession(): Promise<void> {
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
      this.#newestSession = session;
      session.once('end', () => this.#recordLoss(session));
      await this.#greet(session);
      for (const channel of this.#listeners.channels) await this.#subscribe(session, channel);
      this.#use(session);
    } catch {
      session?.cut();
      this.#recordLoss(session);
    }
  }

  async #open(): Promise<OpenSession> {
    const limitMs = Math.min(this.#server.limitMs, STATEMENT_MAX_MS);
    const name = 'integration-gateway notifications';
    const session = await openSession({ ...this.#server, name, limitMs });
    session.on('notification', ({ channel, payload }) => this.#receive(channel, payload));
    this.#lastSubscription = Promise.resolve();
    return session;
  }

  /** Announces this process and checks which others run. A standby refuses this. */
  async #greet(session: OpenSession): Promise<void> {
    await this.#processes.announce((text, values) => session.query(text, values));
    await session.query(`listen ${GREETINGS_CHANNEL}`);
    await session.query(`select pg_notify('${GREETINGS_CHANNEL}', $1)`, [this.#processes.id]);
    await this.#checkForOthers(session);
  }

  #use(session: OpenSession): void {
    this.#isConnecting = false;
    this.#session = session;
    this.#failures = 0;
    this.#connected.resolve(session);
    const check = () =>
      void this.#checkForOthers(session).catch(() => {
        this.#isAlone = false;
      });
    this.#heartbeat = setInterval(check, HEARTBEAT_MS).unref();
    if (this.#isClosed) void session.end();
  }

  /** Plans a new connection, once for each one that was lost or could not be opened. */
  #recordLoss(session: OpenSession | undefined): void {
    if (session !== this.#newestSession) return;
    this.#newestSession = undefined;
    this.#isConnecting = false;
    if (this.#session) this.#connected = Promise.withResolvers();
    this.#session = null;
    this.#isAlone = false;
    clearInterval(this.#heartbeat);
    this.#reconnectSoon();
  }

  /** Subscribes to a channel after the subscriptions before it, because the connection runs one statement at a time. */
  async #subscribe(session: OpenSession, channel: string): Promise<void> {
    const previousSubscription = this.#lastSubscription;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#lastSubscription = promise;
    await previousSubscription;
    try {
      await session.query(`listen ${pg.escapeIdentifier(channel)}`);
    } finally {
      resolve();
    }
    this.#listeners.notify(channel);
  }

  #receive(channel: string, payload: string | undefined): void {
    if (channel !== GREETINGS_CHANNEL) this.#listeners.notify(channel, payload);
    else if (payload !== this.#processes.id) {
      this.#greetings += 1;
      this.#isAlone = false;
    }
  }

  async #checkForOthers(session: OpenSession): Promise<void> {
    const greetings = this.#greetings;
    const hasOthers = await this.#processes.hasOthers(async (text, values) => {
      const { rows } = await session.query(text, values);
      return rows;
    });
    // A process that announced itself in the meantime may have started after the check.
    if (greetings === this.#greetings && session === this.#newestSession)
      this.#isAlone = !hasOthers;
  }

  #reconnectSoon(): void {
    if (this.#isClosed) return;
    this.#failures += 1;
    const delayMs = computeBackoffMs(RECONNECT, this.#failures);
    this.#reconnecting = setTimeout(() => this.#connectNow(), delayMs).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#reconnecting);
    clearInterval(this.#heartbeat);
    await this.#session?.end();
  }
}
