/**
 * Manages this process's notification connection, which also serves readiness checks. Notifications stay in memory
 * while no other process runs.
 */
import { ServiceUnavailable } from '../../errors.ts';
import { type Backoff, computeBackoffMs } from '../../work/backoff.ts';
import { withDeadline } from '../../work/deadline.ts';
import { Listeners } from '../notifications/listeners.ts';
import type { SendNotifications } from '../notifications/notification-sender.ts';
import type { Listen } from '../notifications/notifications.ts';
import type { SharedProcesses } from '../processes.ts';
import type { Server } from '../sessions/session.ts';
import {
  type NotificationConnection,
  openNotificationConnection,
} from './notification-connection.ts';

const RECONNECT: Backoff = { firstMs: 100, maxMs: 5_000, jitter: 0.3 };
/** Below a second, the limit of a readiness check. */
const PING_MAX_MS = 800;

export class PostgresNotifications implements AsyncDisposable {
  readonly #server: Server;
  readonly #processes: SharedProcesses;
  readonly #notify: SendNotifications;
  readonly #listeners = new Listeners();
  /** Null until the channels are subscribed to. */
  #connection: NotificationConnection | null = null;
  #connected = Promise.withResolvers<NotificationConnection>();
  #isConnecting = false;
  #failures = 0;
  #reconnecting: NodeJS.Timeout | undefined;
  #pinging: Promise<void> | null = null;
  #isClosed = false;

  /** `notify` sends notifications to the listeners of all processes through the database. */
  constructor(server: Server, processes: SharedProcesses, notify: SendNotifications) {
    this.#server = server;
    this.#processes = processes;
    this.#notify = notify;
    this.#connectNow();
  }

  listen: Listen = (channel, onNotification) => {
    const listening = this.#listeners.add(channel, onNotification);
    const connection = this.#connection;
    if (connection) connection.subscribe(channel).catch(() => connection.cut());
    else this.#connectNow();
    return listening;
  };

  /**
   * Sends notifications to all listeners: in memory if no other process runs, and otherwise through the database.
   */
  send: SendNotifications = (notifications) =>
    this.#connection?.isAlone ? this.#listeners.send(notifications) : this.#notify(notifications);

  /** Throws if the server does not respond within a second. A lost connection is reopened immediately. */
  ping = async (): Promise<void> => {
    if (!this.#connection) this.#connectNow();
    this.#pinging ??= this.#connected.promise
      .then((connection) => connection.ping())
      .finally(() => {
        this.#pinging = null;
      });
    await withDeadline(this.#pinging, PING_MAX_MS, () => {
      const options = { cause: undefined, retryAfterSeconds: 1 };
      throw new ServiceUnavailable('The database does not respond.', options);
    });
  };

  #connectNow(): void {
    clearTimeout(this.#reconnecting);
    if (!this.#isConnecting && !this.#isClosed) void this.#connect();
  }

  async #connect(): Promise<void> {
    this.#isConnecting = true;
    let connection: NotificationConnection | undefined;
    try {
      const uses = { processes: this.#processes, listeners: this.#listeners };
      connection = await openNotificationConnection(this.#server, uses);
      await connection.greet();
      for (const channel of this.#listeners.channels) await connection.subscribe(channel);
      this.#use(connection);
    } catch {
      connection?.cut();
      this.#reconnectLater();
    }
    this.#isConnecting = false;
  }

  #use(connection: NotificationConnection): void {
    this.#connection = connection;
    this.#failures = 0;
    this.#connected.resolve(connection);
    void connection.lost.then(() => {
      this.#connection = null;
      this.#connected = Promise.withResolvers();
      this.#reconnectLater();
    });
    if (this.#isClosed) void connection.close();
  }

  #reconnectLater(): void {
    if (this.#isClosed) return;
    this.#failures += 1;
    const delayMs = computeBackoffMs(RECONNECT, this.#failures);
    this.#reconnecting = setTimeout(() => this.#connectNow(), delayMs).unref();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    clearTimeout(this.#reconnecting);
    await this.#connection?.close();
  }
}
