/**
 * Calls other servers. No other module does. HTTP requests go through `send` or `stream`, gRPC calls through a client of
 * `openGrpc`. The client connects to permitted addresses only, follows no redirects, and limits time, size and sockets.
 */
import type { Client as GrpcClient } from '@grpc/grpc-js';
import { SpanKind } from '@opentelemetry/api';
import { type buildConnector, Client } from 'undici';
import { findCurrentTraceparent, inSpan } from '../kernel/spans.ts';
import { createConnector, type Lookup, listPermittedAddresses } from './connector.ts';
import { Exchange, joinHeaders, type OutboundRequest, type OutboundResponse } from './exchange.ts';
import { OutboundError } from './outbound-error.ts';
import {
  StreamedExchange,
  type StreamedRequest,
  type StreamedResponse,
} from './streamed-exchange.ts';

export { joinHeaders };
export type { OutboundResponse, OutboundRequest, StreamedResponse };

/** The maximum number of sockets, and so of concurrent requests: enough for 8 destinations with 8 requests each. */
const SOCKETS_MAX = 64;

export interface OutboundOptions {
  /** Permitted CIDRs outside the public internet. */
  allowedPrivateTargets: readonly string[];
  /** Origins of the gateway's own servers. They are permitted at any address. */
  alwaysAllowedOrigins: () => readonly string[];
  socketsMax?: number;
  /** Replaces the system's resolver, for tests. */
  lookup?: Lookup;
}

export interface Outbound extends AsyncDisposable {
  /** Resolves with every response, whatever its status. Rejects with OutboundError if there is none. */
  send(request: OutboundRequest): Promise<OutboundResponse>;
  /** Like `send`, but resolves when the response begins. The exchange uses a socket until the body ends. */
  stream(request: StreamedRequest): Promise<StreamedResponse>;
  /** Creates a client of the gRPC server at an http or https URL. The caller must close it. Throws OutboundError. */
  openGrpc(url: string): Promise<GrpcClient>;
  /** The number of sockets that are open or opening. */
  readonly openSockets: number;
}

export function createOutbound({
  socketsMax = SOCKETS_MAX,
  ...addressRules
}: OutboundOptions): Outbound {
  const pool = new ConnectionPool(createConnector(addressRules), socketsMax);
  return {
    send: (request) => runExchange(pool, request, (tracedRequest) => new Exchange(tracedRequest)),
    stream: (request) =>
      runExchange(pool, request, (tracedRequest) => new StreamedExchange(tracedRequest)),
    async openGrpc(text) {
      const url = parsePermittedUrl(text);
      const addresses = await listPermittedAddresses(addressRules, url);
      // Loaded on first use, because it would slow down every start.
      const { createGrpcClient } = await import('./grpc-client.ts');
      return createGrpcClient(url, addresses);
    },
    get openSockets() {
      return pool.openCount;
    },
    [Symbol.asyncDispose]: () => pool[Symbol.asyncDispose](),
  };
}

interface Traceable {
  method: string;
  url: string;
  headers: Record<string, string | string[]>;
}

/** Resolves when the response is complete, or has begun for streams. */
async function runExchange<R extends Traceable, A extends { status: number }>(
  pool: ConnectionPool,
  request: R,
  begin: (request: R) => { outcome: Promise<A>; sendOn: Exchange['sendOn'] },
): Promise<A> {
  const url = parsePermittedUrl(request.url);
  return sendTraced(request, url, (tracedRequest) => {
    const exchange = begin(tracedRequest);
    pool.run(url.origin, (client) => exchange.sendOn(client, url.pathname + url.search));
    return exchange.outcome;
  });
}

/**
 * Sends the request in a span of the trace, with a `traceparent` header. The span has only the host of the URL, because
 * a path or query may contain credentials and data.
 */
