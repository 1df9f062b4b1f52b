/**
 * The connection for notifications: it receives `NOTIFY` messages, and holds the lock that marks this process as
 * running.
 */
import pg from 'pg';
import type { Listeners } from '../notifications/listeners.ts';
import type { SharedProcesses } from '../processes.ts';
import { type OpenSession, openSession, type Server } from '../sessions/session.ts';

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

export async function openNotificationConnection(
  server: Server,
  dependencies: ConnectionDependencies,
): Promise<NotificationConnection> {
  const limitMs = Math.min(server.limitMs, STATEMENT_MS_MAX);
  const name = 'integration-gateway notifications';
  return new NotificationConnection(await openSession({ ...server, name, limitMs }), dependencies);
}

export class NotificationConnection {
  readonly #session: OpenSession;
  readonly #processes: SharedProcesses;
  readonly #listeners: Listeners;
  readonly #heartbeat: NodeJS.Timeout;
  /** Resolves when the connection is lost or closed. */
  readonly lost: Promise<void>;
  #isOnlyProcess = false;
  #announcements = 0;
  #lastSubscription = Promise.resolve();

  constructor(session: OpenSession, { processes, listeners }: ConnectionDependencies) {
    this.#session = session;
    this.#processes = processes;
    this.#listeners = listeners;
    session.on('notification', ({ channel, payload }) => this.#receive(channel, payload));
    const check = () =>
      this.#checkForOthers().catch(() => {
        this.#isOnlyProcess = false;
      });
    this.#heartbeat = setInterval(check, HEARTBEAT_MS).unref();
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

  async ping(): Promise<void> {
    await this.#session.query('select 1');
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
