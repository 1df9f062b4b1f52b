/** Token buckets in memory, one for each name: a steady rate with room for a burst. */
import { LRUCache } from 'lru-cache';

/** The least recently seen names are dropped: they begin again with a full bucket. */
const NAMES_MAX = 50_000;

/** `count` is of tokens, 1 by default; more than the burst are never there. */
export interface TokenBuckets {
  /** Takes tokens: 0 if there were so many, else the seconds until there are; nothing is taken then. */
  take(name: string, count?: number): number;
  /** The same, with how many are left. */
  spend(name: string, count?: number): Spent;
  /** The same without taking. */
  wait(name: string, count?: number): number;
}

export interface Spent {
  /** Until there are enough, if there were not. */
  waitSeconds: number;
  tokens: number;
}

interface Bucket {
  tokens: number;
  at: number;
}

export function createTokenBuckets(
  { perSecond, burst, max = NAMES_MAX }: { perSecond: number; burst: number; max?: number },
  now: () => number,
): TokenBuckets {
  let buckets: LRUCache<string, Bucket> | undefined;
  const refill = (name: string) => {
    // It takes its memory for all names at once: most buckets of a process are never asked.
    buckets ??= new LRUCache({ max });
    const time = now();
    const known = buckets.get(name);
    // A clock that jumps back must not take tokens away.
    const elapsed = known ? Math.max(0, time - known.at) / 1000 : 0;
    const tokens = known ? Math.min(burst, known.tokens + elapsed * perSecond) : burst;
    const bucket = { tokens, at: time };
    buckets.set(name, bucket);
    return bucket;
  };
  const secondsUntil = (count: number, tokens: number) =>
    tokens >= count ? 0 : (count - tokens) / perSecond;
  const spend = (name: string, count = 1) => {
    const bucket = refill(name);
    const waitSeconds = secondsUntil(count, bucket.tokens);
    if (waitSeconds === 0) bucket.tokens -= count;
    return { waitSeconds, tokens: bucket.tokens };
  };
  return {
    spend,
    take: (name, count) => spend(name, count).waitSeconds,
    wait: (name, count = 1) => secondsUntil(count, refill(name).tokens),
  };
}
