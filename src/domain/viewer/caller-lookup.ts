/**
 * Finds the caller of a request. Known and remembered callers never wait. An address that has sent too many wrong keys
 * is not blocked, because legitimate callers may share it. Its unknown credentials are looked up a few at a time, and
 * wrong ones are refused with a time to retry.
 */
import type { Config } from '../../config.ts';
import { DomainError, rateLimited } from '../../errors.ts';
import { inSpan } from '../../spans.ts';
import { createTokenBuckets } from '../../work/token-buckets.ts';
import type { Services } from '../call.ts';
import type { BearerVerifier } from './bearer.ts';
import { toNetwork } from './network.ts';
import type { RequestSlot } from './share/request-slot.ts';
import {
  authenticate,
  type Credentials,
  cachedViewer,
  findCredential,
  type Viewer,
} from './viewer.ts';

/**
 * Lookups of suspicious addresses: 500 a second, with one statement for each turn. A valid key waits at most half a
 * second.
 */
const TURN_MS = 50;
const TURN_MAX = 25;
const WAITING_MAX = 250;
/**
 * Waiting lookups count as requests. They may use at most this part of LIMIT_REQUESTS; the rest is for callers who do
 * not wait.
 */
const WAITING_SHARE = 0.25;

/**
 * Returns null for a caller without credentials. Throws UNAUTHENTICATED, RATE_LIMITED for too many wrong ones, and
 * SERVICE_UNAVAILABLE if too many unknown callers of a network wait.
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
    turnMax: TURN_MAX,
    waitingMax: Math.ceil(Math.min(WAITING_MAX, LIMIT_REQUESTS * WAITING_SHARE)),
  });
  const lookUp = async (credential: string, credentials: Credentials, address: string) => {
    const network = toNetwork(address);
    if (!services.viewers.findStale(credential) && wrongKeys.wait(network) > 0) {
      const hasTurn = await queue.turn(network);
      if (!hasTurn) throw wrongKeysRefusal(services, wrongKeys.wait(network));
    }
    try {
      return await authenticate(services, verifier, credentials);
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'UNAUTHENTICATED') throw error;
      services.viewers.delete(credential);
      const waitSeconds = wrongKeys.take(network);
      throw waitSeconds > 0 ? wrongKeysRefusal(services, waitSeconds) : error;
    }
  };
  return async (credentials, { address, slot }) => {
    const credential = findCredential(credentials);
    const cached = credential && cachedViewer(services, credential);
    if (cached) return cached;
    // A remembered caller is counted individually, not by its network.
    const last = credential && services.viewers.findStale(credential);
    if (last) slot?.admit(last);
    else slot?.enterUnknown();
    if (!credential) return null;
    return inSpan('admit', {}, () => lookUp(credential, credentials, address));
  };
}

function wrongKeysRefusal({ meters }: Services, waitSeconds: number): DomainError {
  meters.limitRefused('wrong_keys');
  const detail =
    'Too many requests with invalid keys or tokens from this address. Try again after Retry-After.';
  return rateLimited(detail, Math.max(1, Math.ceil(waitSeconds)));
}

/** A fair queue. Each turn admits a few entries and serves the names in rotation. */
interface WaitingQueue {
  /** True when the entry is admitted. False if too many wait and its name has more of them than any other. */
  turn(name: string): Promise<boolean>;
}

type Admit = (hasTurn: boolean) => void;

interface QueueOptions {
  turnMs: number;
  /** Entries that one turn admits. */
  turnMax: number;
  waitingMax: number;
}

export function createWaitingQueue({ turnMs, turnMax, waitingMax }: QueueOptions): WaitingQueue {
  const byName = new Map<string, Admit[]>();
  let waiting = 0;
  let hasNextTurn = false;

  /** Removes the entry of the name that has waited longest. */
  const takeFrom = (name: string): Admit => {
    const queue = byName.get(name) as Admit[];
    const admit = queue.shift() as Admit;
    // The next entry of this name follows all other names.
    byName.delete(name);
    if (queue.length > 0) byName.set(name, queue);
    waiting -= 1;
    return admit;
  };

  const planNextTurn = () => {
    if (hasNextTurn || waiting === 0) return;
    hasNextTurn = true;
    setTimeout(nextTurn, turnMs);
  };

  const nextTurn = () => {
    for (let admitted = 0; admitted < turnMax && waiting > 0; admitted += 1) {
      const [name] = byName.keys();
      takeFrom(name as string)(true);
    }
    hasNextTurn = false;
    planNextTurn();
  };

  return {
    turn(name) {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const queue = byName.get(name);
      if (queue) queue.push(resolve);
      else byName.set(name, [resolve]);
      waiting += 1;
      // The oldest entry of the name is refused, not the newest: in a flood, the newest has the better chance of a
      // turn.
      if (waiting > waitingMax) takeFrom(findLongest(byName))(false);
      planNextTurn();
      return promise;
    },
  };
}

function findLongest(byName: Map<string, Admit[]>): string {
  let [longest, most] = ['', 0];
  for (const [name, { length }] of byName) if (length > most) [longest, most] = [name, length];
  return longest;
}
