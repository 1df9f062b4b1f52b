/** An outage is one fact, however often it is met: it is logged when it begins. */
import type { Log } from '../log.ts';

export interface OutageOptions {
  /** If no success is seen, it is logged again after this time. */
  repeatMs?: number;
}

export class Outage {
  readonly #log: Log;
  readonly #message: string;
  readonly #repeatMs: number;
  #loggedAtMs: number | null = null;

  /** `message` says what fails. */
  constructor(
    log: Log,
    message: string,
    { repeatMs = Number.POSITIVE_INFINITY }: OutageOptions = {},
  ) {
    this.#log = log;
    this.#message = message;
    this.#repeatMs = repeatMs;
  }

  get isOn(): boolean {
    return this.#loggedAtMs !== null;
  }

  failed(error: unknown, fields: object = {}): void {
    const nowMs = performance.now();
    if (this.#loggedAtMs !== null && nowMs - this.#loggedAtMs < this.#repeatMs) return;
    this.#loggedAtMs = nowMs;
    this.#log.warn({ err: error, ...fields }, this.#message);
  }

  /** What failed works: the next failure is another outage. */
  ended(): void {
    this.#loggedAtMs = null;
  }

  /** Does the work and notes whether it failed; undefined if it did. */
  async watch<T>(work: () => Promise<T>): Promise<T | undefined> {
    try {
      const result = await work();
      this.ended();
      return result;
    } catch (error) {
      this.failed(error);
      return undefined;
    }
  }
}
