/** Prepares every request: its id, facts for its handler, common headers, a log line and a span. */
import { randomUUID } from 'node:crypto';
import { type Context, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Services } from '../../domain/call.ts';
import type { SessionCredential } from '../../domain/viewer/console-session.ts';
import type { RequestSlot } from '../../domain/viewer/share/request-slot.ts';
import { createProblem, type Problem } from '../../errors.ts';
import { secondsSince } from '../../meters.ts';
import { beginTrace, failSpan, runInContext } from '../../spans.ts';
import type { ClientAddresses } from './client-address.ts';
import type { Cors } from './cors.ts';
import type { GatewayUrl } from './gateway-url.ts';
import type { SessionCookie } from './session-cookie.ts';

export interface RequestFacts {
  requestId: string;
  /** The client's address. */
  address: string;
  /** `1.1` for HTTP/1.1. */
  httpVersion: string;
  /** The origin of the page that sends the request. Null for the gateway's own pages and those of CORS_ORIGINS. */
  page: string | null;
  /** The URL that the client uses for the gateway, if it differs from `Services.publicUrl`. */
  gatewayUrl: string | null;
  /** The session of the console that the request's cookie names. */
  session: SessionCredential | null;
  /** The path without the query string. */
  path: string;
  /** The project of a request at /graphql/projects/{projectIdOrName}. */
  projectIdOrName?: string | undefined;
  /** Sets a header of the response. A later call with the same name replaces it. */
  setHeader: (name: string, value: string) => void;
  /** Cuts the connection of a client that stopped reading. */
  disconnect: () => void;
  /** Absent until the whole request has arrived. */
  slot?: RequestSlot;
}

declare module 'fastify' {
  interface FastifyRequest {
    facts: RequestFacts;
  }
}

/** A client's request id is used if it is safe in a log. */
const REQUEST_ID = /^[\w.-]{1,64}$/;
/** Paths of health checks, which are not traced. */
const UNTRACED = ['/livez', '/readyz'];

interface Observers extends Pick<Services, 'log' | 'meters' | 'tracer'> {
  addresses: ClientAddresses;
  foreignPage: Cors['foreignPage'];
  gatewayUrl: GatewayUrl;
  sessionCookie: SessionCookie;
}

/** Returns the trace of the request. Its span ends with the response. */
export function beginRequest(observers: Observers, request: FastifyRequest, reply: FastifyReply) {
  const startedAt = performance.now();
  const { log, meters } = observers;
  const { raw: res } = reply;
  request.facts = createFacts(request, reply, observers);
  const { requestId, address, path } = request.facts;
  reply.headers({
    'x-request-id': requestId,
    'x-content-type-options': 'nosniff',
    // Responses may contain credentials, so caches must not store them.
    'cache-control': 'no-store',
  });
  const { method } = request;
  const route = toSurface(path);
  const traced = startTrace(observers, request, route);
  res.once('close', () => {
    const seconds = secondsSince(startedAt);
    const { statusCode: status } = res;
    meters.httpResponded({ method, route, status, seconds });
    const ms = Math.round(seconds * 1_000);
    const line = { requestId, address, method, path: withoutKeys(path), status, ms };
    const level = FILE_OF_PAGE.test(path) && status < 400 ? 'debug' : 'info';
    runInContext(traced, () =>
      log[level](res.writableFinished ? line : { ...line, isCut: true }, 'request.ended'),
    );
    const span = trace.getSpan(traced)?.setAttribute('http.response.status_code', status);
    if (span && status >= 500) failSpan(span, String(status));
    span?.end();
  });
  return traced;
}

function createFacts(
  { raw: req, originalUrl }: FastifyRequest,
  reply: FastifyReply,
  { addresses, foreignPage, gatewayUrl, sessionCookie }: Observers,
): RequestFacts {
  const { headers, httpVersion, socket } = req;
  const clientId = headers['x-request-id'];
  const query = originalUrl.indexOf('?');
  return {
    requestId: typeof clientId === 'string' && REQUEST_ID.test(clientId) ? clientId : randomUUID(),
    address: addresses.find(req),
    httpVersion,
    page: foreignPage(headers),
    gatewayUrl: gatewayUrl(headers),
    session: sessionCookie.find(headers),
    path: query < 0 ? originalUrl : originalUrl.slice(0, query),
    setHeader: (name, value) => void reply.header(name, value),
    disconnect: () => socket.destroy(),
  };
}

/**
 * Starts the trace of a request. The span omits path and query, which may contain keys and names of tenants. Health
 * checks are not traced.
 */
function startTrace(
  { tracer }: Observers,
  { method, headers, facts }: FastifyRequest,
  route: string,
): Context {
  if (!tracer || UNTRACED.includes(route)) return ROOT_CONTEXT;
  const { traceparent } = headers;
  return beginTrace(tracer, {
    name: `${method} ${route}`,
    kind: SpanKind.SERVER,
    parent: typeof traceparent === 'string' ? traceparent : null,
    attributes: {
      'http.request.method': method,
      'http.route': route,
      'gateway.request_id': facts.requestId,
    },
  });
}

/** Masks API keys, which REST accepts as parts of paths. */
function withoutKeys(path: string): string {
  return path.includes('/ik_') ? path.replace(/\/ik_[^/]*/g, '/***') : path;
}

/** Files of the console, the documentation and the REST reference. Each of their pages loads many. */
const FILE_OF_PAGE =
  /^\/(?:console|docs)\/(?:assets\/|[\w-]+\.svg$)|^\/v1\/docs\/static\/|^\/connect\.js$/;

const PAGES = new Set([
  '/graphql',
  '/',
  '/start',
  '/connect',
  '/connect.js',
  '/oauth/connect',
  '/oauth/callback',
  '/session',
  '/sign-in',
  '/sign-in/callback',
  '/sign-in/local',
  ...UNTRACED,
]);
const FOLDERS = ['/graphql', '/v1', '/console', '/docs', '/webhooks', '/problems'];

/** Returns the part of the API or the console that a path belongs to. Metrics have a series for each. */
function toSurface(path: string): string {
  if (PAGES.has(path)) return path;
  const folder = FOLDERS.find(
    (candidate) => path === candidate || path.startsWith(`${candidate}/`),
  );
  return `${folder ?? ''}/*`;
}

/** Returns the refusal of a request that no handler can process. */
export function findRefusal({ raw, headers, originalUrl }: FastifyRequest): Problem | null {
  // HTTP/0.9 has no headers, so its responses can't say what they are.
  if (raw.httpVersion === '0.9') return unsupportedVersion();
  return URL.canParse(`http://${headers.host ?? 'localhost'}${originalUrl}`)
    ? null
    : invalidRequest();
}

const unsupportedVersion = () =>
  createProblem('BAD_USER_INPUT', 'HTTP/0.9 is not supported. Use HTTP/1.1.', { status: 505 });
const invalidRequest = () =>
  createProblem('BAD_USER_INPUT', 'The Host header or the path is not valid HTTP.');
