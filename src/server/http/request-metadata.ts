/** Begins every request: creates its metadata and span, sets the common headers, and logs its end. */
import { randomUUID } from 'node:crypto';
import { type Context, ROOT_CONTEXT, SpanKind, trace } from '@opentelemetry/api';
import type { FastifyReply, FastifyRequest } from 'fastify';
import type { Services } from '../../domain/access/call.ts';
import type { RequestSlot } from '../../domain/access/viewer/share/request-slot.ts';
import { createProblem, type Problem } from '../../kernel/errors.ts';
import { secondsSince } from '../../kernel/meters.ts';
import { beginTrace, failSpan, runInContext } from '../../kernel/spans.ts';
import type { ClientReaders, RequestClient } from './request-client.ts';

export interface RequestMetadata extends RequestClient {
  requestId: string;
  /** `1.1` for HTTP/1.1. */
  httpVersion: string;
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
    metadata: RequestMetadata;
  }
}

/** The form of request ids that are accepted from clients, because they are safe in a log. */
const REQUEST_ID = /^[\w.-]{1,64}$/;
/** Health checks are not traced. */
const UNTRACED_PATHS = ['/livez', '/readyz'];

type Observers = Pick<Services, 'log' | 'meters' | 'tracer'> & Pick<ClientReaders, 'readClient'>;

/** Begins the request and returns the context of its trace. The span ends with the response. */
export function beginRequest(observers: Observers, request: FastifyRequest, reply: FastifyReply) {
  const startedAt = performance.now();
  const { log, meters } = observers;
  const { raw: res } = reply;
  request.metadata = createMetadata(request, reply, observers);
  const { requestId, address, path } = request.metadata;
  reply.headers({
    'x-request-id': requestId,
    'x-content-type-options': 'nosniff',
    // Responses may contain credentials, so caches must not store them.
    'cache-control': 'no-store',
  });
  const { method } = request;
  const route = toSurface(path);
  const traceContext = startTrace(observers, request, route);
  res.on('close', () => {
    request.metadata.slot?.release();
    const seconds = secondsSince(startedAt);
    const { statusCode: status } = res;
    meters.httpResponded({ method, route, status, seconds });
    const fields = {
      requestId,
      address,
      method,
      path: maskKeys(path),
      status,
      durationMs: Math.round(seconds * 1_000),
      ...(!res.writableFinished && { isCut: true }),
    };
    const level = PAGE_FILE.test(path) && status < 400 ? 'debug' : 'info';
    runInContext(traceContext, () => log[level](fields, 'request.ended'));
    const span = trace.getSpan(traceContext)?.setAttribute('http.response.status_code', status);
    if (span && status >= 500) failSpan(span, String(status));
    span?.end();
  });
  return traceContext;
}

function createMetadata(
  { raw: req, originalUrl }: FastifyRequest,
  reply: FastifyReply,
  { readClient }: Observers,
): RequestMetadata {
  const { headers, httpVersion, socket } = req;
  const clientId = headers['x-request-id'];
  const queryStart = originalUrl.indexOf('?');
  return {
    ...readClient(req),
    requestId: typeof clientId === 'string' && REQUEST_ID.test(clientId) ? clientId : randomUUID(),
    httpVersion,
    path: queryStart < 0 ? originalUrl : originalUrl.slice(0, queryStart),
    setHeader: (name, value) => void reply.header(name, value),
    disconnect: () => socket.destroy(),
  };
}

/** Starts the trace of a request. The span omits path and query, which may contain keys and names of tenants. */
function startTrace(
  { tracer }: Observers,
  { method, headers, metadata }: FastifyRequest,
  route: string,
): Context {
  if (!tracer || UNTRACED_PATHS.includes(route)) return ROOT_CONTEXT;
  const { traceparent } = headers;
  return beginTrace(tracer, {
    name: `${method} ${route}`,
    kind: SpanKind.SERVER,
    parent: typeof traceparent === 'string' ? traceparent : null,
    attributes: {
      'http.request.method': method,
      'http.route': route,
      'gateway.request_id': metadata.requestId,
    },
  });
}

/** Masks API keys, which REST accepts as parts of paths. */
function maskKeys(path: string): string {
  return path.includes('/ik_') ? path.replace(/\/ik_[^/]*/g, '/***') : path;
}

/**
 * Files of the console, the documentation and the REST reference. They are logged at debug, because a page loads many.
 */
const PAGE_FILE =
  /^\/(?:console|docs)\/(?:assets\/|[\w-]+\.svg$)|^\/v1\/docs\/static\/|^\/connect\.js$/;

const PAGE_PATHS = new Set([
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
  ...UNTRACED_PATHS,
]);
const PATH_PREFIXES = [
  '/graphql',
  '/v1',
  '/mcp',
  '/.well-known',
  '/console',
  '/docs',
  '/webhooks',
  '/problems',
];

/** Returns the surface to which a path belongs. Metrics have a series for each. */
function toSurface(path: string): string {
  if (PAGE_PATHS.has(path)) return path;
  const folder = PATH_PREFIXES.find(
    (candidate) => path === candidate || path.startsWith(`${candidate}/`),
  );
  return `${folder ?? ''}/*`;
}

/** Returns the reason to refuse a request that no handler can process. Null for any other request. */
export function findRefusal({ raw, headers, originalUrl }: FastifyRequest): Problem | null {
  // A response in HTTP/0.9 has neither a status nor headers.
  if (raw.httpVersion === '0.9') {
    const detail = 'HTTP/0.9 is not supported. Use HTTP/1.1.';
    return createProblem('BAD_USER_INPUT', detail, { status: 505 });
  }
  return URL.canParse(`http://${headers.host ?? 'localhost'}${originalUrl}`)
    ? null
    : createProblem('BAD_USER_INPUT', 'The Host header or the path is not valid HTTP.');
}
