/**
 * Which pages may call. Those of CORS_ORIGINS, with keys and tokens of their own; those of the origins that a project
 * allows, with tokens of its end users. Cookies are never used. The same for GraphQL, REST and WebSockets.
 */
import type { IncomingHttpHeaders, IncomingMessage, ServerResponse } from 'node:http';
import type { Config } from '../../config.ts';

/** Headers of answers beside the ones that every page may read. */
const EXPOSED = 'link, location, ratelimit, ratelimit-policy, retry-after, x-request-id';
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const PREFLIGHT_SECONDS = 600;

/** Whether any project allows the pages of an origin: a preflight has no token that would name one. */
export type IsAllowedAnywhere = (origin: string) => boolean | Promise<boolean>;

type Headers = Pick<IncomingHttpHeaders, 'origin' | 'host'>;

export interface Cors {
  /**
   * The origin of the page that sends a request; null if it is the gateway's own or one of CORS_ORIGINS, or if it is
   * no page. Admission checks it: the caller's project must allow it.
   */
  foreignPage(headers: Headers): string | null;
  /** Sets the headers that let a browser's page read the answer. True for a preflight: it is answered. */
  answer(req: IncomingMessage, res: ServerResponse): boolean | Promise<boolean>;
  /**
   * Whether a page may open a WebSocket. Browsers let any page open one to anywhere, and leave it to the server to
   * refuse.
   */
  mayOpenSocket(headers: Headers): boolean | Promise<boolean>;
}

type Origins = Pick<Config, 'CORS_ORIGINS' | 'PUBLIC_URL'>;

export function createCors(config: Origins, isAllowedAnywhere: IsAllowedAnywhere): Cors {
  const configured = new Set(config.CORS_ORIGINS);
  const own = config.PUBLIC_URL && new URL(config.PUBLIC_URL).origin;
  const foreignPage = ({ origin, host }: Headers): string | null => {
    if (origin === undefined || configured.has(origin) || origin === own) return null;
    return URL.canParse(origin) && new URL(origin).host === host ? null : origin;
  };
  return {
    foreignPage,
    mayOpenSocket(headers) {
      const page = foreignPage(headers);
      return page === null || isAllowedAnywhere(page);
    },
    answer(req, res) {
      const vary = res.getHeader('vary');
      res.setHeader('vary', vary === undefined ? 'Origin' : `${vary}, Origin`);
      const { origin } = req.headers;
      if (origin === undefined) return false;
      if (configured.has(origin)) return grant(origin, req, res);
      const page = foreignPage(req.headers);
      const isAllowed = page !== null && isAllowedAnywhere(page);
      if (typeof isAllowed === 'boolean') return isAllowed && grant(origin, req, res);
      return isAllowed.then((is) => is && grant(origin, req, res));
    },
  };
}

function grant(origin: string, { method, headers }: IncomingMessage, res: ServerResponse): boolean {
  res.setHeader('access-control-allow-origin', origin);
  res.setHeader('access-control-expose-headers', EXPOSED);
  if (method !== 'OPTIONS' || !('access-control-request-method' in headers)) return false;
  // Any header: what is forwarded to a provider may need one of its own.
  const wanted = headers['access-control-request-headers'];
  if (wanted !== undefined) res.setHeader('access-control-allow-headers', wanted);
  res.setHeader('access-control-allow-methods', METHODS);
  res.setHeader('access-control-max-age', PREFLIGHT_SECONDS);
  res.writeHead(204).end();
  return true;
}
