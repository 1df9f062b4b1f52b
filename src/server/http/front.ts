/** Takes every request first: gives it an id, logs it, and passes it to its handler. */
import type { IncomingMessage, RequestListener } from 'node:http';
import { type Context, ROOT_CONTEXT, SpanKind, type Tracer, trace } from '@opentelemetry/api';
import type { Log } from '../../log.ts';
import { type Meters, secondsSince } from '../../meters.ts';
import { beginTrace, failSpan, within } from '../../spans.ts';
import type { ClientAddresses } from './client-address.ts';
import type { Cors } from './cors.ts';
import { factsOf, type RequestFacts } from './request-facts.ts';
import type { Route } from './routes.ts';
import type { WatchBody } from './unfinished-bodies.ts';

const KEY_PREFIX = '/ik_';
const KEYS = /\/ik_[^/]*/g;

export interface FrontParts {
  log: Log;
  meters: Meters;
  tracer: Tracer | null;
  addresses: ClientAddresses;
  cors: Cors;
  watchBody: WatchBody;
  routes: Route[];
}

/** Routes are tried in their order. The last one takes every request. */
export function createFront(parts: FrontParts): RequestListener {
  const { log, meters, tracer, addresses, cors, watchBody, routes } = parts;
  return (req, res) => {
    const startedAt = performance.now();
    const facts = factsOf(req, res, { addresses, cors });
    const { requestId, address, path } = facts;
    res.setHeader('x-request-id', requestId);
    res.setHeader('x-content-type-options', 'nosniff');
    // Answers may hold credentials: no cache may keep them.
    res.setHeader('cache-control', 'no-store');
    const route = routes.find((one) => isFor(one, req, facts));
    if (!route) throw new Error('The last route must take every request.');
    const traced = traceOf(tracer, req, { route, requestId });
    res.once('close', () => {
      const seconds = secondsSince(startedAt);
      const ms = Math.round(seconds * 1_000);
      const { method = '' } = req;
      const { statusCode: status } = res;
      meters.httpAnswered({ method, route: route.path, status, seconds });
      const line = { requestId, address, method, path: withoutKeys(path), status, ms };
      within(traced, () =>
        log.info(res.writableFinished ? line : { ...line, isCut: true }, 'request.ended'),
      );
      const span = trace.getSpan(traced)?.setAttribute('http.response.status_code', status);
      if (span && status >= 500) failSpan(span, String(status));
      span?.end();
    });
    if (route.vary) res.setHeader('vary', route.vary);
    const pass = () => {
      watchBody(req, res, facts);
      within(traced, () => route.handler(req, res, facts));
    };
    const isAnswered = route.isForPages === true && cors.answer(req, res);
    if (typeof isAnswered === 'boolean') return isAnswered ? undefined : pass();
    void isAnswered.then((is) => (is ? undefined : pass()));
  };
}

const HEALTH_CHECKS = ['/livez', '/readyz'];

/** Leaves out the path and the query, which may hold keys and a tenant's own names. Health checks have no trace. */
function traceOf(
  tracer: Tracer | null,
  { method = '', headers }: IncomingMessage,
  { route, requestId }: { route: Route; requestId: string },
): Context {
  if (!tracer || HEALTH_CHECKS.includes(route.path)) return ROOT_CONTEXT;
  const { traceparent } = headers;
  return beginTrace(tracer, {
    name: `${method} ${route.path}`,
    kind: SpanKind.SERVER,
    parent: typeof traceparent === 'string' ? traceparent : null,
    attributes: {
      'http.request.method': method,
      'http.route': route.path,
      'gateway.request_id': requestId,
    },
  });
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
