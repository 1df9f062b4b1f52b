/**
 * Finds the caller of a request. Cached callers never wait. An address that has sent too many wrong keys is not blocked,
 * because legitimate callers may share it. Its other credentials are looked up a few at a time, and wrong credentials
 * are rejected with a time to retry.
 */

import { DomainError, ERROR_STATUS, rateLimited } from '../../../kernel/errors.ts';
import { inSpan } from '../../../kernel/spans.ts';
import type { Config } from '../../../settings/config.ts';
import { createTokenBuckets } from '../../../work/token-buckets.ts';
import type { ProviderServices, Services } from '../call.ts';
import type { BearerVerifier } from './bearer.ts';
import {
  authenticate,
  type Credentials,
  findCachedViewer,
  toCredentialKey,
} from './find-viewer.ts';
import { toNetwork } from './network.ts';
import type { RequestSlot } from './share/request-slot.ts';
import type { Viewer } from './viewer.ts';

/**
 * Limits lookups for addresses with too many wrong keys to 500 per second: 25 in each turn of 50 ms. With at most 250
 * waiting lookups, a valid key waits at most half a second.
 */
const TURN_MS = 50;
const TURN_SIZE = 25;
const WAITING_MAX = 250;
/**
 * The maximum share of LIMIT_REQUESTS that waiting lookups may use. They count as requests, and the remaining requests
 * are reserved for other callers.
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
  const queue = new WaitingQueue({
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

function createWrongKeysError({ meters }: ProviderServices, waitSeconds: number): DomainError {
  meters.limitRefused('wrong_keys');
  const detail =
    'Too many requests with invalid keys or tokens from this address. Try again after Retry-After.';
  return rateLimited(detail, Math.max(1, Math.ceil(waitSeconds)));
}

/** A queue in which names take turns, so that a name with many entries does not delay other names. */

interface QueueOptions {
  /** The time between two turns. */
  turnMs: number;
  /** The number of entries that one turn admits. */
  turnSize: number;
  /** The maximum number of waiting entries of all names. */
  waitingMax: number;
}

type Decide = (isAdmitted: boolean) => void;

/** A queue in which names take turns, so that a name with many entries does not delay other names. */
export class WaitingQueue {
  readonly #options: QueueOptions;
  /** The waiting entries by name, in the order in which the names have their turn. */
  readonly #entriesByName = new Map<string, Decide[]>();
  #waitingCount = 0;
  #isTurnScheduled = false;

  constructor(options: QueueOptions) {
    this.#options = options;
  }

  /**
   * Resolves to true when the entry is admitted, and to false if the queue overflows and the entry is removed. An overflow
   * removes the oldest entry of the name with the most entries: in a flood, the newest entries have the best chance of a
   * turn.
   */
  waitForTurn(name: string): Promise<boolean> {
    const { promise, resolve } = Promise.withResolvers<boolean>();
    const entries = this.#entriesByName.get(name);
    if (entries) entries.push(resolve);
    else this.#entriesByName.set(name, [resolve]);
    this.#waitingCount += 1;
    if (this.#waitingCount > this.#options.waitingMax) {
      const decide = this.#takeOldest(this.#getLongestName());
      decide(false);
    }
    this.#scheduleTurn();
    return promise;
  }

  #scheduleTurn(): void {
    if (this.#isTurnScheduled || this.#waitingCount === 0) return;
    this.#isTurnScheduled = true;
    setTimeout(() => this.#runTurn(), this.#options.turnMs);
  }

  #runTurn(): void {
    for (let count = 0; count < this.#options.turnSize && this.#waitingCount > 0; count += 1) {
      const [name] = this.#entriesByName.keys();
      const decide = this.#takeOldest(name as string);
      decide(true);
    }
    this.#isTurnScheduled = false;
    this.#scheduleTurn();
  }

  /** Takes the oldest entry of the name, and moves the name behind all other names. */
  #takeOldest(name: string): Decide {
    const [oldestEntry, ...laterEntries] = this.#entriesByName.get(name) as [Decide, ...Decide[]];
    this.#entriesByName.delete(name);
    if (laterEntries.length > 0) this.#entriesByName.set(name, laterEntries);
    this.#waitingCount -= 1;
    return oldestEntry;
  }

  /** Returns the name with the most entries. */
  #getLongestName(): string {
    let longestName = '';
    let lengthMax = 0;
    for (const [name, { length }] of this.#entriesByName) {
      if (length <= lengthMax) continue;
      longestName = name;
      lengthMax = length;
    }
    return longestName;
  }
}
