/**
 * The only exit: every HTTP request that the gateway makes to somebody else goes through `send` or `stream`, and
 * every gRPC call through a client of `openGrpc`.
 * It reaches permitted addresses only, follows no redirects, and is bounded in time, size and sockets.
 */
import type { Client as GrpcClient } from '@grpc/grpc-js';
import { SpanKind } from '@opentelemetry/api';
import { currentTraceparent, inSpan } from '../spans.ts';
import { createConnector, type Lookup, permittedAddresses } from './connector.ts';
import { OutboundError } from './error.ts';
import { Exchange, joined, type OutboundRequest, type OutboundResponse } from './exchange.ts';
import { Sockets } from './sockets.ts';
import {
  StreamedExchange,
  type StreamedRequest,
  type StreamedResponse,
} from './streamed-exchange.ts';

export { joined };
export type { OutboundResponse, OutboundRequest, StreamedResponse, StreamedRequest };

/** Sockets, and so requests under way: 8 for each of 8 destinations. */
const SOCKETS_MAX = 64;

export interface OutboundOptions {
  /** CIDRs of addresses outside the public internet that may be reached. */
  allowedPrivateTargets: readonly string[];
  /** Origins that may be reached whatever their address: our own servers. */
  alwaysAllowedOrigins: () => readonly string[];
  socketsMax?: number;
  /** Replaces the system's resolver. */
  lookup?: Lookup;
}

export interface Outbound extends AsyncDisposable {
  /** Resolves for every answer, whatever its status; rejects with OutboundError if none comes. */
  send(request: OutboundRequest): Promise<OutboundResponse>;
  /** The same, resolved as soon as the answer begins; it holds a socket until its body has ended. */
  stream(request: StreamedRequest): Promise<StreamedResponse>;
  /** A client of the gRPC server at an http or https URL; whoever opens it closes it. Throws OutboundError. */
  openGrpc(url: string): Promise<GrpcClient>;
  /** Sockets open or opening. */
  readonly openSockets: number;
}

export function createOutbound({ socketsMax = SOCKETS_MAX, ...rules }: OutboundOptions): Outbound {
  const sockets = new Sockets(createConnector(rules), socketsMax);
  return {
    send: (request) => exchanged(sockets, request, (traced) => new Exchange(traced)),
    stream: (request) => exchanged(sockets, request, (traced) => new StreamedExchange(traced)),
    async openGrpc(text) {
      const url = permittedUrl(text);
      const addresses = await permittedAddresses(rules, url);
      // Loaded only if it is used: it would lengthen every start.
      const { grpcClient } = await import('./grpc-client.ts');
      return grpcClient(url, addresses);
    },
    get openSockets() {
      return sockets.open;
    },
    [Symbol.asyncDispose]: () => sockets[Symbol.asyncDispose](),
  };
}

interface Traceable {
  method: string;
  url: string;
  headers: Record<string, string | string[]>;
}

/** One request, as a part of the trace, until its answer is there or has begun. */
async function exchanged<R extends Traceable, A extends { status: number }>(
  sockets: Sockets,
  request: R,
  begin: (request: R) => { answer: Promise<A>; sendOn: Exchange['sendOn'] },
): Promise<A> {
  const url = permittedUrl(request.url);
  return traced(request, url, (traced) => {
    const exchange = begin(traced);
    sockets.run(url.origin, (client) => exchange.sendOn(client, url.pathname + url.search));
    return exchange.answer;
  });
}

/**
 * Sends the request as a part of the trace, and tells its receiver of it. Of the URL the trace has the host alone:
 * a path or a query may hold credentials and data.
 */
function traced<R extends Traceable, A extends { status: number }>(
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
    const traceparent = currentTraceparent();
    const headers = traceparent ? { ...request.headers, traceparent } : request.headers;
    const response = await send({ ...request, headers });
    span.setAttribute('http.response.status_code', response.status);
    return response;
  });
}

function permittedUrl(text: string): URL {
  const url = URL.parse(text);
  if (url?.protocol !== 'https:' && url?.protocol !== 'http:') {
    throw new OutboundError('REFUSED_ADDRESS', 'Only http and https URLs can be called.');
  }
  if (url.username !== '' || url.password !== '') {
    throw new OutboundError('REFUSED_ADDRESS', 'A URL with a user name or password is not called.');
  }
  return url;
}
