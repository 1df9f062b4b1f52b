/** Sends hints, those of the same moment by one statement, until the database has taken them. */
import { setTimeout as wait } from 'node:timers/promises';
import { type Backoff, untilDone } from '../../work/backoff.ts';
import { endWithin } from '../../work/deadline.ts';
import type { RunQuery } from '../rows.ts';
import type { Hint, Tell } from './notifications.ts';

/** Between statements: a hint that comes alone goes at once, and many together cost as little as one. */
const GAP_MS = 5;
const RETRY: Backoff = { firstMs: 100, maxMs: 5_000, jitter: 0.3 };
/** While the database is away. What is left out is found by those who look without a hint. */
const WAITING_MAX = 10_000;
/** A server that hangs must not delay the end of this process. */
const CLOSE_MS = 1_000;

export const TELL = `select pg_notify("channel", "payload")::text
  from unnest($1::text[], $2::text[]) as told("channel", "payload")`;

export class HintSender implements AsyncDisposable {
  readonly #query: RunQuery;
  readonly #waiting = new Set<Hint>();
  readonly #closing = new AbortController();
  #isSending = false;

  constructor(query: RunQuery) {
    this.#query = query;
  }

  tell: Tell = (hints) => {
    for (const hint of hints) if (this.#waiting.size < WAITING_MAX) this.#waiting.add(hint);
    if (this.#waiting.size > 0 && !this.#isSending) void this.#sendAll();
  };

  async #sendAll(): Promise<void> {
    const { signal } = this.#closing;
    this.#isSending = true;
    while (this.#waiting.size > 0 && !signal.aborted) {
      const hints = this.#takeAll();
      await untilDone(() => this.#send(hints), { backoff: RETRY, signal });
      await wait(GAP_MS, undefined, { signal, ref: false }).catch(() => {});
    }
    this.#isSending = false;
  }

  #takeAll(): Hint[] {
    const hints = [...this.#waiting];
    this.#waiting.clear();
    return hints;
  }

  async #send(hints: readonly Hint[]): Promise<void> {
    const places = hints.map((hint) => hint.indexOf(' '));
    const channels = hints.map((hint, index) => hint.slice(0, places[index]));
    const payloads = hints.map((hint, index) => hint.slice((places[index] ?? 0) + 1));
    await this.#query(TELL, [channels, payloads]);
  }

  /** What waits is sent once more. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#closing.abort();
    if (this.#waiting.size > 0) await endWithin(this.#send(this.#takeAll()), CLOSE_MS);
  }
}
