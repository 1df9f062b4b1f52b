/** Admits a request: it has a known caller who is within its rate. The same for every surface. */
import type { Config } from '../../config.ts';
import { rateLimited } from '../../errors.ts';
import type { Services } from '../call.ts';
import type { BearerVerifier } from './bearer.ts';
import { createCallerLookup } from './caller-lookup.ts';
import { createCallerRates } from './caller-rates.ts';
import { OpenStreams } from './open-streams.ts';
import type { Credentials, Viewer } from './viewer.ts';

export interface Admission {
  /**
   * Null for a caller without credentials. Throws UNAUTHENTICATED and RATE_LIMITED. A known
   * caller gets its rate in headers of every answer.
   */
  admit(
    credentials: Credentials,
    address: string,
    setHeader?: (name: string, value: string) => void,
  ): Promise<Viewer | null>;
  /** What stays open after its caller was admitted. */
  streams: OpenStreams;
}

export function createAdmission(
  services: Services,
  verifier: BearerVerifier,
  config: Config,
): Admission {
  const rates = createCallerRates(config, services.database.rows.query);
  const lookUp = createCallerLookup(services, verifier, config);
  return {
    streams: new OpenStreams(services, verifier, { most: config.LIMIT_SUBSCRIPTIONS }),
    async admit(credentials, address, setHeader) {
      const viewer = await lookUp(credentials, address);
      if (!viewer) return null;
      const spending = rates.spend(viewer.id);
      const spent = spending instanceof Promise ? await spending : spending;
      if (spent.waitSeconds > 0) services.meters.refused('rate');
      setHeader?.('ratelimit-policy', rates.policy);
      setHeader?.('ratelimit', rates.show(spent));
      refuseUntil(
        spent.waitSeconds,
        'The rate limit of this caller is reached. Try again after Retry-After.',
      );
      return viewer;
    },
  };
}

function refuseUntil(seconds: number, detail: string): void {
  if (seconds > 0) throw rateLimited(detail, Math.ceil(seconds));
}
