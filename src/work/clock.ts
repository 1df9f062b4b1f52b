/**
 * The time of another clock, told without asking it each time: what was read of it, and what a clock of this
 * process that never jumps has counted since. The process's own idea of the date does not matter.
 */

/** A reading that took longer says too little about when it was made. */
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

  /** Reads it again. Throws what reading throws, and goes on as before. */
  async set(): Promise<void> {
    const askedMs = performance.now();
    const timeMs = await this.#read();
    const tripMs = performance.now() - askedMs;
    if (this.#isSet && tripMs > TRIP_MS_MAX) return;
    this.#offsetMs = timeMs - (askedMs + tripMs / 2);
    this.#isSet = true;
  }
}
