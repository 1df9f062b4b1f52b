/**
 * The connection for notifications: it receives `NOTIFY` messages, and holds the lock that marks this process as
 * running.
 */
import pg from 'pg';
import type { Listeners } from '../notifications/listeners.ts';
import type { SharedProcesses } from '../processes.ts';
import { type OpenSession, openSession, type Server } from '../sessions/session.ts';

/** The interval of the check for other processes. It also shows that a quiet connection does not hang. */
const HEARTBEAT_MS = 5_000;
/** Statements of this connection are short. */
const STATEMENT_MAX_MS = 3_000;
/** A new process announces its id on this channel. */
const GREETINGS_CHANNEL = 'gateway_greetings';

interface ConnectionUses {
  processes: SharedProcesses;
  listeners: Listeners;
}

export async function openNotificationConnection(
  server: Server,
  uses: ConnectionUses,
): Promise<NotificationConnection> {
  const limitMs = Math.min(server.limitMs, STATEMENT_MAX_MS);
  const name = 'integration-gateway notifications';
  return new NotificationConnection(await openSession({ ...server, name, limitMs }), uses);
}

export class NotificationConnection {
  readonly #session: OpenSession;
  readonly #processes: SharedProcesses;
  readonly #listeners: Listeners;
  readonly #heartbeat: NodeJS.Timeout;
  /** Resolves when the connection is lost or closed. */
  readonly lost: Promise<void>;
  #isAlone = false;
  #greetings = 0;
  #lastSubscription = Promise.resolve();

  constructor(session: OpenSession, { processes, listeners }: ConnectionUses) {
    this.#session = session;
    this.#processes = processes;
    this.#listeners = listeners;
    session.on('notification', ({ channel, payload }) => this.#receive(channel, payload));
    const check = () =>
      this.#checkForOthers().catch(() => {
        this.#isAlone = false;
      });
    this.#heartbeat = setInterval(check, HEARTBEAT_MS).unref();
    const { promise, resolve } = Promise.withResolvers<void>();
    this.lost = promise;
    session.once('end', () => {
      clearInterval(this.#heartbeat);
      resolve();
    });
  }

  /** True if no other process uses the database. False also while that is unknown. */
  get isAlone(): boolean {
    return this.#isAlone;
  }

  /** Announces this process and checks which others run. A standby refuses this. */
  async greet(): Promise<void> {
    const session = this.#session;
    await this.#processes.announce((text, values) => session.query(text, values));
    await session.query(`listen ${GREETINGS_CHANNEL}`);
    await session.query(`select pg_notify('${GREETINGS_CHANNEL}', $1)`, [this.#processes.id]);
    await this.#checkForOthers();
  }

  /** Subscribes to a channel after the subscriptions before it, because the connection runs one statement at a time. */
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
  cut(): void {
    this.#session.cut();
  }

  async close(): Promise<void> {
    await this.#session.end();
  }

  #receive(channel: string, payload: string | undefined): void {
    if (channel !== GREETINGS_CHANNEL) this.#listeners.notify(channel, payload);
    else if (payload !== this.#processes.id) {
      this.#greetings += 1;
      this.#isAlone = false;
    }
  }

  async #checkForOthers(): Promise<void> {
    const greetings = this.#greetings;
    const hasOthers = await this.#processes.hasOthers(async (text, values) => {
      const { rows } = await this.#session.query(text, values);
      return rows;
    });
    // A process that announced itself in the meantime may have started after the check.
    if (greetings === this.#greetings) this.#isAlone = !hasOthers;
  }
}
