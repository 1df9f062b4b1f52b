/** Admits requests on every surface: identifies the caller and limits its rate. */

import { type RunStatement, sqlStatement } from '../../../database/statements/statements.ts';
import { DomainError, forbidden } from '../../../kernel/errors.ts';
import type { Config } from '../../../settings/config.ts';
import { createTokenBuckets, type TakeResult } from '../../../work/token-buckets.ts';
import type { Services } from '../call.ts';
import type { BearerVerifier } from './bearer.ts';
import { createCallerLookup } from './caller-lookup.ts';
import type { Credentials } from './find-viewer.ts';
import { OpenResultStreams } from './open-result-streams.ts';
import { isPageKey } from './scopes.ts';
import type { RequestSlot } from './share/request-slot.ts';
import type { Viewer } from './viewer.ts';

/** The maximum length of an origin that an error repeats, in characters. */
const ORIGIN_LENGTH_MAX = 100;

export interface Admission {
  /**
   * Returns the caller, or null without credentials. Throws UNAUTHENTICATED, RATE_LIMITED, and FORBIDDEN for credentials
   * that a page may not send. Adds the caller's remaining rate to the headers of the response.
   */
  admit(credentials: Credentials, sender: Sender): Promise<Viewer | null>;
  /**
   * Takes additional requests from the rate of an admitted caller, for an expensive operation or a message of a WebSocket.
   * Throws RATE_LIMITED. Returns a promise only if rates are kept in the database.
   */
  spend(viewer: Viewer, requests: number, sender: HeaderSetter): Promise<void> | void;
  /** The open streams of admitted callers. */
  streams: OpenResultStreams;
}

/** The sender of a request. */
interface Sender {
  /** The client's IP address. */
  address: string;
  /** The slot of the request, if it already has one. */
  slot?: RequestSlot | undefined;
  /** The origin of the sending page, if it is neither the gateway's own nor the operator's. */
  page?: string | null | undefined;
  /** True for an operation of a WebSocket, whose messages count in the rate instead of its operations. */
  isOnSocket?: boolean | undefined;
  /** Sets a header of the response. Absent if there is no response with headers. */
  setHeader?: ((name: string, value: string) => void) | undefined;
}

type HeaderSetter = Pick<Sender, 'setHeader'>;

export function createAdmission(
  services: Services,
  verifier: BearerVerifier,
  config: Config,
): Admission {
  const rates = createCallerRates(config, services.database.run);
  const lookUp = createCallerLookup(services, verifier, config);
  const settle = (result: TakeResult, { setHeader }: HeaderSetter) => {
    setHeader?.('ratelimit-policy', rates.policy);
    setHeader?.('ratelimit', rates.formatRemaining(result));
    if (result.waitSeconds <= 0) return;
    services.meters.limitRefused('rate');
    throw createRateError(result.waitSeconds);
  };
  const spend = ({ id }: Viewer, requests: number, sender: HeaderSetter) => {
    const result = rates.spend(id, requests);
    if (!(result instanceof Promise)) return settle(result, sender);
    return result.then((sharedResult) => settle(sharedResult, sender));
  };
  return {
    spend: (viewer, requests, sender) => {
      // The request itself took one token of the burst, so an operation takes at most the other tokens of a full burst.
      const count = Math.min(requests, config.RATE_LIMIT_BURST - 1);
      if (count > 0) return spend(viewer, count, sender);
    },
    streams: new OpenResultStreams(services, verifier),
    async admit(credentials, { address, slot, page, isOnSocket, setHeader }) {
      rejectForeignConsoleSession(credentials);
      const viewer = await lookUp(credentials, { address, slot });
      if (!viewer) return null;
      rejectForeignPage(viewer, page);
      if (!isOnSocket) await spend(viewer, 1, { setHeader });
      return viewer;
    },
  };
}

/**
 * Throws FORBIDDEN for credentials that a page of another origin must not send. Such pages may send only tokens of end
 * users and page keys. `page` is the origin of a page that is neither the gateway's own nor the operator's.
 */
