/**
 * Delays the next sockets of callers and networks whose sockets were cut or closed early, because opening a socket costs
 * more than most queries.
 */
import { LRUCache } from 'lru-cache';
import { growUpTo } from '../../work/growing-cache.ts';

/** A socket that is closed within this time was closed early. */
export const EARLY_CLOSE_MS = 5_000;
/** The number of sockets of one holder that may close early before its next ones wait. */
const EARLY_CLOSES_MAX = 100;
/** The time between two sockets of a holder that must wait, and the time that one early close costs. */
const SPACE_MS = 20;
/** How much longer a holder waits after each cut. */
const CUT_MS = 1_000;
/** The longest wait. If it is used up, further sockets are refused. */
export const WAIT_MAX_MS = 2_000;
const HOLDERS_MAX = 10_000;

/** A holder is the id of a caller, or a network. */
export class SocketPace {
  /** The time at which the next socket of a holder may open. */
  readonly #openTimes = new LRUCache<string, number>(growUpTo(HOLDERS_MAX));

  /** Counts a socket that was closed early, by either side. */
  recordEarlyClose(holder: string): void {
    const creditMs = EARLY_CLOSES_MAX * SPACE_MS;
    this.#delay(holder, { earliest: performance.now() - creditMs, ms: SPACE_MS });
  }

  /** Counts a socket that the server cut. The next socket of the holder waits at least CUT_MS. */
  recordCut(holder: string): void {
    this.#delay(holder, { earliest: performance.now(), ms: CUT_MS });
  }

  /** Returns the milliseconds that the next socket must wait. Null if too many sockets of the holder wait. */
  reserve(holder: string): number | null {
    const waitMs = (this.#openTimes.get(holder) ?? 0) - performance.now();
    if (waitMs <= 0) return 0;
    if (waitMs >= WAIT_MAX_MS) return null;
    this.#delay(holder, { earliest: 0, ms: SPACE_MS });
    return waitMs;
  }

  #delay(holder: string, { earliest, ms }: { earliest: number; ms: number }): void {
    const openTime = Math.max(this.#openTimes.get(holder) ?? earliest, earliest) + ms;
    this.#openTimes.set(holder, Math.min(openTime, performance.now() + WAIT_MAX_MS));
  }
}
