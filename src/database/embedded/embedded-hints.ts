/**
 * Hints within the process, since no other one has the embedded database open: the gateway's own go from its memory to its
 * memory. The job queue's are in its SQL, and come over the one connection.
 */
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { Listeners } from '../hints/listeners.ts';
import type { Listen } from '../hints/notifications.ts';

/** While the database fails, or has too much to do. */
const TRY_AGAIN_MS = 1_000;

export class EmbeddedHints {
  readonly #listeners = new Listeners();
  readonly send = this.#listeners.send;

  /** For each new connection: what was told since the last one was lost is not known. */
  attend = async (client: pg.ClientBase): Promise<void> => {
    client.on('notification', ({ channel, payload }) => this.#listeners.tell(channel, payload));
    for (const channel of this.#listeners.channels) await subscribe(client, channel);
    for (const channel of this.#listeners.channels) this.#listeners.tell(channel);
  };

  listenOn(pool: pg.Pool): Listen {
    return (channel, onHint) => {
      const isNew = !this.#listeners.has(channel);
      const listening = this.#listeners.add(channel, onHint);
      if (isNew) void this.#begin(pool, channel);
      else onHint();
      return listening;
    };
  }

  async #begin(pool: pg.Pool, channel: string): Promise<void> {
    while (!pool.ending) {
      try {
        await subscribe(pool, channel);
        return this.#listeners.tell(channel);
      } catch {
        await wait(TRY_AGAIN_MS, undefined, { ref: false });
      }
    }
  }
}

async function subscribe(to: pg.ClientBase | pg.Pool, channel: string): Promise<void> {
  await to.query(`listen ${pg.escapeIdentifier(channel)}`);
}
