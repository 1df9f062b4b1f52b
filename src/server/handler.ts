/** One handler for every request: health, GraphQL, and a problem document for what isn't there. */
import { randomUUID } from 'node:crypto';
import { createServerAdapter } from '@whatwg-node/server';
import type { Database } from '../database/database.ts';
import { ERROR_STATUS, type ErrorCode, problemOf } from '../errors.ts';
import type { Gateway, RequestFacts } from '../graphql/gateway.ts';
import type { Log } from '../log.ts';
import { CALLBACK_PATH } from './oauth-callback.ts';

/** A client's own request id is taken where it is harmless in a log. */
const REQUEST_ID = /^[\w.-]{1,64}$/;

export interface Handled {
  log: Log;
  database: Database;
  gateway: Gateway;
  oauthCallback: (request: Request) => Promise<Response>;
  /** False until everything that a caller may rely on is there, and while the server stops. */
  isReady: () => boolean;
}

/** What node:http adds to a request; absent where tests call the handler by fetch. */
interface NodeContext {
  req?: { socket: { remoteAddress?: string; destroy(): void } };
}

export type Handler = ReturnType<typeof createHandler>;

export function createHandler(handled: Handled) {
  return createServerAdapter<NodeContext>(async (request, { req }) => {
    const startedAt = performance.now();
    const givenId = request.headers.get('x-request-id');
    const requestId = givenId && REQUEST_ID.test(givenId) ? givenId : randomUUID();
    const address = req?.socket.remoteAddress ?? 'local';
    const disconnect = () => req?.socket.destroy();
    const facts = { requestId, address, disconnect };
    // Made from the Host header and the request line, which may be anything.
    const pathname = URL.parse(request.url)?.pathname ?? null;
    const response = await answer(handled, request, { pathname, facts });
    response.headers.set('x-request-id', requestId);
    response.headers.set('x-content-type-options', 'nosniff');
    handled.log.info(
      {
        requestId,
        method: request.method,
        path: pathname,
        status: response.status,
        ms: Math.round(performance.now() - startedAt),
      },
      'request',
    );
    return response;
  });
}

interface Asked {
  /** Null where the request names no URL. */
  pathname: string | null;
  facts: RequestFacts;
}

/** What nobody expected leaves as a problem document, with an instance id that the log has too. */
async function answer(handled: Handled, request: Request, asked: Asked): Promise<Response> {
  try {
    return await route(handled, request, asked);
  } catch (error) {
    const instance = `urn:uuid:${randomUUID()}`;
    handled.log.error({ err: error, instance, path: asked.pathname }, 'internal error');
    return problem('INTERNAL_ERROR', 'Something went wrong on our side.', { instance });
  }
}

async function route(
  { database, gateway, oauthCallback, isReady }: Handled,
  request: Request,
  { pathname, facts }: Asked,
): Promise<Response> {
  if (pathname === null) return problem('BAD_USER_INPUT', 'The Host or the path is not usable.');
  if (pathname === '/livez') return Response.json({ status: 'live' });
  if (pathname === '/readyz') return readiness(database, isReady());
  if (pathname === '/graphql') return gateway.fetch(request, facts);
  if (pathname === CALLBACK_PATH) return oauthCallback(request);
  return problem('NOT_FOUND', `There is nothing at ${pathname}.`);
}

function problem(code: ErrorCode, detail: string, extra?: Record<string, unknown>): Response {
  const headers = { 'content-type': 'application/problem+json' };
  return Response.json(problemOf(code, detail, extra), { status: ERROR_STATUS[code], headers });
}

async function readiness(database: Database, isReady: boolean): Promise<Response> {
  const reached = await database.ping().then(
    () => true,
    () => false,
  );
  const ok = reached && isReady;
  return Response.json(
    { status: ok ? 'ready' : 'not ready', database: reached ? 'reached' : 'not reached' },
    { status: ok ? 200 : 503 },
  );
}
