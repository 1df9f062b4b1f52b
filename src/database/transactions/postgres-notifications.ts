/**
 * Manages this process's notification connection. It receives `NOTIFY` messages, holds the lock that marks this process
 * as running, and serves readiness checks. Notifications stay in memory while no other process runs.
 */
import pg from 'pg';
import { ServiceUnavailable } from '../../kernel/errors.ts';
import { type Backoff, computeBackoffMs } from '../../work/backoff.ts';
import { endWithin, withDeadline } from '../../work/deadline.ts';
import { Alarm } from '../../work/signal.ts';
import type { Outages } from '../connect/outages.ts';
import type { SharedProcesses } from '../connect/processes.ts';
import {
  type OpenDatabaseSession,
  openDatabaseSession,
  READ_ONLY,
  type Server,
} from '../connect/sessions/database-session.ts';
import type { SessionPool } from '../connect/sessions/session-pool.ts';
import { type Listen, Listeners, type SendNotifications } from './notifications.ts';

const RECONNECT: Backoff = { firstMs: 100, maxMs: 5_000, jitter: 0.3 };
/** Below a second, the limit of a readiness check. */
const PING_MS_MAX = 800;

interface NotificationDependencies {
  processes: SharedProcesses;
  /** Sends notifications to the listeners of all processes through the database. */
  notify: SendNotifications;
  /** Its idle connections are replaced when the server becomes read-only, and when it accepts writes again. */
  sessions: Pick<SessionPool, 'dropIdle'>;
}

export class PostgresNotifications implements AsyncDisposable {
  readonly #server: Server;
  readonly #processes: SharedProcesses;
  readonly #notify: SendNotifications;
  readonly #sessions: NotificationDependencies['sessions'];
  readonly #listeners = new Listeners();
  /** The connection that has subscribed to all channels. Null while there is none. */
  #connection: NotificationConnection | null = null;
  /** Resolves when the next connection has subscribed to all channels. */
  #connected = Promise.withResolvers<NotificationConnection>();
  /** Rings to reconnect immediately. */
  readonly #reconnectAlarm = new Alarm();
  #runningPing: Promise<void> | null = null;
  readonly #keepingConnected: Promise<void>;
  /** True if the last connection accepted no writes. */
  #wasReadOnly = false;
  #isClosed = false;

  constructor(server: Server, { processes, notify, sessions }: NotificationDependencies) {
    this.#server = server;
    this.#processes = processes;
    this.#notify = notify;
    this.#sessions = sessions;
    this.#keepingConnected = this.#keepConnected();
  }

  listen: Listen = (channel, onNotification) => {
    const subscription = this.#listeners.add(channel, onNotification);
    const connection = this.#connection;
    if (connection) connection.subscribe(channel).catch(() => connection.destroy());
    else this.#reconnectAlarm.ring();
    return subscription;
  };

  /**
   * Sends notifications to all listeners: in memory if no other process runs, and otherwise through the database.
   */
  send: SendNotifications = (notifications) =>
    this.#connection?.isOnlyProcess
      ? this.#listeners.send(notifications)
      : this.#notify(notifications);

  /**
   * Throws if the server does not respond within PING_MS_MAX, or accepts no writes. Reconnects immediately if the
   * connection is lost.
   */
  ping = async (): Promise<void> => {
    if (!this.#connection) this.#reconnectAlarm.ring();
    this.#runningPing ??= this.#connected.promise
      .then((connection) => connection.ping())
      .finally(() => {
        this.#runningPing = null;
      });
    await withDeadline(this.#runningPing, PING_MS_MAX, () => {
      const options = { cause: undefined, retryAfterSeconds: 1 };
      throw new ServiceUnavailable('The database does not respond.', options);
    });
  };

  async #keepConnected(): Promise<void> {
    let failures = 0;
    while (!this.#isClosed) {
      const wasConnected = await this.#connectUntilLost();
      failures = wasConnected ? 1 : failures + 1;
      await this.#reconnectAlarm.wait(computeBackoffMs(RECONNECT, failures));
    }
  }

  /** Opens a connection and waits until it is lost. Returns false if no connection could be opened. */
  async #connectUntilLost(): Promise<boolean> {
    let connection: NotificationConnection | undefined;
    try {
      connection = await openNotificationConnection(this.#server, {
        processes: this.#processes,
        listeners: this.#listeners,
      });
      await connection.announceProcess();
      await this.#checkWritable(connection);
      for (const channel of this.#listeners.channels) await connection.subscribe(channel);
    } catch {
      connection?.destroy();
      return false;
    }
    this.#connection = connection;
    this.#connected.resolve(connection);
    if (this.#isClosed) void connection.close();
    await connection.lost;
    this.#connection = null;
    this.#connected = Promise.withResolvers();
    this.#wasReadOnly ||= connection.isReadOnly;
    return true;
  }

  async #checkWritable(connection: NotificationConnection): Promise<void> {
    const isReadOnly = await connection.checkReadOnly();
    // Other open connections may be read-only too.
    if (isReadOnly || this.#wasReadOnly) this.#sessions.dropIdle();
    this.#wasReadOnly = isReadOnly;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#reconnectAlarm.ring();
    await this.#connection?.close();
    // A connection that is being opened announces this process, which must not follow its leave.
    await endWithin(this.#keepingConnected, STATEMENT_MS_MAX);
  }
}

