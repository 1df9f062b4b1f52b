/** The way for all that is not plain: Yoga's own handler, health, the callback, and a problem document for the rest. */
import { createServerAdapter } from '@whatwg-node/server';
import type { Database } from '../database/database.ts';
import {
  type ErrorCode,
  maskedError,
  type Problem,
  problemOf,
  ServiceUnavailable,
} from '../errors.ts';
import type { Gateway } from '../graphql/gateway.ts';
import type { Log } from '../log.ts';
import type { Asked, Way } from './front.ts';
import type { Load } from './load.ts';
import { CALLBACK_PATH } from './oauth-callback.ts';

export interface Handled {
  log: Log;
  database: Database;
  openGateway: () => Promise<Gateway>;
  oauthCallback: (request: Request) => Promise<Response>;
  load: Load;
  /** Health only, where the process is a worker. */
  isWorkerOnly: boolean;
  /** False until everything that a caller may rely on is there, and while the server stops. */
  isReady: () => boolean;
}

/** Those who ask for it need an answer most when there is too much to do. */
const HEALTH_PATHS = ['/livez', '/readyz'];

/** Takes every request. */
export function createHandler(handled: Handled): Way {
  const adapter = createServerAdapter<Asked>((request, asked) => answer(handled, request, asked));
  return (req, res, asked) => {
    const isHealth = HEALTH_PATHS.includes(asked.path);
    const leave = isHealth ? () => {} : handled.load.enter(res, 'application/problem+json');
    if (leave) adapter(req, res, { ...asked, staysOpen: leave });
    return true;
  };
}

/** What nobody expected leaves as a problem document, with an instance id that the log has too. */
async function answer(handled: Handled, request: Request, asked: Asked): Promise<Response> {
  try {
    return await route(handled, request, asked);
  } catch (error) {
    if (error instanceof ServiceUnavailable) return sent(error.problem);
    return sent(maskedError(handled.log, error, { path: asked.path }).problem);
  }
}

async function route(
  { database, openGateway, oauthCallback, isWorkerOnly, isReady }: Handled,
  request: Request,
  asked: Asked,
): Promise<Response> {
  // Made from the Host header and the request line, which may be anything.
  const url = URL.parse(request.url);
  if (!url) return problem('BAD_USER_INPUT', 'The Host or the path is not usable.');
  if (url.pathname === '/livez') return Response.json({ status: 'live' });
  if (url.pathname === '/readyz') return readiness(database, isReady());
  if (isWorkerOnly) {
    return problem('NOT_FOUND', 'This process is a worker: it answers /livez and /readyz alone.');
  }
  if (url.pathname === '/graphql') {
    const gateway = await openGateway();
    return gateway.fetch(request, asked);
  }
  if (url.pathname === CALLBACK_PATH) return oauthCallback(request);
  return problem('NOT_FOUND', `There is nothing at ${url.pathname}.`);
}

function problem(code: ErrorCode, detail: string): Response {
  return sent(problemOf(code, detail));
}

function sent(problem: Problem): Response {
  const { status, retryAfterSeconds } = problem;
  const headers = {
    'content-type': 'application/problem+json',
    ...(retryAfterSeconds !== undefined && { 'retry-after': `${retryAfterSeconds}` }),
  };
  return Response.json(problem, { status, headers });
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
