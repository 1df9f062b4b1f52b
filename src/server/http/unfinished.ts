/**
 * Bodies that are not whole yet, and sockets without connection_init. They take no slot of LIMIT_REQUESTS. Slow ones, and
 * those that a network has too many of, are cut, the oldest first: a good client's request is whole within moments.
 */
import { openFilesMax } from './open-files.ts';

export interface Unfinished {
  network: string;
  /** The most memory that it can fill. */
  bytes: number;
  /** True if it is whole by now, or gone. */
  isOver(): boolean;
  isSlow(elapsedMs: number): boolean;
  cut(reason: CutReason): void;
}

export type CutReason = 'slow' | 'crowded';

/** Bounds of all networks. Full rooms leave memory and file descriptors to good clients. */
const ALL_MAX = Math.min(8_000, Math.floor(openFilesMax() / 4));
const ALL_BYTES_MAX = 256 * 1024 * 1024;
const SWEEP_MS = 100;
/** Cutting takes time too: more in one sweep would make good clients wait. */
const CUTS_MAX = 100;
/** The server reads a burst of good clients before it judges them. */
const YOUNG_MS = 1_000;

export class UnfinishedRoom {
  readonly #limits: { networkMax: number; networkBytesMax: number; allMax?: number };
  /** From the oldest to the newest. */
  readonly #entries = new Map<object, Unfinished & { sinceMs: number }>();
  /** Time without standstills of the server, which could not read meanwhile. */
  #clockMs = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(limits: { networkMax: number; networkBytesMax: number; allMax?: number }) {
    this.#limits = limits;
  }

  enter(key: object, one: Unfinished): void {
    const [oldest] = this.#entries.keys();
    if (oldest && this.#entries.size >= (this.#limits.allMax ?? ALL_MAX)) {
      this.#cut(oldest, 'crowded');
    }
    this.#entries.set(key, { ...one, sinceMs: this.#clockMs });
    this.#timer ??= this.#planSweep(performance.now());
  }

  leave(key: object): void {
    this.#entries.delete(key);
  }

  #cut(key: object, reason: CutReason): void {
    const one = this.#entries.get(key);
    this.#entries.delete(key);
    one?.cut(reason);
  }

  #planSweep(plannedAt: number): NodeJS.Timeout {
    return setTimeout(() => {
      this.#clockMs += Math.min(performance.now() - plannedAt, 2 * SWEEP_MS);
      const cuts = this.#findCuts().slice(-CUTS_MAX);
      for (const [key, reason] of cuts.reverse()) this.#cut(key, reason);
      this.#timer = this.#entries.size > 0 ? this.#planSweep(performance.now()) : undefined;
    }, SWEEP_MS).unref();
  }

  /** From the newest to the oldest, so that the oldest are over the bounds. */
  #findCuts(): [object, CutReason][] {
    const { networkMax, networkBytesMax } = this.#limits;
    const sums = new Map<string, { count: number; bytes: number }>();
    const cuts: [object, CutReason][] = [];
    let allBytes = 0;
    for (const [key, one] of [...this.#entries].reverse()) {
      if (one.isOver()) {
        this.#entries.delete(key);
        continue;
      }
      const ageMs = this.#clockMs - one.sinceMs;
      const sum = sums.get(one.network) ?? { count: 0, bytes: 0 };
      sums.set(one.network, sum);
      sum.count += 1;
      sum.bytes += one.bytes;
      allBytes += one.bytes;
      const isOverBounds = sum.count > networkMax || sum.bytes > networkBytesMax;
      if (one.isSlow(ageMs)) cuts.push([key, 'slow']);
      else if (allBytes > ALL_BYTES_MAX || (isOverBounds && ageMs > YOUNG_MS))
        cuts.push([key, 'crowded']);
    }
    return cuts;
  }
}
