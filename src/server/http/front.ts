/** The first to see a request: gives it an id, its line in the log, and to the handler that it is for. */
import type { IncomingMessage, RequestListener } from 'node:http';
import type { Log } from '../../log.ts';
import type { Cors } from './cors.ts';
import { factsOf, type RequestFacts } from './request-facts.ts';
import type { Route } from './routes.ts';

const KEY_PREFIX = '/ik_';
const KEYS = /\/ik_[^/]*/g;

export interface FrontParts {
  log: Log;
  cors: Cors;
  routes: Route[];
}

/** Routes are tried in their order. The last one takes all. */
export function createFront({ log, cors, routes }: FrontParts): RequestListener {
  return (req, res) => {
    const startedAt = performance.now();
    const facts = factsOf(req, res);
    const { requestId, path } = facts;
    res.setHeader('x-request-id', requestId);
    res.setHeader('x-content-type-options', 'nosniff');
    res.once('close', () => {
      const ms = Math.round(performance.now() - startedAt);
      const { method } = req;
      const line = { requestId, method, path: withoutKeys(path), status: res.statusCode, ms };
      log.info(res.writableFinished ? line : { ...line, isCut: true }, 'request');
    });
    const route = routes.find((one) => isFor(one, req, facts));
    if (!route) throw new Error('The last route must take every request.');
    if (route.isForPages && cors.answer(req, res)) return;
    route.handler(req, res, facts);
  };
}

function isFor({ path, takes }: Route, req: IncomingMessage, facts: RequestFacts): boolean {
  return covers(path, facts.path) && (!takes || takes(req, facts));
}

/** `/v1/*` is `/v1` and everything below it; `/*` is everything, also what is no path at all. */
function covers(pattern: string, path: string): boolean {
  if (pattern === '/*') return true;
  if (!pattern.endsWith('/*')) return pattern === path;
  const base = pattern.slice(0, -2);
  return path === base || path.startsWith(`${base}/`);
}

/** REST names API keys by their value too. */
function withoutKeys(path: string): string {
  return path.includes(KEY_PREFIX) ? path.replace(KEYS, '/***') : path;
}
