/**
 * Estimates the time of another clock without a request for each access: the last reading, plus the time that this
 * process's monotonic clock has measured since. The process's own date does not matter.
 */

export class RemoteClock {
  readonly #read: () => Promise<number>;
  #offsetMs = Number.NaN;

  /** `read` returns milliseconds since 1970. */
  constructor(read: () => Promise<number>) {
    this.#read = read;
  }

  now = (): Date => new Date(performance.now() + this.#offsetMs);

  /**
   * Reads the other clock. The reading happened at an unknown moment between request and response. A slow reading moves
   * the offset only if the offset lies outside its bounds. A quick reading determines it precisely. If `read` throws,
   * so does this function, and the offset is kept.
   */
  async sync(): Promise<void> {
    const requestedMs = performance.now();
    const timeMs = await this.#read();
    const lowestMs = timeMs - performance.now();
    const highestMs = timeMs - requestedMs;
    this.#offsetMs = Number.isNaN(this.#offsetMs)
      ? (lowestMs + highestMs) / 2
      : Math.min(Math.max(this.#offsetMs, lowestMs), highestMs);
  }
}