function sendTraced<R extends Traceable, A extends { status: number }>(
  request: R,
  { hostname, port, protocol }: URL,
  send: (request: R) => Promise<A>,
): Promise<A> {
  const { method } = request;
  const attributes = {
    'http.request.method': method,
    'server.address': hostname,
    'server.port': Number(port) || (protocol === 'https:' ? 443 : 80),
  };
  return inSpan(method, { kind: SpanKind.CLIENT, attributes }, async (span) => {
    const traceparent = findCurrentTraceparent();
    const headers = traceparent ? { ...request.headers, traceparent } : request.headers;
    const response = await send({ ...request, headers });
    span.setAttribute('http.response.status_code', response.status);
    return response;
  });
}

function parsePermittedUrl(text: string): URL {
  const url = URL.parse(text);
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw new OutboundError('REFUSED_ADDRESS', 'Only http and https URLs can be called.');
  }
  if (url.username !== '' || url.password !== '') {
    throw new OutboundError(
      'REFUSED_ADDRESS',
      "URLs with a user name or password can't be called.",
    );
  }
  return url;
}

const IDLE_MS = 4_000;
/** The maximum time to keep an idle connection, even if the receiver permits more. */
const IDLE_MS_MAX = 30_000;

interface Connection {
  origin: string;
  client: Client;
}

/** An exchange on a connection. It never throws, and returns true if the connection can be reused. */
type ConnectionWork = (client: Client) => Promise<boolean>;

/**
 * A pool of keep-alive connections with a limit. A request uses a connection exclusively. Requests over the limit wait in
 * order. An idle connection is closed if another origin needs its slot.
 */
class ConnectionPool implements AsyncDisposable {
  readonly #connect: buildConnector.connector;
  readonly #limit: number;
  readonly #connections = new Set<Connection>();
  /** In order of last use, oldest first. */
  readonly #idle = new Set<Connection>();
  readonly #queue: { origin: string; work: ConnectionWork }[] = [];

  constructor(connect: buildConnector.connector, limit: number) {
    this.#connect = connect;
    this.#limit = limit;
  }

  /** The number of connections: in use, opening, or idle. */
  get openCount(): number {
    return this.#connections.size;
  }

  /** Runs the work on a connection to the origin, immediately or when a connection becomes free. */
  run(origin: string, work: ConnectionWork): void {
    const connection = this.#takeIdle(origin) ?? this.#openConnection(origin);
    if (connection) void this.#use(connection, work);
    else this.#queue.push({ origin, work });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#queue.length = 0;
    await Promise.all([...this.#connections].map((connection) => this.#close(connection)));
  }

  async #use(connection: Connection, work: ConnectionWork): Promise<void> {
    const isReusable = await work(connection.client);
    const isOpen = this.#connections.has(connection) && connection.client.stats.connected;
    if (isReusable && isOpen) this.#idle.add(connection);
    else void this.#close(connection);
    const nextRequest = this.#queue.shift();
    if (nextRequest) this.run(nextRequest.origin, nextRequest.work);
  }

  /** Takes the origin's most recently used idle connection, because the server is least likely to close it. */
  #takeIdle(origin: string): Connection | undefined {
    const connection = [...this.#idle].findLast((idle) => idle.origin === origin);
    if (connection) this.#idle.delete(connection);
    return connection;
  }

  #openConnection(origin: string): Connection | undefined {
    if (this.#connections.size >= this.#limit) {
      const [longestIdle] = this.#idle;
      if (!longestIdle) return undefined;
      void this.#close(longestIdle);
    }
    const client = new Client(origin, {
      connect: this.#connect,
      allowH2: false,
      keepAliveTimeout: IDLE_MS,
      keepAliveMaxTimeout: IDLE_MS_MAX,
      // The exchange has its own time limit.
      headersTimeout: 0,
      bodyTimeout: 0,
    });
    const connection = { origin, client };
    client.on('disconnect', () => {
      if (this.#idle.has(connection)) void this.#close(connection);
    });
    this.#connections.add(connection);
    return connection;
  }

  #close(connection: Connection): Promise<void> {
    this.#connections.delete(connection);
    this.#idle.delete(connection);
    return connection.client.destroy();
  }
}
