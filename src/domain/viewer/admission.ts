/** Lets a request in: who is it, and are they within their rate? The same for every way into the gateway. */
import type { Config } from '../../config.ts';
import { DomainError, rateLimited } from '../../errors.ts';
import type { Services } from '../call.ts';
import type { BearerVerifier } from './bearer.ts';
import { OpenStreams } from './open-streams.ts';
import { createTokenBuckets } from './token-buckets.ts';
import { authenticate, type Credentials, type Viewer } from './viewer.ts';

export interface Admission {
  /** Null for a caller without credentials. Throws UNAUTHENTICATED and RATE_LIMITED. */
  admit(credentials: Credentials, address: string): Promise<Viewer | null>;
  /** What stays open after its caller was admitted. */
  streams: OpenStreams;
}

export function createAdmission(
  services: Services,
  verifier: BearerVerifier,
  config: Config,
): Admission {
  const time = () => performance.now();
  const viewers = createTokenBuckets(
    { perSecond: config.RATE_LIMIT_PER_SECOND, burst: config.RATE_LIMIT_BURST },
    time,
  );
  const perMinute = config.WRONG_KEY_LIMIT_PER_MINUTE;
  const wrongKeys = createTokenBuckets({ perSecond: perMinute / 60, burst: perMinute }, time);
  const known = async (credentials: Credentials, address: string) => {
    try {
      return await authenticate(services, verifier, credentials);
    } catch (error) {
      if (error instanceof DomainError && error.code === 'UNAUTHENTICATED') wrongKeys.take(address);
      throw error;
    }
  };
  return {
    streams: new OpenStreams(services, verifier, { most: config.LIMIT_SUBSCRIPTIONS }),
    async admit(credentials, address) {
      refuseUntil(wrongKeys.wait(address), 'Too many wrong keys or tokens from this address.');
      const viewer = await known(credentials, address);
      if (viewer) refuseUntil(viewers.take(viewer.id), 'The rate limit of this caller is reached.');
      return viewer;
    },
  };
}

function refuseUntil(seconds: number, detail: string): void {
  if (seconds > 0) throw rateLimited(detail, Math.ceil(seconds));
}
