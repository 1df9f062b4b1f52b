/**
 * New tokens that could not be stored because the database was unavailable. They are in the journal, and are stored when
 * the database recovers.
 */
import type { Log } from '../../../../kernel/log.ts';
import { retryUntilDone } from '../../../../work/backoff.ts';

/** The delays are short, because other processes wait for the lease when the database recovers. */
const BACKOFF = { firstMs: 500, maxMs: 2_000, jitter: 0.3 };

export class UnstoredTokens implements AsyncDisposable {
  readonly #log: Log;
  readonly #stopping = new AbortController();
  /** The running work, by connection id. */
  readonly #storing = new Map<string, Promise<void>>();

  constructor(log: Log) {
    this.#log = log;
  }

  /** Retries `store` until it succeeds or the process stops. After a stop, the next start stores the journal. */
  add(connectionId: string, store: () => Promise<void>): void {
    if (this.#storing.has(connectionId)) return;
    this.#log.warn({ connectionId }, 'token.store_delayed');
    const { signal } = this.#stopping;
    const storing = retryUntilDone(store, { backoff: BACKOFF, signal }).finally(() =>
      this.#storing.delete(connectionId),
    );
    this.#storing.set(connectionId, storing);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopping.abort();
    await Promise.all(this.#storing.values());
  }
}
