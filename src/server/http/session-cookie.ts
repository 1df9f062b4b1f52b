/** The cookie of the console's session. */
import type { IncomingHttpHeaders } from 'node:http';
import type { Config } from '../../config.ts';
import type { SessionCredential } from '../../domain/viewer/console-session.ts';
import { HOUR_MS } from '../../work/durations.ts';
import { createCookie } from './cookies.ts';
import type { Cors } from './cors.ts';

export interface SessionCookie {
  /** Returns the session that the request's cookie names. Null without the cookie. */
  find(headers: IncomingHttpHeaders): SessionCredential | null;
  /** Returns the header that stores the session in the browser. */
  set(secret: string): string;
  /** Returns the header that removes the session from the browser. */
  remove(): string;
}

type CookieConfig = Pick<Config, 'PUBLIC_URL' | 'CONSOLE_SESSION_HOURS'>;

/**
 * The cookie is `Strict`, so that browsers omit it even when a link on another site leads to the gateway. The console
 * needs it only in requests of its own pages.
 */
export function createSessionCookie(
  config: CookieConfig,
  { isFromOwnPage }: Pick<Cors, 'isFromOwnPage'>,
): SessionCookie {
  const cookie = createCookie(config, { name: 'console-session', sameSite: 'Strict' });
  return {
    find(headers) {
      const secret = cookie.read(headers.cookie);
      return secret === null ? null : { secret, isFromOwnPage: isFromOwnPage(headers) };
    },
    set: (secret) => cookie.serialize(secret, config.CONSOLE_SESSION_HOURS * HOUR_MS),
    remove: () => cookie.serialize('', 0),
  };
}
