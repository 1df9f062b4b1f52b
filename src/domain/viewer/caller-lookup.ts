/**
 * Finds the caller of a request. Cached callers never wait. An address that has sent too many wrong keys is not blocked,
 * because legitimate callers may share it. Its other credentials are looked up a few at a time, and wrong credentials
 * are rejected with a time to retry.
 */
import type { Config } from '../../config.ts';
import { DomainError, ERROR_STATUS, rateLimited } from '../../errors.ts';
import { inSpan } from '../../spans.ts';
import { createTokenBuckets } from '../../work/token-buckets.ts';
import type { Services } from '../call.ts';
import type { BearerVerifier } from './bearer.ts';
import { toNetwork } from './network.ts';
import type { RequestSlot } from './share/request-slot.ts';
import {
  authenticate,
  type Credentials,
  findCachedViewer,
  toCredentialKey,
  type Viewer,
} from './viewer.ts';

/**
 * Limits lookups for addresses with too many wrong keys to 500 per second: 25 in each turn of 50 ms. With at most 250
 * waiting lookups, a valid key waits at most half a second.
 */
const TURN_MS = 50;
const TURN_SIZE = 25;
const WAITING_MAX = 250;
/**
 * The maximum share of LIMIT_REQUESTS that waiting lookups may use. They count as requests, and the rest is reserved for
 * other callers.
 */
const WAITING_SHARE = 0.25;

/**
 * Returns the caller, or null without credentials. Throws UNAUTHENTICATED for wrong credentials, RATE_LIMITED after too
 * many of them, and SERVICE_UNAVAILABLE if too many requests of unknown callers come from one network.
 */
type CallerLookup = (
  credentials: Credentials,
  sender: { address: string; slot?: RequestSlot | undefined },
) => Promise<Viewer | null>;

export function createCallerLookup(
  services: Services,
  verifier: BearerVerifier,
  { WRONG_KEY_LIMIT_PER_MINUTE, LIMIT_REQUESTS }: Config,
): CallerLookup {
  const wrongKeys = createTokenBuckets(
    { perSecond: WRONG_KEY_LIMIT_PER_MINUTE / 60, burst: WRONG_KEY_LIMIT_PER_MINUTE },
    () => performance.now(),
  );
  const queue = createWaitingQueue({
    turnMs: TURN_MS,
    turnSize: TURN_SIZE,
    waitingMax: Math.ceil(Math.min(WAITING_MAX, LIMIT_REQUESTS * WAITING_SHARE)),
  });
  const lookUp = async (credential: string, credentials: Credentials, address: string) => {
    const network = toNetwork(address);
    if (!services.viewers.findStale(credential) && wrongKeys.getWaitSeconds(network) > 0) {
      const hasTurn = await queue.waitForTurn(network);
      if (!hasTurn) throw createWrongKeysError(services, wrongKeys.getWaitSeconds(network));
    }
    try {
      return await authenticate(services, verifier, credentials);
    } catch (error) {
      if (!(error instanceof DomainError) || ERROR_STATUS[error.code] !== 401) throw error;
      services.viewers.delete(credential);
      const { waitSeconds } = wrongKeys.take(network);
      throw waitSeconds > 0 ? createWrongKeysError(services, waitSeconds) : error;
    }
  };
  return async (credentials, { address, slot }) => {
    const credential = toCredentialKey(credentials);
    const cachedViewer = credential && findCachedViewer(services, credential);
    if (cachedViewer) return cachedViewer;
    // A stale entry identifies the caller, so the request counts by the caller and not by its network.
    const staleViewer = credential && services.viewers.findStale(credential);
    if (staleViewer) slot?.countByCaller(staleViewer);
    else slot?.countByNetwork();
    if (!credential) return null;
    return inSpan('admit', {}, () => lookUp(credential, credentials, address));
  };
}

function createWrongKeysError({ meters }: Services, waitSeconds: number): DomainError {
  meters.limitRefused('wrong_keys');
  const detail =
    'Too many requests with invalid keys or tokens from this address. Try again after Retry-After.';
  return rateLimited(detail, Math.max(1, Math.ceil(waitSeconds)));
}

/** A queue in which names take turns. Each turn admits a few entries. */
interface WaitingQueue {
  /** Resolves to true when the entry is admitted, and to false if the queue overflows and the entry is removed. */
  waitForTurn(name: string): Promise<boolean>;
}

type Admit = (hasTurn: boolean) => void;

interface QueueOptions {
  turnMs: number;
  /** The number of entries that one turn admits. */
  turnSize: number;
  waitingMax: number;
}

export function createWaitingQueue({ turnMs, turnSize, waitingMax }: QueueOptions): WaitingQueue {
  const queuesByName = new Map<string, Admit[]>();
  let waitingCount = 0;
  let isTurnScheduled = false;

  /** Removes the entry of the name that has waited longest. */
  const removeOldest = (name: string): Admit => {
    const queue = queuesByName.get(name) as Admit[];
    const admit = queue.shift() as Admit;
    // The name moves to the end, behind all other names.
    queuesByName.delete(name);
    if (queue.length > 0) queuesByName.set(name, queue);
    waitingCount -= 1;
    return admit;
  };

  const scheduleTurn = () => {
    if (isTurnScheduled || waitingCount === 0) return;
    isTurnScheduled = true;
    setTimeout(runTurn, turnMs);
  };

  const runTurn = () => {
    for (let admittedCount = 0; admittedCount < turnSize && waitingCount > 0; admittedCount += 1) {
      const [name] = queuesByName.keys();
      removeOldest(name as string)(true);
    }
    isTurnScheduled = false;
    scheduleTurn();
  };

  return {
    waitForTurn(name) {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const queue = queuesByName.get(name);
      if (queue) queue.push(resolve);
      else queuesByName.set(name, [resolve]);
      waitingCount += 1;
      // An overflow removes the oldest entry of the name with the most entries. In a flood, the newest entries then have
      // the best chance of a turn.
      if (waitingCount > waitingMax) removeOldest(findLongestQueue(queuesByName))(false);
      scheduleTurn();
      return promise;
    },
  };
}

/** Returns the name with the most entries. */
function findLongestQueue(queuesByName: Map<string, Admit[]>): string {
  let longestName = '';
  let lengthMax = 0;
  for (const [name, { length }] of queuesByName) {
    if (length <= lengthMax) continue;
    longestName = name;
    lengthMax = length;
  }
  return longestName;
}
