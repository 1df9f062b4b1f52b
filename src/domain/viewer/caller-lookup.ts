/**
 * Finds the caller of a request. Callers who are known, or were a while ago, never wait. An address that has sent too
 * many wrong keys is not blocked, because good callers may share it: its unknown credentials are looked up a few at a
 * time, and wrong ones are refused with a time to try again.
 */
import type { Config } from '../../config.ts';
import { DomainError, rateLimited } from '../../errors.ts';
import { inSpan } from '../../spans.ts';
import { createTokenBuckets } from '../../work/token-buckets.ts';
import type { Services } from '../call.ts';
import type { BearerVerifier } from './bearer.ts';
import { networkOf } from './network.ts';
import type { RequestSlot } from './share/request-slot.ts';
import {
  authenticate,
  type Credentials,
  credentialOf,
  knownViewer,
  type Viewer,
} from './viewer.ts';

/** Look-ups of suspects: 500 a second, those of one turn in one statement. A good key waits half a second at most. */
const TURN_MS = 50;
const TURN_MAX = 25;
const WAITING_MAX = 250;
/** Each suspect who waits counts by LIMIT_REQUESTS; the rest of it is for callers who do not wait. */
const PLACES_SHARE = 0.25;

/**
 * Null for a caller without credentials. Throws UNAUTHENTICATED, RATE_LIMITED for too many wrong ones, and
 * SERVICE_UNAVAILABLE if too many unknown callers of a network wait.
 */
export type CallerLookup = (
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
  const line = createWaitingQueue({
    turnMs: TURN_MS,
    turnMax: TURN_MAX,
    waitingMax: Math.ceil(Math.min(WAITING_MAX, LIMIT_REQUESTS * PLACES_SHARE)),
  });
  const lookUp = async (credential: string, credentials: Credentials, address: string) => {
    const network = networkOf(address);
    if (!services.viewers.remembered(credential) && wrongKeys.wait(network) > 0) {
      const hasTurn = await line.turn(network);
      if (!hasTurn) throw tooManyWrong(services, wrongKeys.wait(network));
    }
    try {
      return await authenticate(services, verifier, credentials);
    } catch (error) {
      if (!(error instanceof DomainError) || error.code !== 'UNAUTHENTICATED') throw error;
      services.viewers.delete(credential);
      const waitSeconds = wrongKeys.take(network);
      throw waitSeconds > 0 ? tooManyWrong(services, waitSeconds) : error;
    }
  };
  return async (credentials, { address, slot }) => {
    const credential = credentialOf(credentials);
    const known = credential && knownViewer(services, credential);
    if (known) return known;
    // A caller that was known a while ago counts as itself, and not as one of its network.
    const last = credential && services.viewers.remembered(credential);
    if (last) slot?.admit(last);
    else slot?.enterUnknown();
    if (!credential) return null;
    return inSpan('admit', {}, () => lookUp(credential, credentials, address));
  };
}

function tooManyWrong({ meters }: Services, waitSeconds: number): DomainError {
  meters.refused('wrong_keys');
  const detail = 'Too many wrong keys or tokens from this address. Try again after Retry-After.';
  return rateLimited(detail, Math.max(1, Math.ceil(waitSeconds)));
}

/** A fair queue: each turn admits a few, and each name as often as any other. */
interface WaitingQueue {
  /** True at its turn; false if too many wait and its name has more of them than any other. */
  turn(name: string): Promise<boolean>;
}

type Go = (hasTurn: boolean) => void;

interface LineOptions {
  turnMs: number;
  /** How many are admitted in one turn. */
  turnMax: number;
  waitingMax: number;
}

export function createWaitingQueue({ turnMs, turnMax, waitingMax }: LineOptions): WaitingQueue {
  const byName = new Map<string, Go[]>();
  let waiting = 0;
  let hasNextTurn = false;

  /** The one of the name that has waited the longest. */
  const takeFrom = (name: string): Go => {
    const line = byName.get(name) as Go[];
    const go = line.shift() as Go;
    // The next of this name comes after all other names.
    byName.delete(name);
    if (line.length > 0) byName.set(name, line);
    waiting -= 1;
    return go;
  };

  const planNextTurn = () => {
    if (hasNextTurn || waiting === 0) return;
    hasNextTurn = true;
    setTimeout(nextTurn, turnMs);
  };

  const nextTurn = () => {
    for (let gone = 0; gone < turnMax && waiting > 0; gone += 1) {
      const [name] = byName.keys();
      takeFrom(name as string)(true);
    }
    hasNextTurn = false;
    planNextTurn();
  };

  return {
    turn(name) {
      const { promise, resolve } = Promise.withResolvers<boolean>();
      const line = byName.get(name);
      if (line) line.push(resolve);
      else byName.set(name, [resolve]);
      waiting += 1;
      // The oldest of the name leaves, not the newest: in a flood, the newest has the better chance of a turn.
      if (waiting > waitingMax) takeFrom(longestOf(byName))(false);
      planNextTurn();
      return promise;
    },
  };
}

function longestOf(byName: Map<string, Go[]>): string {
  let [longest, most] = ['', 0];
  for (const [name, { length }] of byName) if (length > most) [longest, most] = [name, length];
  return longest;
}
