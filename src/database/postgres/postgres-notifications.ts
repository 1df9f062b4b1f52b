/**
 * Manages this process's notification connection, which also serves readiness checks. Notifications stay in memory
 * while no other process runs.
 */
import { ServiceUnavailable } from '../../errors.ts';
import { type Backoff, computeBackoffMs } from '../../work/backoff.ts';
import { withDeadline } from '../../work/deadline.ts';
import { Alarm } from '../../work/signal.ts';
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
const PING_MS_MAX = 800;

export class PostgresNotifications implements AsyncDisposable {
  readonly #server: Server;
  readonly #processes: SharedProcesses;
  readonly #notify: SendNotifications;
  readonly #listeners = new Listeners();
  /** The connection that has subscribed to all channels. Null while there is none. */
  #connection: NotificationConnection | null = null;
  /** Resolves when the next connection has subscribed to all channels. */
  #connected = Promise.withResolvers<NotificationConnection>();
  /** Rings to reconnect immediately. */
  readonly #reconnectAlarm = new Alarm();
  #runningPing: Promise<void> | null = null;
  #isClosed = false;

  /** `notify` sends notifications to the listeners of all processes through the database. */
  constructor(server: Server, processes: SharedProcesses, notify: SendNotifications) {
    this.#server = server;
    this.#processes = processes;
    this.#notify = notify;
    void this.#keepConnected();
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

  /** Throws if the server does not respond within PING_MS_MAX. Reconnects immediately if the connection is lost. */
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
    return true;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    this.#reconnectAlarm.ring();
    await this.#connection?.close();
  }
}
