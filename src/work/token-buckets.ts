/** Token buckets in memory, one for each name: a steady rate with a burst. */
import { LRUCache } from 'lru-cache';

/** The maximum number of names. The least recently used ones are removed, and start over with a full bucket. */
const NAMES_MAX = 50_000;

/** `count` is a number of tokens, by default 1. A bucket never has more than the burst. */
export interface TokenBuckets {
  /** Takes tokens and returns 0. If there are too few, takes none and returns the seconds until there are enough. */
  take(name: string, count?: number): number;
  /** Takes tokens like `take`, and also returns how many are left. */
  spend(name: string, count?: number): SpendResult;
  /** Returns what `take` would return, without taking tokens. */
  getWaitSeconds(name: string, count?: number): number;
}

export interface SpendResult {
  /** Seconds until there are enough tokens, or 0. */
  waitSeconds: number;
  tokens: number;
}

interface Bucket {
  tokens: number;
  refilledAt: number;
}

export function createTokenBuckets(
  { perSecond, burst, max = NAMES_MAX }: { perSecond: number; burst: number; max?: number },
  now: () => number,
): TokenBuckets {
  let buckets: LRUCache<string, Bucket> | undefined;
  const refill = (name: string) => {
    // Allocated on first use, because the cache allocates memory for all names, and most buckets of a process are
    // never used.
    buckets ??= new LRUCache({ max });
    const time = now();
    const existing = buckets.get(name);
    // A clock that jumps back must not remove tokens.
    const elapsed = existing ? Math.max(0, time - existing.refilledAt) / 1000 : 0;
    const tokens = existing ? Math.min(burst, existing.tokens + elapsed * perSecond) : burst;
    const bucket = { tokens, refilledAt: time };
    buckets.set(name, bucket);
    return bucket;
  };
  const computeWaitSeconds = (count: number, tokens: number) =>
    tokens >= count ? 0 : (count - tokens) / perSecond;
  const spend = (name: string, count = 1) => {
    const bucket = refill(name);
    const waitSeconds = computeWaitSeconds(count, bucket.tokens);
    if (waitSeconds === 0) bucket.tokens -= count;
    return { waitSeconds, tokens: bucket.tokens };
  };
  return {
    spend,
    take: (name, count) => spend(name, count).waitSeconds,
    getWaitSeconds: (name, count = 1) => computeWaitSeconds(count, refill(name).tokens),
  };
}