/** The interval between checks for other processes. The checks also detect a quiet connection that hangs. */
const HEARTBEAT_MS = 5_000;
/** Statements of this connection are short. */
const STATEMENT_MS_MAX = 3_000;
/** A new process announces its id on this channel. */
const ANNOUNCEMENTS_CHANNEL = 'gateway_greetings';

interface ConnectionDependencies {
  processes: SharedProcesses;
  listeners: Listeners;
}

async function openNotificationConnection(
  server: Server,
  dependencies: ConnectionDependencies,
): Promise<NotificationConnection> {
  const limitMs = Math.min(server.limitMs, STATEMENT_MS_MAX);
  const name = 'integration-gateway notifications';
  const session = await openDatabaseSession({ ...server, name, limitMs });
  return new NotificationConnection(session, { ...dependencies, outages: server.outages });
}

class NotificationConnection {
  readonly #session: OpenDatabaseSession;
  readonly #outages: Outages;
  readonly #processes: SharedProcesses;
  readonly #listeners: Listeners;
  readonly #heartbeat: NodeJS.Timeout;
  /** Resolves when the connection is lost or closed. */
  readonly lost: Promise<void>;
  #isOnlyProcess = false;
  #isReadOnly = false;
  #announcements = 0;
  #lastSubscription = Promise.resolve();

  constructor(
    session: OpenDatabaseSession,
    { processes, listeners, outages }: ConnectionDependencies & { outages: Outages },
  ) {
    this.#session = session;
    this.#outages = outages;
    this.#processes = processes;
    this.#listeners = listeners;
    session.on('notification', ({ channel, payload }) => this.#receive(channel, payload));
    this.#heartbeat = setInterval(() => void this.#beat(), HEARTBEAT_MS).unref();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.lost = promise;
    session.once('end', () => {
      clearInterval(this.#heartbeat);
      resolve();
    });
  }

  /** True if no other process uses the database. False while this is not known. */
  get isOnlyProcess(): boolean {
    return this.#isOnlyProcess;
  }

  /** Announces this process, and checks whether others run. Fails on a standby. */
  async announceProcess(): Promise<void> {
    const session = this.#session;
    await this.#processes.announce((text, values) => session.query(text, values));
    await session.query(`listen ${ANNOUNCEMENTS_CHANNEL}`);
    await session.query(`select pg_notify('${ANNOUNCEMENTS_CHANNEL}', $1)`, [this.#processes.id]);
    await this.#checkForOthers();
  }

  /** Subscribes to a channel. Waits for earlier subscriptions, because the connection runs one statement at a time. */
  async subscribe(channel: string): Promise<void> {
    const previousSubscription = this.#lastSubscription;
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#lastSubscription = promise;
    await previousSubscription;
    try {
      await this.#session.query(`listen ${pg.escapeIdentifier(channel)}`);
    } finally {
      resolve();
    }
    this.#listeners.notify(channel);
  }

  /** True if the last check found that the server accepts no writes on this connection. */
  get isReadOnly(): boolean {
    return this.#isReadOnly;
  }

  /** Throws if the server accepts no writes. */
  async ping(): Promise<void> {
    if (!(await this.checkReadOnly())) return;
    const error = Object.assign(new Error('The server accepts no writes.'), { code: READ_ONLY });
    throw this.#outages.toCallerError(error);
  }

  /** Returns whether the server accepts no writes on this connection, as on every connection to a standby. */
  async checkReadOnly(): Promise<boolean> {
    const { rows } = await this.#session.query('show transaction_read_only');
    this.#isReadOnly = rows[0]?.transaction_read_only === 'on';
    return this.#isReadOnly;
  }

  /** Closes the connection without waiting for the server. */
  destroy(): void {
    this.#session.destroy();
  }

  async close(): Promise<void> {
    await this.#session.end();
  }

  #receive(channel: string, payload: string | undefined): void {
    if (channel !== ANNOUNCEMENTS_CHANNEL) this.#listeners.notify(channel, payload);
    else if (payload !== this.#processes.id) {
      this.#announcements += 1;
      this.#isOnlyProcess = false;
    }
  }

  /** Closes a connection that accepts no writes, because a new one may accept them or reach another server. */
  async #beat(): Promise<void> {
    try {
      if (await this.checkReadOnly()) return this.destroy();
      await this.#checkForOthers();
    } catch {
      this.#isOnlyProcess = false;
    }
  }

  async #checkForOthers(): Promise<void> {
    const announcements = this.#announcements;
    const hasOthers = await this.#processes.hasOthers(async (text, values) => {
      const { rows } = await this.#session.query(text, values);
      return rows;
    });
    // A process that announced itself in the meantime may have started after the check.
    if (announcements === this.#announcements) this.#isOnlyProcess = !hasOthers;
  }
}
