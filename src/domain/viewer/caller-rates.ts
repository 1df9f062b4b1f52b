/**
 * Limits the request rate of each API key, builder and end user by a token bucket. The buckets are in this process's
 * memory, or in the database for all processes together. An expensive operation counts as several requests.
 */
import type { Config } from '../../config.ts';
import type { RunQuery } from '../../database/rows.ts';
import { createTokenBuckets, type TakeResult } from '../../work/token-buckets.ts';

interface CallerRates {
  /** The limit, in the syntax of the header RateLimit-Policy. */
  policy: string;
  /**
   * Counts all of these requests, or none if too few are left. Returns a promise only if rates are kept in the
   * database.
   */
  spend(callerId: string, requests: number): TakeResult | Promise<TakeResult>;
  /** Formats the remaining requests in the syntax of the header RateLimit. */
  formatRemaining(result: TakeResult): string;
}

type RateConfig = Pick<Config, 'RATE_LIMIT_PER_SECOND' | 'RATE_LIMIT_BURST' | 'RATE_LIMIT_STORE'>;

interface Rate {
  perSecond: number;
  burst: number;
}

export function createCallerRates(config: RateConfig, query: RunQuery): CallerRates {
  const rate = { perSecond: config.RATE_LIMIT_PER_SECOND, burst: config.RATE_LIMIT_BURST };
  const { perSecond, burst } = rate;
  const inMemory = createTokenBuckets(rate, () => performance.now());
  const isShared = config.RATE_LIMIT_STORE === 'database';
  return {
    // After a pause of `w` seconds the burst is full again.
    policy: `"default";q=${burst};w=${Math.ceil(burst / perSecond)}`,
    spend: isShared
      ? (callerId, requests) => takeShared(query, rate, { callerId, requests })
      : inMemory.take,
    formatRemaining: ({ tokens }) =>
      `"default";r=${Math.floor(tokens)};t=${Math.ceil((burst - tokens) / perSecond)}`,
  };
}

/** Returns SQL for the number of tokens at a time. A time before the last refill adds no tokens. */
const createRefilledSql = (time: string) => `least($2::float8, bucket."tokens" + $3::float8 *
  greatest(0, extract(epoch from ${time} - bucket."refillTime"))::float8)`;

/** Takes tokens and returns the number that remain. Returns no row and changes nothing if there are too few tokens. */
const TAKE_TOKENS = `
  insert into "CallerRate" as bucket ("callerId", "tokens", "refillTime")
  values ($1, $2::float8 - $4::float8, clock_timestamp())
  on conflict ("callerId") do update set
    "tokens" = ${createRefilledSql('excluded."refillTime"')} - $4::float8,
    "refillTime" = greatest(bucket."refillTime", excluded."refillTime")
  where ${createRefilledSql('excluded."refillTime"')} >= $4::float8
  returning "tokens"`;

const READ_TOKENS = `
  select ${createRefilledSql('clock_timestamp()')} as "tokens"
  from "CallerRate" as bucket where bucket."callerId" = $1`;

/** Takes tokens by the database's clock, which all processes share. */
async function takeShared(
  query: RunQuery,
  { perSecond, burst }: Rate,
  { callerId, requests }: { callerId: string; requests: number },
): Promise<TakeResult> {
  const values = [callerId, burst, perSecond];
  const [row] = await query<{ tokens: number }>(TAKE_TOKENS, [...values, requests]);
  if (row) return { waitSeconds: 0, tokens: row.tokens };
  const [bucket] = await query<{ tokens: number }>(READ_TOKENS, values);
  const tokens = Math.min(bucket?.tokens ?? 0, requests);
  // The wait is never 0: the requests were refused, even if the bucket has enough tokens by now.
  return { waitSeconds: Math.max((requests - tokens) / perSecond, 0.001), tokens };
}

/** Deletes the rows of callers whose burst is full again. */
export async function deleteIdleCallers(query: RunQuery, before: Date): Promise<void> {
  await query('delete from "CallerRate" where "refillTime" < $1', [before]);
}
