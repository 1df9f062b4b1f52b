/** The listeners of this process, by channel. */
import { runOutsideTraces } from '../../spans.ts';
import type { SendNotifications } from './notification-sender.ts';
import type { OnNotification } from './notifications.ts';

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
