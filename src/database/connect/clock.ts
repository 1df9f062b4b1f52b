/** The database's clock as a function that needs no statement for each reading. */
import { performance as processClock } from 'node:perf_hooks';
import type { RunQuery } from './run-query.ts';

/** Clocks drift by about a second a day, which is a tenth of a millisecond in this time. */
const CLOCK_MS = 10_000;
const READ_CLOCK = `select (extract(epoch from clock_timestamp()) * 1000)::float8 as "ms"`;

/** Reads the database's clock at an interval. A failed reading keeps the previous time; the next one corrects it. */
export async function followClock(query: RunQuery): Promise<Pick<RemoteClock, 'now'> & Disposable> {
  const clock = new RemoteClock(async () => {
    const [row] = await query<{ ms: number }>(READ_CLOCK, []);
    return row?.ms ?? Number.NaN;
  });
  // The first reading may have waited for a connection.
  await clock.sync();
  await clock.sync();
  const timer = setInterval(() => void clock.sync().catch(() => {}), CLOCK_MS).unref();
  return { now: clock.now, [Symbol.dispose]: () => clearInterval(timer) };
}

/**
 * Estimates the time of another clock between its readings: the last reading, plus the time that this process's
 * monotonic clock has measured since. This process's wall clock does not matter.
 */
export class RemoteClock {
  readonly #read: () => Promise<number>;
  readonly #processClock: Pick<Performance, 'now'>;
  #offsetMs = Number.NaN;

  /** `read` returns milliseconds since 1970. `clock` is the monotonic clock of this process. */
  constructor(read: () => Promise<number>, clock: Pick<Performance, 'now'> = processClock) {
    this.#read = read;
    this.#processClock = clock;
  }

  now = (): Date => new Date(this.#processClock.now() + this.#offsetMs);

  /**
   * Reads the other clock. The reading was taken at an unknown moment between request and response, which bounds the
   * offset. An offset within the bounds is kept, so a slow reading does not make it less precise. Throws the error of
   * `read`, and keeps the offset.
   */
  async sync(): Promise<void> {
    const requestedMs = this.#processClock.now();
    const timeMs = await this.#read();
    const lowestMs = timeMs - this.#processClock.now();
    const highestMs = timeMs - requestedMs;
    this.#offsetMs = Number.isNaN(this.#offsetMs)
      ? (lowestMs + highestMs) / 2
      : Math.min(Math.max(this.#offsetMs, lowestMs), highestMs);
  }
}
