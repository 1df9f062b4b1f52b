import { Refusal } from './refusal.ts';
import type { Settings } from './settings.ts';

/** A bucket that holds one second's requests and fills all the time. */
export class RateLimit {
  readonly #settings: Settings;
  readonly #now: () => Date;
  #left = Number.POSITIVE_INFINITY;
  #filledAtMs = 0;

  constructor(settings: Settings, now: () => Date) {
    this.#settings = settings;
    this.#now = now;
  }

  /** Throws a Refusal (429) once the bucket is empty. */
  take(): void {
    const { requestsPerSecond } = this.#settings;
    const nowMs = this.#now().getTime();
    const filled = this.#left + ((nowMs - this.#filledAtMs) / 1_000) * requestsPerSecond;
    this.#left = Math.min(filled, Math.max(1, requestsPerSecond));
    this.#filledAtMs = nowMs;
    if (this.#left < 1) {
      const waitSeconds = Math.ceil((1 - this.#left) / requestsPerSecond);
      const message = `More than ${requestsPerSecond} requests in a second`;
      const headers = { 'retry-after': String(waitSeconds) };
      throw new Refusal(429, { code: 'rate_limited', message }, headers);
    }
    this.#left -= 1;
  }
}
