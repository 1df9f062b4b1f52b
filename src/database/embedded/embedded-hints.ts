/**
 * Hints within the process, since no other one has the embedded database open: the gateway's own go from its memory to its
 * memory. The job queue's are in its SQL, and come over the one connection.
 */
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { outsideTraces } from '../../spans.ts';
import type { SendHints } from '../hints/hint-sender.ts';
import type { Listen, OnHint } from '../hints/notifications.ts';

/** While the database fails, or has too much to do. */
const TRY_AGAIN_MS = 1_000;

export class EmbeddedHints {
  readonly #listeners = new Map<string, Set<OnHint>>();

  /** For each new connection: what was told since the last one was lost is not known. */
  attend = async (client: pg.ClientBase): Promise<void> => {
    client.on('notification', ({ channel, payload }) => this.#tell(channel, payload));
    for (const channel of this.#listeners.keys()) await subscribe(client, channel);
    for (const channel of this.#listeners.keys()) this.#tell(channel);
  };

  /** Of whomever they are: what listeners do is no part of a trace. */
  send: SendHints = (hints) =>
    new Promise<void>((resolve) => {
      const tellAll = () => {
        for (const { channel, payload } of hints) this.#tell(channel, payload);
        resolve();
      };
      outsideTraces(() => setImmediate(tellAll));
    });

  /** Channels are few, and stay subscribed to when their last listener goes. */
  listenOn(pool: pg.Pool): Listen {
    return (channel, onHint) => {
      const listeners = this.#listeners.get(channel) ?? new Set();
      const isNew = !this.#listeners.has(channel);
      this.#listeners.set(channel, listeners.add(onHint));
      if (isNew) void this.#begin(pool, channel);
      else onHint();
      return {
        async [Symbol.asyncDispose]() {
          listeners.delete(onHint);
        },
      };
    };
  }

  async #begin(pool: pg.Pool, channel: string): Promise<void> {
    while (!pool.ending) {
      try {
        await subscribe(pool, channel);
        return this.#tell(channel);
      } catch {
        await wait(TRY_AGAIN_MS, undefined, { ref: false });
      }
    }
  }

  #tell(channel: string, payload?: string): void {
    for (const onHint of this.#listeners.get(channel) ?? []) onHint(payload);
  }
}

async function subscribe(to: pg.ClientBase | pg.Pool, channel: string): Promise<void> {
  await to.query(`listen ${pg.escapeIdentifier(channel)}`);
}
