/**
 * Decides which web pages may call the gateway. Pages of CORS_ORIGINS may use any credentials. Pages of a project's
 * allowed origins may use tokens of its end users. Only the gateway's own pages may use the cookie of the console.
 * GraphQL, REST, MCP and WebSockets share this rule.
 */
import type { IncomingHttpHeaders } from 'node:http';
import type { FastifyCorsOptions, FastifyCorsOptionsDelegateCallback } from '@fastify/cors';
import type { Config } from '../../settings/config.ts';

/** Response headers that scripts may read besides the CORS-safelisted ones. */
const EXPOSED_HEADERS =
  'link, location, ratelimit, ratelimit-policy, retry-after, www-authenticate, x-request-id';
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const PREFLIGHT_SECONDS = 600;

/** True if any project allows the origin. A preflight request has no token that names a project. */
type IsAllowedAnywhere = (origin: string) => boolean | Promise<boolean>;

type OriginHeaders = Pick<IncomingHttpHeaders, 'origin' | 'host'>;

export interface Cors {
  /**
   * Returns the origin of the page that sends a request, which admission compares with the caller's project. Null for
   * the gateway's own pages, for pages of CORS_ORIGINS, and without an Origin header.
   */
  findForeignPage(headers: OriginHeaders): string | null;
  /**
   * True if a page of the gateway itself sends the request. Browsers omit the origin from some requests of the same
   * origin, which `Sec-Fetch-Site` identifies. False for clients other than browsers.
   */
  isFromOwnPage(headers: IncomingHttpHeaders): boolean;
  options: FastifyCorsOptions;
  /** True if the page may open a WebSocket. Browsers do not restrict WebSockets by origin, so the server must. */
  mayOpenSocket(headers: OriginHeaders): boolean | Promise<boolean>;
}

type CorsConfig = Pick<Config, 'CORS_ORIGINS' | 'PUBLIC_URL'>;

export function createCors(config: CorsConfig, isAllowedAnywhere: IsAllowedAnywhere): Cors {
  const configuredOrigins = new Set(config.CORS_ORIGINS);
  const ownOrigin = config.PUBLIC_URL && new URL(config.PUBLIC_URL).origin;
  const findForeignPage = ({ origin, host }: OriginHeaders): string | null => {
    if (origin === undefined || configuredOrigins.has(origin) || origin === ownOrigin) return null;
    return URL.canParse(origin) && new URL(origin).host === host ? null : origin;
  };
  const isOwnOrigin = (origin: string, host: string | undefined): boolean => {
    if (origin === ownOrigin) return true;
    // A page that the same host serves over HTTP may come from an attacker.
    if (ownOrigin?.startsWith('https:')) return false;
    return host !== undefined && URL.parse(origin)?.host === host;
  };
  const mayRead = (headers: OriginHeaders): boolean | Promise<boolean> => {
    const page = findForeignPage(headers);
    return page === null ? configuredOrigins.has(headers.origin ?? '') : isAllowedAnywhere(page);
  };
  const delegator: FastifyCorsOptionsDelegateCallback = ({ headers }, done) => {
    const decide = (origin: boolean) =>
      done(null, {
        origin,
        methods: METHODS,
        exposedHeaders: EXPOSED_HEADERS,
        maxAge: PREFLIGHT_SECONDS,
        // Routes respond to other OPTIONS requests. For example, a proxied one goes to the provider.
        preflight: 'access-control-request-method' in headers,
      });
    const isAllowed = mayRead(headers);
    if (typeof isAllowed === 'boolean') decide(isAllowed);
    else isAllowed.then(decide, (error: Error) => done(error));
  };
  return {
    findForeignPage,
    isFromOwnPage({ origin, host, 'sec-fetch-site': site }) {
      if (site !== undefined && site !== 'same-origin') return false;
      return origin === undefined ? site === 'same-origin' : isOwnOrigin(origin, host);
    },
    options: { delegator },
    mayOpenSocket(headers) {
      const page = findForeignPage(headers);
      return page === null || isAllowedAnywhere(page);
    },
  };
}
