/** Admits a request: it has a known caller who is within its rate. The same for every surface. */
import type { Config } from '../../config.ts';
import { rateLimited } from '../../errors.ts';
import type { Services } from '../call.ts';
import type { BearerVerifier } from './bearer.ts';
import { createCallerLookup } from './caller-lookup.ts';
import { createCallerRates } from './caller-rates.ts';
import { refuseForeignPage } from './foreign-page.ts';
import { OpenStreams } from './open-streams.ts';
import type { Credentials, Viewer } from './viewer.ts';

export interface Admission {
  /**
   * Null for a caller without credentials. Throws UNAUTHENTICATED, RATE_LIMITED, and FORBIDDEN for credentials that a
   * page may not send. A known caller gets its rate in headers of every answer.
   */
  admit(credentials: Credentials, sender: Sender): Promise<Viewer | null>;
  /** What stays open after its caller was admitted. */
  streams: OpenStreams;
}

/** Where a request comes from. */
export interface Sender {
  /** The client's address. */
  address: string;
  /** The origin of the page that sends it, if that is neither the gateway's own nor the operator's. */
  page?: string | null | undefined;
  /** A header of the answer, if there is one answer. */
  setHeader?: ((name: string, value: string) => void) | undefined;
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
    async admit(credentials, { address, page, setHeader }) {
      const viewer = await lookUp(credentials, address);
      if (!viewer) return null;
      refuseForeignPage(viewer, page);
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
