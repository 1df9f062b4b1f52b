import { SandboxRefusal } from './sandbox-refusal.ts';
import type { Settings } from './settings.ts';

/** A token bucket that refills continuously and holds at most one second of requests. */
export class RateLimit {
  readonly #settings: Settings;
  readonly #now: () => Date;
  #tokens = Number.POSITIVE_INFINITY;
  #refilledAtMs = 0;

  constructor(settings: Settings, now: () => Date) {
    this.#settings = settings;
    this.#now = now;
  }

  /** Takes a token. Throws a SandboxRefusal (429) if the bucket is empty. */
  takeToken(): void {
    const { requestsPerSecond } = this.#settings;
    const nowMs = this.#now().getTime();
    const tokens = this.#tokens + ((nowMs - this.#refilledAtMs) / 1_000) * requestsPerSecond;
    this.#tokens = Math.min(tokens, Math.max(1, requestsPerSecond));
    this.#refilledAtMs = nowMs;
    if (this.#tokens < 1) {
      const waitSeconds = Math.ceil((1 - this.#tokens) / requestsPerSecond);
      const message = `More than ${requestsPerSecond} requests in a second`;
      const headers = { 'retry-after': String(waitSeconds) };
      throw new SandboxRefusal(429, { code: 'rate_limited', message }, headers);
    }
    this.#tokens -= 1;
  }
}
