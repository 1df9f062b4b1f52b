/** Signs builders in to the console at the local issuer, with one password for all of them. For development only. */
import { hash, timingSafeEqual } from 'node:crypto';
import { z } from 'zod';
import { rateLimited, unauthenticated } from '../../../kernel/errors.ts';
import { createTokenBuckets } from '../../../work/token-buckets.ts';
import type { Services } from '../call.ts';
import { type BearerClaims, hasLocalIssuer, LOCAL_ISSUER } from './bearer.ts';
import { toNetwork } from './network.ts';

export const localSignInInput = z.strictObject({
  email: z.email().max(254).toLowerCase(),
  name: z.string().trim().min(1).max(256).optional(),
  password: z.string().max(1024),
});

/** True if builders can sign in with the password of the local issuer. */
export function hasLocalSignIn({ config }: Pick<Services, 'config'>): boolean {
  return hasLocalIssuer(config) && config.LOCAL_ISSUER_PASSWORD !== undefined;
}

/**
 * Returns the claims of a person, whose subject is the email address, as in `npm run token`. Throws UNAUTHENTICATED for a
 * wrong password, and RATE_LIMITED after too many wrong passwords from one network.
 */
type LocalSignIn = (
  input: z.output<typeof localSignInInput>,
  sender: { address: string },
) => BearerClaims;

export function createLocalSignIn({ config }: Pick<Services, 'config'>): LocalSignIn {
  const perMinute = config.WRONG_KEY_LIMIT_PER_MINUTE;
  const wrongPasswords = createTokenBuckets({ perSecond: perMinute / 60, burst: perMinute }, () =>
    performance.now(),
  );
  return ({ email, name, password }, { address }) => {
    const network = toNetwork(address);
    const waitSeconds = wrongPasswords.getWaitSeconds(network);
    if (waitSeconds > 0) {
      const detail = 'Too many wrong passwords from this address. Try again after Retry-After.';
      throw rateLimited(detail, Math.ceil(waitSeconds));
    }
    const expectedPassword = config.LOCAL_ISSUER_PASSWORD?.reveal();
    if (expectedPassword === undefined || !isEqual(password, expectedPassword)) {
      wrongPasswords.take(network);
      throw unauthenticated('The password is wrong.');
    }
    return {
      iss: LOCAL_ISSUER,
      sub: email,
      email,
      email_verified: true,
      given_name: undefined,
      family_name: undefined,
      name,
    };
  };
}

/** Compares two strings in a time that does not depend on their contents. */
function isEqual(first: string, second: string): boolean {
  return timingSafeEqual(hash('sha256', first, 'buffer'), hash('sha256', second, 'buffer'));
}
