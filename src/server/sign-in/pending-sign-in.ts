/**
 * The cookie with the state of a sign-in while the browser is at the OpenID provider. The callback succeeds only in the
 * browser that began the sign-in (RFC 9700, section 4.7), and unfinished sign-ins need no row in the database.
 */
import { z } from 'zod';
import type { Services } from '../../domain/call.ts';
import { signInChecks } from '../../domain/viewer/openid.ts';
import type { SealedLocation, Vault } from '../../secrets.ts';
import { MINUTE_MS } from '../../work/durations.ts';
import { createCookie } from '../http/cookies.ts';

/** Time for the person to sign in at the provider. */
const LIFETIME_MS = 10 * MINUTE_MS;

const LOCATION: SealedLocation = {
  table: 'ConsoleSession',
  column: 'pendingSignIn',
  row: '',
  projectId: '',
};

const pendingSignIn = z.object({
  issuer: z.string(),
  checks: signInChecks,
  /** The path below the gateway's URL to which the browser returns. */
  returnPath: z.string(),
  expireMs: z.number(),
});
type PendingSignIn = z.output<typeof pendingSignIn>;

export interface PendingSignInCookie {
  set(pending: Omit<PendingSignIn, 'expireMs'>): string;
  /** Null if the browser has none, or it has expired or was changed. */
  find(cookies: string | undefined): PendingSignIn | null;
  remove(): string;
}

export function createPendingSignInCookie({ config, vault, now }: Services): PendingSignInCookie {
  // The provider's site redirects the browser to the callback, so browsers would omit a `Strict` cookie.
  const cookie = createCookie(config, {
    name: 'console-sign-in',
    sameSite: 'Lax',
    lifetimeMs: LIFETIME_MS,
  });
  return {
    set(pending) {
      const expireMs = now().getTime() + LIFETIME_MS;
      return cookie.set(vault.seal(JSON.stringify({ ...pending, expireMs }), LOCATION));
    },
    find(cookies) {
      const sealed = cookie.read(cookies);
      const pending = sealed === undefined ? null : openSealed(vault, sealed);
      return pending && pending.expireMs > now().getTime() ? pending : null;
    },
    remove: cookie.remove,
  };
}

/** Null for a value that this gateway did not seal. */
function openSealed(vault: Vault, sealed: string): PendingSignIn | null {
  try {
    return pendingSignIn.parse(JSON.parse(vault.open(sealed, LOCATION)));
  } catch {
    return null;
  }
}