function rejectForeignPage(viewer: Viewer, page: string | null | undefined): void {
  if (page == null) return;
  const origin = page.slice(0, ORIGIN_LENGTH_MAX);
  if (viewer.kind === 'BUILDER' || (viewer.kind === 'API_KEY' && !isPageKey(viewer.scopes))) {
    const credential = viewer.kind === 'API_KEY' ? 'This API key' : "A builder's token";
    throw forbidden(
      `${credential} is not accepted from a web page. Use an end user's token (createSessionToken creates one) or an API key whose only scope is frontend. If ${origin} is an origin of the operator, CORS_ORIGINS of the server may contain it.`,
    );
  }
  if (viewer.allowedOrigins.includes(page)) return;
  throw forbidden(
    `Pages of ${origin} may not call the gateway for this project: it is not in the project's allowedOrigins.`,
  );
}

/**
 * Throws FORBIDDEN for a session that a page of another origin sends. This prevents cross-site request forgery, because
 * browsers add the cookie to requests of every page.
 */
function rejectForeignConsoleSession({ apiKey, authorization, session }: Credentials): void {
  if (apiKey || authorization || !session || session.isFromOwnPage) return;
  throw forbidden(
    "The session of the console is accepted from the gateway's own pages only. Send an API key or a bearer token.",
  );
}

function createRateError(waitSeconds: number): DomainError {
  return new DomainError(
    'RATE_LIMITED',
    'The caller has reached its rate limit. Try again after Retry-After.',
    { limit: 'RATE_LIMIT_PER_SECOND', retryAfterSeconds: Math.ceil(waitSeconds) },
  );
}

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

/**
 * Limits the request rate of each API key, builder and end user by a token bucket. The buckets are in this process's
 * memory, or in the database for all processes together. An expensive operation counts as several requests.
 */
export function createCallerRates(config: RateConfig, run: RunStatement): CallerRates {
  const rate = { perSecond: config.RATE_LIMIT_PER_SECOND, burst: config.RATE_LIMIT_BURST };
  const { perSecond, burst } = rate;
  const inMemory = createTokenBuckets(rate, () => performance.now());
  const isShared = config.RATE_LIMIT_STORE === 'database';
  return {
    // After a pause of `w` seconds the burst is full again.
    policy: `"default";q=${burst};w=${Math.ceil(burst / perSecond)}`,
    spend: isShared
      ? (callerId, requests) => takeShared(run, rate, { callerId, requests })
      : inMemory.take,
    formatRemaining: ({ tokens }) =>
      `"default";r=${Math.floor(tokens)};t=${Math.ceil((burst - tokens) / perSecond)}`,
  };
}

/** Returns SQL for the number of tokens at a time. A time before the last refill adds no tokens. */
const createRefilledSql = (time: string) => `least($2::float8, bucket."tokens" + $3::float8 *
  greatest(0, extract(epoch from ${time} - bucket."refillTime"))::float8)`;

/** Takes tokens and returns the number that remain. Returns no row and changes nothing if there are too few tokens. */
const TAKE_TOKENS = sqlStatement<{ tokens: number }>(`
  insert into "CallerRate" as bucket ("callerId", "tokens", "refillTime")
  values ($1, $2::float8 - $4::float8, clock_timestamp())
  on conflict ("callerId") do update set
    "tokens" = ${createRefilledSql('excluded."refillTime"')} - $4::float8,
    "refillTime" = greatest(bucket."refillTime", excluded."refillTime")
  where ${createRefilledSql('excluded."refillTime"')} >= $4::float8
  returning "tokens"`);

const READ_TOKENS = sqlStatement<{ tokens: number }>(`
  select ${createRefilledSql('clock_timestamp()')} as "tokens"
  from "CallerRate" as bucket where bucket."callerId" = $1`);

/** Takes tokens by the database's clock, which all processes share. */
async function takeShared(
  run: RunStatement,
  { perSecond, burst }: Rate,
  { callerId, requests }: { callerId: string; requests: number },
): Promise<TakeResult> {
  const values = [callerId, burst, perSecond];
  const [row] = await run(TAKE_TOKENS, [...values, requests]);
  if (row) return { waitSeconds: 0, tokens: row.tokens };
  const [bucket] = await run(READ_TOKENS, values);
  const tokens = Math.min(bucket?.tokens ?? 0, requests);
  // The wait is never 0: the requests were refused, even if the bucket has enough tokens by now.
  return { waitSeconds: Math.max((requests - tokens) / perSecond, 0.001), tokens };
}

const DELETE_IDLE_CALLERS = sqlStatement('delete from "CallerRate" where "refillTime" < $1');

/** Deletes the rows of callers whose burst is full again. */
export async function deleteIdleCallers(run: RunStatement, before: Date): Promise<void> {
  await run(DELETE_IDLE_CALLERS, [before]);
}
