/** Pages of CORS_ORIGINS may call, with keys and tokens that they have: cookies are never asked for. */
import type { FastifyInstance } from 'fastify';
import type { Config } from '../config.ts';

/** Those beside the ones that every page may read. */
const EXPOSED = 'link, location, ratelimit, ratelimit-policy, retry-after, x-request-id';
const METHODS = 'GET, HEAD, POST, PUT, PATCH, DELETE';
const PREFLIGHT_SECONDS = 600;

export function registerCors(
  app: FastifyInstance,
  { CORS_ORIGINS }: Pick<Config, 'CORS_ORIGINS'>,
): void {
  if (CORS_ORIGINS.length === 0) return;
  app.addHook('onRequest', async ({ method, headers }, reply) => {
    reply.header('vary', 'Origin');
    const { origin } = headers;
    if (origin === undefined || !CORS_ORIGINS.includes(origin)) return;
    reply.header('access-control-allow-origin', origin);
    reply.header('access-control-expose-headers', EXPOSED);
    const isPreflight = method === 'OPTIONS' && 'access-control-request-method' in headers;
    if (!isPreflight) return;
    // Any header: what is forwarded to a provider may need one of its own.
    const asked = headers['access-control-request-headers'];
    if (asked !== undefined) reply.header('access-control-allow-headers', asked);
    reply.header('access-control-allow-methods', METHODS);
    reply.header('access-control-max-age', PREFLIGHT_SECONDS);
    return reply.code(204).send();
  });
}
