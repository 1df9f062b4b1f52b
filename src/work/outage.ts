/** Logs an outage once when it begins, however many failures it causes. */
import type { Log } from '../kernel/log.ts';

interface OutageOptions {
  /** The outage is logged again after this time without a success. */
  repeatMs?: number;
}

export class Outage {
  readonly #log: Log;
  readonly #event: string;
  readonly #repeatMs: number;
  #loggedAtMs: number | null = null;

  constructor(
    log: Log,
    event: string,
    { repeatMs = Number.POSITIVE_INFINITY }: OutageOptions = {},
  ) {
    this.#log = log;
    this.#event = event;
    this.#repeatMs = repeatMs;
  }

  get isActive(): boolean {
    return this.#loggedAtMs !== null;
  }

  recordFailure(error: unknown, fields: object = {}): void {
    const nowMs = performance.now();
    if (this.#loggedAtMs !== null && nowMs - this.#loggedAtMs < this.#repeatMs) return;
    this.#loggedAtMs = nowMs;
    this.#log.warn({ err: error, ...fields }, this.#event);
  }

  /** Ends the outage, so that the next failure is logged as a new one. */
  end(): void {
    this.#loggedAtMs = null;
  }

  /** Runs the work, and records its failure or success. Returns undefined if it failed. */
  async watch<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      const result = await work();
      this.end();
      return result;
    } catch (error) {
      this.recordFailure(error);
      return undefined;
    }
  }
}
