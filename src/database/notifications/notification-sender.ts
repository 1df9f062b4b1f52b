/** Sends notifications in batches and retries until they are sent. */
import { setTimeout as sleep } from 'node:timers/promises';
import { type Backoff, retryUntilDone } from '../../work/backoff.ts';
import { endWithin } from '../../work/deadline.ts';
import type { RunQuery } from '../rows.ts';
import type { Notification, Notify } from './notifications.ts';

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
