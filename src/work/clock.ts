/**
 * The time of another clock without a request for each reading: its readings, plus what this process's monotonic
 * clock has counted since. The process's own date does not matter.
 */

export class RemoteClock {
  readonly #read: () => Promise<number>;
  #offsetMs = Number.NaN;

  /** `read` gives milliseconds since 1970. */
  constructor(read: () => Promise<number>) {
    this.#read = read;
  }

  now = (): Date => new Date(performance.now() + this.#offsetMs);

  /**
   * Reads it again. It was read at some moment between the question and the answer: a slow reading changes only what it
   * proves wrong, and a quick one says it exactly. Throws what reading throws, and keeps the time as it was then.
   */
  async set(): Promise<void> {
    const askedMs = performance.now();
    const timeMs = await this.#read();
    const least = timeMs - performance.now();
    const most = timeMs - askedMs;
    this.#offsetMs = Number.isNaN(this.#offsetMs)
      ? (least + most) / 2
      : Math.min(Math.max(this.#offsetMs, least), most);
  }
}
