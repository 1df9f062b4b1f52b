/**
 * The HTTP of servers that stand in for third-party services. Requests and responses are JSON. Every request
 * is recorded, and tests can make requests fail. The module of each service defines its responses.
 */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { serve } from '../wire/serve.ts';

export interface ServedRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: Record<string, string>;
  /** Parsed JSON, or the fields of a form. Undefined without a body. */
  body: unknown;
}

export interface ServedResponse {
  status: number;
  headers?: Record<string, string>;
  /** Sent as JSON. A string is sent unchanged. */
  body?: unknown;
}

/**
 * A response that replaces the real one. `DROPPED_CONNECTION` executes the request and then closes the
 * connection without a response.
 */
type ServedFault = ServedResponse | 'DROPPED_CONNECTION';

type Serve = (request: ServedRequest) => ServedResponse | Promise<ServedResponse>;

/** Responds to a request in place of the server, which `serve` is. */
export type Intercept = (request: ServedRequest, serve: Serve) => Promise<ServedResponse>;

export interface ProviderServer extends AsyncDisposable {
  url: string;
  /** All requests in the order of their arrival. */
  requests: ServedRequest[];
  /** Makes the next `times` requests fail with this fault. Default: 1. */
  failNext(fault: ServedFault, times?: number): void;
  /** Forgets the requests and the faults. */
  reset(): void;
}

export async function startProviderServer(
  serveRequest: Serve,
  intercept: Intercept = async (request, next) => next(request),
): Promise<ProviderServer> {
  const handle: Serve = (request) => intercept(request, serveRequest);
  const requests: ServedRequest[] = [];
  const faults: { fault: ServedFault; times: number }[] = [];

  const { url, stop } = await serve(async (incoming, response) => {
    const request = await readRequest(incoming);
    requests.push(request);
    const fault = takeFault(faults);
    if (fault === 'DROPPED_CONNECTION') {
      await handle(request);
      incoming.socket.destroy();
    } else {
      sendResponse(response, fault ?? (await handle(request)));
    }
  });
  return {
    url,
    requests,
    failNext: (fault, times = 1) => faults.push({ fault, times }),
    reset() {
      requests.length = 0;
      faults.length = 0;
    },
    [Symbol.asyncDispose]: stop,
  };
}

async function readRequest(incoming: IncomingMessage): Promise<ServedRequest> {
  const chunks: Buffer[] = [];
  for await (const chunk of incoming) chunks.push(chunk);
  const text = Buffer.concat(chunks).toString();
  const { pathname, searchParams } = new URL(incoming.url ?? '/', 'http://server');
  return {
    method: incoming.method ?? '',
    path: pathname,
    query: searchParams,
    headers: Object.fromEntries(
      Object.entries(incoming.headers).map(([name, value]) => [name, String(value)]),
    ),
    body: text === '' ? undefined : parseBody(text, incoming.headers['content-type']),
  };
}

/** Token requests are forms. */
function parseBody(text: string, contentType = ''): unknown {
  return contentType.includes('form')
    ? Object.fromEntries(new URLSearchParams(text))
    : JSON.parse(text);
}

function takeFault(faults: { fault: ServedFault; times: number }[]): ServedFault | undefined {
  const [firstFault] = faults;
  if (!firstFault) return undefined;
  firstFault.times -= 1;
  if (firstFault.times <= 0) faults.shift();
  return firstFault.fault;
}

function sendResponse(response: ServerResponse, { status, headers, body }: ServedResponse): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, {
    ...(text !== undefined && { 'content-type': 'application/json;charset=utf-8' }),
    ...headers,
  });
  response.end(text);
}
