/** Functions that the pages of an OAuth connect share: their context, their opener and the cookie of the browser. */
import type { FastifyInstance, FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import type { Services } from '../domain/call.ts';
import { isBrowserSecret } from '../domain/connection/consent/connect-ticket.ts';
import { LIFETIME_MS } from '../domain/connection/oauth-connect.ts';
import { DomainError, ServiceUnavailable } from '../errors.ts';
import { createCustomerPages } from './customer-pages.ts';
import { type Cookie, createCookie } from './http/cookies.ts';

/** Makes a context hide its URLs, which contain secrets, from other sites, and respond to errors with pages. */
export function prepareOAuthPages(scope: FastifyInstance, { log }: Pick<Services, 'log'>): void {
  scope.addHook('onRequest', (_request, reply, done) => {
    reply.header('referrer-policy', 'no-referrer');
    done();
  });
  scope.setErrorHandler((error, _request, reply) => {
    const pages = createCustomerPages(reply, null);
    const isLimited = error instanceof DomainError && 'limit' in error.extra;
    if (isLimited || error instanceof ServiceUnavailable) {
      const { status, retryAfterSeconds } = error.problem;
      reply.header('retry-after', String(retryAfterSeconds));
      return pages.sendFailure(status, [pages.messages.serviceUnavailable]);
    }
    log.error({ error }, 'connect.failed');
    return pages.sendFailure(500, [pages.messages.ourFault]);
  });
}

export function readQuery({ url }: FastifyRequest): URLSearchParams {
  return new URL(url, 'http://localhost').searchParams;
}

/** Lists the origins of pages that may open a connect in a window: the operator's and the project's. */
export function listOpenerOrigins(
  { CORS_ORIGINS, REDIRECT_ORIGINS }: Pick<Config, 'CORS_ORIGINS' | 'REDIRECT_ORIGINS'>,
  projectOrigins: readonly string[] = [],
): string[] {
  return [...new Set([...CORS_ORIGINS, ...REDIRECT_ORIGINS, ...projectOrigins])];
}

/**
 * Creates the cookie with a browser's secret. All connects of a browser share it, so that several can run concurrently.
 * It is `Lax`, because the provider's site redirects the browser to the callback.
 */
export function createBrowserCookie(config: Config): Cookie {
  return createCookie(config, { name: 'oauth-browser', sameSite: 'Lax', lifetimeMs: LIFETIME_MS });
}

/** Returns the secret of the browser that sent the request. Null if it has none. */
export function findBrowserSecret(cookie: Cookie, { headers }: FastifyRequest): string | null {
  const secret = cookie.read(headers.cookie);
  return isBrowserSecret(secret) ? secret : null;
}
