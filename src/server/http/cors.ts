/**
 * Which pages may call: those of CORS_ORIGINS, with keys and tokens of their own. Cookies are never used. The
 * same for GraphQL, REST and WebSockets.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Config } from '../../config.ts';

/** Headers of answers beside the ones that every page may read. */
const EXPOSED = 'link, location, ratelimit, ratelimit-policy, retry-after, x-request-id';
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const PREFLIGHT_SECONDS = 600;

export interface Cors {
  /** Sets the headers that let a browser's page read the answer. True for a preflight: it is answered. */
  answer(req: IncomingMessage, res: ServerResponse): boolean;
}

type Origins = Pick<Config, 'CORS_ORIGINS' | 'PUBLIC_URL'>;

export function createCors({ CORS_ORIGINS }: Pick<Origins, 'CORS_ORIGINS'>): Cors {
  if (CORS_ORIGINS.length === 0) return { answer: () => false };
  const origins = new Set(CORS_ORIGINS);
  return {
    answer({ method, headers }, res) {
      const vary = res.getHeader('vary');
      res.setHeader('vary', vary === undefined ? 'Origin' : `${vary}, Origin`);
      const { origin } = headers;
      if (origin === undefined || !origins.has(origin)) return false;
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
    },
  };
}

/**
 * Whether a page may open a WebSocket. Browsers let any page open one to anywhere, and leave it to the
 * server to refuse: pages of CORS_ORIGINS may, and the gateway's own.
 */
export function mayOpenSocket(
  { origin, host }: IncomingMessage['headers'],
  { CORS_ORIGINS, PUBLIC_URL }: Origins,
): boolean {
  if (origin === undefined || CORS_ORIGINS.includes(origin)) return true;
  if (!URL.canParse(origin)) return false;
  return new URL(origin).host === host || (!!PUBLIC_URL && new URL(PUBLIC_URL).origin === origin);
}
