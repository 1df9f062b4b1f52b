/** New tokens that the database could not take yet: they are in the journal, and stored as soon as it is back. */
import type { Log } from '../../../log.ts';
import { untilDone } from '../../../work/backoff.ts';

/** Short: when the database is back, others wait for the lease of whoever used the old token. */
const BACKOFF = { firstMs: 500, maxMs: 2_000, jitter: 0.3 };

export class UnstoredTokens implements AsyncDisposable {
  readonly #log: Log;
  readonly #stopping = new AbortController();
  /** By connection. */
  readonly #storing = new Map<string, Promise<void>>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Stores it until that succeeds, or the process stops: its next start does so then. */
  add(connectionId: string, store: () => Promise<void>): void {
    if (this.#storing.has(connectionId)) return;
    this.#log.warn({ connectionId }, 'token_journal.waiting');
    const { signal } = this.#stopping;
    const storing = untilDone(store, { backoff: BACKOFF, signal }).finally(() =>
      this.#storing.delete(connectionId),
    );
    this.#storing.set(connectionId, storing);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#storing.values());
  }
}
