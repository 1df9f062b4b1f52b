import { setTimeout as sleep } from 'node:timers/promises';
import { runOutsideTraces } from '../../kernel/spans.ts';
import { type Backoff, retryUntilDone } from '../../work/backoff.ts';
import { endWithin } from '../../work/deadline.ts';
import type { RunQuery } from '../connect/run-query.ts';

/**
 * Notifications wake listeners that wait for a change: within a process that is alone on its database, otherwise by
 * PostgreSQL's LISTEN and NOTIFY. They are sent after the commit, and may be lost with a connection or a process. So
 * listeners read the stored rows, and also poll.
 */

/** The channel and the payload. Equal notifications that are pending at the same time are sent once. */
export type Notification = `${string} ${string}`;

/**
 * Notifies the listeners of all processes. Call it after the commit, because transactions that use NOTIFY wait for each
 * other until they are written to disk (docs/decisions/044-notifications-after-commit.md).
 */
export type Notify = (notifications: readonly Notification[]) => void;

/** Called without a payload if notifications may have been missed, so that anything may have changed. */
type OnNotification = (payload?: string) => void;

/** Never throws. If the database is unavailable, notifications start once it is available again. */
export type Listen = (channel: string, onNotification: OnNotification) => AsyncDisposable;

/** The listeners of this process, by channel. */
export class Listeners {
  readonly #byChannel = new Map<string, Set<OnNotification>>();

  /**
   * Channels are few, and stay when their last listener is removed. A channel that is added during the iteration is
   * visited too.
   */
  get channels(): Iterable<string> {
    return this.#byChannel.keys();
  }

  has(channel: string): boolean {
    return this.#byChannel.has(channel);
  }

  add(channel: string, onNotification: OnNotification): AsyncDisposable {
    const listeners = this.#byChannel.get(channel) ?? new Set();
    this.#byChannel.set(channel, listeners.add(onNotification));
    return {
      async [Symbol.asyncDispose]() {
        listeners.delete(onNotification);
      },
    };
  }

  notify(channel: string, payload?: string): void {
    for (const onNotification of this.#byChannel.get(channel) ?? []) onNotification(payload);
  }

  /** Delivers notifications within the process. Listeners run outside the trace of the sender. */
  send: SendNotifications = (notifications) =>
    new Promise<void>((resolve) => {
      const notifyAll = () => {
        for (const { channel, payload } of notifications) this.notify(channel, payload);
        resolve();
      };
      runOutsideTraces(() => setImmediate(notifyAll));
    });
}

/** The gap between batches. A single notification is sent immediately, and many together cost as little as one. */
const GAP_MS = 5;
const RETRY: Backoff = { firstMs: 100, maxMs: 5_000, jitter: 0.3 };
/**
 * The maximum number of notifications that are kept while the database is unavailable. Listeners find the others by
 * polling.
 */
const WAITING_MAX = 10_000;
/** A server that hangs must not delay the end of this process. */
const CLOSE_MS = 1_000;

const NOTIFY = `select pg_notify("channel", "payload")::text
  from unnest($1::text[], $2::text[]) as notification("channel", "payload")`;

/** Sends notifications to all listeners. */
export type SendNotifications = (notifications: readonly SplitNotification[]) => Promise<unknown>;

interface SplitNotification {
  channel: string;
  payload: string;
}

/** Returns a function that sends notifications to the listeners of all processes, with one statement. */
export function createSender(query: RunQuery): SendNotifications {
  return (notifications) =>
    query(NOTIFY, [
      notifications.map(({ channel }) => channel),
      notifications.map(({ payload }) => payload),
    ]);
}

/** Sends notifications in batches and retries until they are sent. */
export class NotificationSender implements AsyncDisposable {
  readonly #sendNotifications: SendNotifications;
  readonly #waiting = new Set<Notification>();
  readonly #closing = new AbortController();
  #isSending = false;

  constructor(sendNotifications: SendNotifications) {
    this.#sendNotifications = sendNotifications;
  }

  notify: Notify = (notifications) => {
    for (const notification of notifications)
      if (this.#waiting.size < WAITING_MAX) this.#waiting.add(notification);
    if (this.#waiting.size > 0 && !this.#isSending) void this.#sendAll();
  };

  async #sendAll(): Promise<void> {
    const { signal } = this.#closing;
    this.#isSending = true;
    while (this.#waiting.size > 0 && !signal.aborted) {
      const notifications = this.#takeAll();
      await retryUntilDone(() => this.#send(notifications), { backoff: RETRY, signal });
      await sleep(GAP_MS, undefined, { signal, ref: false }).catch(() => {});
    }
    this.#isSending = false;
  }

  #takeAll(): Notification[] {
    const notifications = [...this.#waiting];
    this.#waiting.clear();
    return notifications;
  }

  async #send(notifications: readonly Notification[]): Promise<void> {
    await this.#sendNotifications(notifications.map(splitNotification));
  }

  /** Sends the pending notifications once more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    if (this.#waiting.size > 0) await endWithin(this.#send(this.#takeAll()), CLOSE_MS);
  }
}

function splitNotification(notification: Notification): SplitNotification {
  const separatorIndex = notification.indexOf(' ');
  return {
    channel: notification.slice(0, separatorIndex),
    payload: notification.slice(separatorIndex + 1),
  };
}
