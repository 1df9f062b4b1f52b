/**
 * Estimates the time of another clock between its readings: the last reading, plus the time that this process's
 * monotonic clock has measured since. This process's wall clock does not matter.
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
   * Reads the other clock. The reading was taken at an unknown moment between request and response, which bounds the
   * offset. An offset within the bounds is kept, so a slow reading does not make it less precise. Throws the error of
   * `read`, and keeps the offset.
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
