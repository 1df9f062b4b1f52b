/**
 * The time of another clock without a request for each reading: its last reading, plus what this process's
 * monotonic clock has counted since. The process's own date does not matter.
 */

/** A slower reading is too imprecise: nobody knows when in between it was made. */
const TRIP_MS_MAX = 200;

export class RemoteClock {
  readonly #read: () => Promise<number>;
  #offsetMs = 0;
  #isSet = false;

  /** `read` gives milliseconds since 1970. */
  constructor(read: () => Promise<number>) {
    this.#read = read;
  }

  now = (): Date => new Date(performance.now() + this.#offsetMs);

  /** Reads it again. Throws what reading throws, and keeps the last reading then. */
  async set(): Promise<void> {
    const askedMs = performance.now();
    const timeMs = await this.#read();
    const tripMs = performance.now() - askedMs;
    if (this.#isSet && tripMs > TRIP_MS_MAX) return;
    this.#offsetMs = timeMs - (askedMs + tripMs / 2);
    this.#isSet = true;
  }
}
