/** Those of this process who listen to hints, and what tells them. */
import { outsideTraces } from '../../spans.ts';
import type { SendNotifications } from './notification-sender.ts';
import type { OnNotification } from './notifications.ts';

export class Listeners {
  readonly #byChannel = new Map<string, Set<OnNotification>>();

  /** Channels are few, and stay when their last listener goes. One that is added while they are visited is visited too. */
  get channels(): Iterable<string> {
    return this.#byChannel.keys();
  }

  has(channel: string): boolean {
    return this.#byChannel.has(channel);
  }

  add(channel: string, onHint: OnNotification): AsyncDisposable {
    const listeners = this.#byChannel.get(channel) ?? new Set();
    this.#byChannel.set(channel, listeners.add(onHint));
    return {
      async [Symbol.asyncDispose]() {
        listeners.delete(onHint);
      },
    };
  }

  tell(channel: string, payload?: string): void {
    for (const onHint of this.#byChannel.get(channel) ?? []) onHint(payload);
  }

  /** Hints that stay within the process. What listeners do is no part of the trace of whoever has told them. */
  send: SendNotifications = (notifications) =>
    new Promise<void>((resolve) => {
      const tellAll = () => {
        for (const { channel, payload } of notifications) this.tell(channel, payload);
        resolve();
      };
      outsideTraces(() => setImmediate(tellAll));
    });
}
