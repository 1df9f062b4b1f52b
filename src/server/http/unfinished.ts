/**
 * Unfinished input: heads, bodies, and sockets without connection_init. It takes no place of LIMIT_REQUESTS, so
 * that it blocks nobody. Its number and bytes are bounded for each network: what is over the bounds, or comes too
 * slowly, is cut off, the oldest first. A good client's request is whole within moments, and so is never the
 * oldest.
 */

import { openFilesMax } from './open-files.ts';

export interface Unfinished {
  /** The network that it counts for; null if the address stands for many clients. */
  network: string | null;
  /** The most memory that it can fill. */
  bytes: number;
  /** Whether it is whole by now, or gone. */
  isOver(): boolean;
  isSlow(elapsedMs: number): boolean;
  cut(reason: CutReason): void;
}

export type CutReason = 'slow' | 'crowded';

interface Limits {
  /** Of one network. */
  networkMax: number;
  networkBytesMax: number;
  /** Of all networks. */
  allMax?: number;
}

/**
 * Of all networks: less than the process's memory, and few enough that the three rooms leave good clients file
 * descriptors, even if they are full.
 */
const ALL_MAX = 8_000;
const OPEN_FILES_SHARE = 1 / 4;
const ALL_BYTES_MAX = 256 * 1024 * 1024;
const SWEEP_MS = 100;
/**
 * What one sweep adds to the age of all at most. If the server itself stood still, what came meanwhile is not read
 * yet: that time is not the clients'.
 */
const AGED_MAX_MS = 2 * SWEEP_MS;
/** Cutting takes time too: more in one sweep would make good clients wait. */
const CUTS_MAX = 100;
/** The server reads a burst of good clients before it judges them. */
const YOUNG_MS = 1_000;
/** How many of the oldest are looked at for one whose network has more than its share. */
const LOOKS_MAX = 64;

interface Entry {
  one: Unfinished;
  sinceMs: number;
}

interface Sum {
  count: number;
  bytes: number;
}

export class UnfinishedRoom {
  readonly #limits: Required<Limits>;
  /** In the order of their age. */
  readonly #entries = new Map<object, Entry>();
  readonly #sums = new Map<string | null, Sum>();
  #bytes = 0;
  /** The time in which the server could read. */
  #clockMs = 0;
  #isSweeping = false;

  constructor(limits: Limits) {
    const allMax = Math.min(ALL_MAX, Math.floor(openFilesMax() * OPEN_FILES_SHARE));
    this.#limits = { allMax, ...limits };
  }

  enter(key: object, one: Unfinished): void {
    this.#entries.set(key, { one, sinceMs: this.#clockMs });
    this.#count(one, 1);
    const isFull = this.#entries.size > this.#limits.allMax || this.#bytes > ALL_BYTES_MAX;
    if (isFull) this.#makeRoom();
    this.#planSweep();
  }

  /** It is whole, or gone. Nothing happens if it was not there. */
  leave(key: object): void {
    const entry = this.#entries.get(key);
    if (!entry) return;
    this.#entries.delete(key);
    this.#count(entry.one, -1);
  }

  #count({ network, bytes }: Unfinished, sign: 1 | -1): void {
    const sum = this.#sums.get(network) ?? { count: 0, bytes: 0 };
    sum.count += sign;
    sum.bytes += sign * bytes;
    this.#bytes += sign * bytes;
    if (sum.count === 0) this.#sums.delete(network);
    else this.#sums.set(network, sum);
  }

  #planSweep(): void {
    if (this.#isSweeping || this.#entries.size === 0) return;
    this.#isSweeping = true;
    const plannedAt = performance.now();
    setTimeout(() => {
      this.#clockMs += Math.min(performance.now() - plannedAt, AGED_MAX_MS);
      this.#sweep();
      this.#isSweeping = false;
      this.#planSweep();
    }, SWEEP_MS).unref();
  }

  #sweep(): void {
    let cuts = 0;
    for (const [key, { one, sinceMs }] of this.#entries) {
      const reason = one.isOver() ? null : this.#reasonToCut(one, this.#clockMs - sinceMs);
      if (one.isOver()) this.leave(key);
      else if (reason && cuts < CUTS_MAX) {
        this.#cut(key, reason);
        cuts += 1;
      }
    }
  }

  #reasonToCut(one: Unfinished, ageMs: number): CutReason | null {
    if (one.isSlow(ageMs)) return 'slow';
    return ageMs > YOUNG_MS && this.#isCrowded(one.network) ? 'crowded' : null;
  }

  #isCrowded(network: string | null): boolean {
    const sum = this.#sums.get(network);
    if (!sum || network === null) return false;
    return sum.count > this.#limits.networkMax || sum.bytes > this.#limits.networkBytesMax;
  }

  /** Cuts one of those who have waited the longest, whose network has at least its share. */
  #makeRoom(): void {
    const share = this.#entries.size / this.#sums.size;
    let looks = 0;
    for (const [key, { one }] of this.#entries) {
      looks += 1;
      const { count = 0 } = this.#sums.get(one.network) ?? {};
      if (count < share && looks < LOOKS_MAX) continue;
      this.#cut(key, 'crowded');
      return;
    }
  }

  #cut(key: object, reason: CutReason): void {
    const entry = this.#entries.get(key);
    this.leave(key);
    entry?.one.cut(reason);
  }
}
