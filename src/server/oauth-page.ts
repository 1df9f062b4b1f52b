/** Functions that the pages of an OAuth connect share: headers, error pages, the opener and the browser's cookie. */
import type { FastifyRequest } from 'fastify';
import type { Config } from '../config.ts';
import type { Services } from '../domain/call.ts';
import { isBrowserSecret } from '../domain/connection/consent/connect-ticket.ts';
import { LIFETIME_MS } from '../domain/connection/oauth-connect.ts';
import { DomainError, type Problem, ServiceUnavailable } from '../errors.ts';
import { CustomerPages } from './customer-pages.ts';
import { type Cookie, createCookie } from './http/cookies.ts';

/** Headers of pages whose URLs contain secrets: no referrer, no caching. */
const PRIVATE_HEADERS = { 'cache-control': 'no-store', 'referrer-policy': 'no-referrer' };

/** Adds the private headers to a response. Failures become error pages. */
export async function respondPrivately(
  { log }: Pick<Services, 'log'>,
  request: FastifyRequest,
  respond: () => Promise<Response>,
): Promise<Response> {
  const response = await respond().catch((error: unknown) => {
    const pages = new CustomerPages(request, null);
    if (error instanceof ServiceUnavailable) return createRetryPage(pages, error.problem);
    const isLimited = error instanceof DomainError && 'limit' in error.extra;
    if (isLimited) return createRetryPage(pages, error.problem);
    log.error({ error }, 'connect.failed');
    return pages.createFailure(500, [pages.messages.ourFault]);
  });
  for (const [name, value] of Object.entries(PRIVATE_HEADERS)) response.headers.set(name, value);
  return response;
}

function createRetryPage(pages: CustomerPages, { status, retryAfterSeconds }: Problem): Response {
  const response = pages.createFailure(status, [pages.messages.serviceUnavailable]);
  response.headers.set('retry-after', String(retryAfterSeconds));
  return response;
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
function createBrowserCookie({ config }: Pick<Services, 'config'>): Cookie {
  return createCookie(config, { name: 'oauth-browser', sameSite: 'Lax' });
}

/** Returns the secret of the browser that sent the request. Null if it has none. */
export function findBrowserSecret(
  services: Pick<Services, 'config'>,
  { headers }: FastifyRequest,
): string | null {
  const secret = createBrowserCookie(services).read(headers.cookie);
  return secret !== null && isBrowserSecret(secret) ? secret : null;
}

/** Returns the header that sets the cookie of the browser. */
export function formatBrowserCookie(services: Pick<Services, 'config'>, secret: string): string {
  return createBrowserCookie(services).serialize(secret, LIFETIME_MS);
}
