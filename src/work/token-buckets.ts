/** Token buckets in memory, one for each name: a steady rate with room for a burst. */
import { LRUCache } from 'lru-cache';

/** The least recently seen names are dropped: they begin again with a full bucket. */
const NAMES_MAX = 50_000;

export interface TokenBuckets {
  /** Takes a token: 0 if there was one, else the seconds until there is one. */
  take(name: string): number;
  /** The same, with how many are left. */
  spend(name: string): Spent;
  /** The same without taking. */
  wait(name: string): number;
}

export interface Spent {
  /** Until there is one, where there was none. */
  waitSeconds: number;
  tokens: number;
}

export function createTokenBuckets(
  { perSecond, burst, max = NAMES_MAX }: { perSecond: number; burst: number; max?: number },
  now: () => number,
): TokenBuckets {
  const buckets = new LRUCache<string, { tokens: number; at: number }>({ max });
  const refill = (name: string) => {
    const time = now();
    const known = buckets.get(name);
    // A clock that jumps back must not take tokens away.
    const elapsed = known ? Math.max(0, time - known.at) / 1000 : 0;
    const tokens = known ? Math.min(burst, known.tokens + elapsed * perSecond) : burst;
    const bucket = { tokens, at: time };
    buckets.set(name, bucket);
    return bucket;
  };
  const secondsUntilOne = (tokens: number) => (tokens >= 1 ? 0 : (1 - tokens) / perSecond);
  const spend = (name: string) => {
    const bucket = refill(name);
    const waitSeconds = secondsUntilOne(bucket.tokens);
    if (waitSeconds === 0) bucket.tokens -= 1;
    return { waitSeconds, tokens: bucket.tokens };
  };
  return {
    spend,
    take: (name) => spend(name).waitSeconds,
    wait: (name) => secondsUntilOne(refill(name).tokens),
  };
}
