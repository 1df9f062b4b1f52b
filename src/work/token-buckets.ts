/** Token buckets in memory, one for each key: a steady rate with a burst. */
import { LRUCache } from 'lru-cache';
import { growUpTo } from './growing-cache.ts';

/** The maximum number of buckets. The least recently used ones are removed, and start over with all tokens. */
const BUCKETS_MAX = 50_000;

/** `count` is a number of tokens, by default 1. A bucket never has more than the burst. */
export interface TokenBuckets {
  /** Takes tokens. If there are too few, takes none. */
  take(key: string, count?: number): TakeResult;
  /** Returns the seconds until `take` would succeed, without taking tokens. */
  getWaitSeconds(key: string, count?: number): number;
}

export interface TakeResult {
  /** The seconds until there are enough tokens. 0 if they were taken. */
  waitSeconds: number;
  /** The number of tokens that are left. */
  tokens: number;
}

interface Bucket {
  tokens: number;
  refilledAt: number;
}

export function createTokenBuckets(
  { perSecond, burst, max = BUCKETS_MAX }: { perSecond: number; burst: number; max?: number },
  now: () => number,
): TokenBuckets {
  const buckets = new LRUCache<string, Bucket>(growUpTo(max));
  const refill = (key: string) => {
    const time = now();
    const bucket = buckets.get(key);
    if (!bucket) {
      const fullBucket = { tokens: burst, refilledAt: time };
      buckets.set(key, fullBucket);
      return fullBucket;
    }
    // A clock that jumps back must not remove tokens.
    const elapsed = Math.max(0, time - bucket.refilledAt) / 1_000;
    bucket.tokens = Math.min(burst, bucket.tokens + elapsed * perSecond);
    bucket.refilledAt = time;
    return bucket;
  };
  const computeWaitSeconds = (count: number, tokens: number) =>
    tokens >= count ? 0 : (count - tokens) / perSecond;
  return {
    take(key, count = 1) {
      const bucket = refill(key);
      const waitSeconds = computeWaitSeconds(count, bucket.tokens);
      if (waitSeconds === 0) bucket.tokens -= count;
      return { waitSeconds, tokens: bucket.tokens };
    },
    getWaitSeconds: (key, count = 1) => computeWaitSeconds(count, refill(key).tokens),
  };
}
