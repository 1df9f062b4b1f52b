/**
 * The HTTP of the servers that stand in for third-party services: JSON in, JSON out, every
 * request on record, and failures on demand. What the answers say is each service's own file.
 */
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';

export interface ServedRequest {
  method: string;
  path: string;
  query: URLSearchParams;
  headers: Record<string, string>;
  /** Parsed JSON, or a form's fields; undefined if there was none. */
  body: unknown;
}

export interface ServedResponse {
  status: number;
  headers?: Record<string, string>;
  /** Sent as JSON; a string is sent as it is. */
  body?: unknown;
}

/** An answer in place of the real one, or none: the request is carried out, then the line drops. */
export type ServedFault = ServedResponse | 'DROPPED_CONNECTION';

export interface ProviderServer extends AsyncDisposable {
  url: string;
  /** All requests, in the order in which they came. */
  requests: ServedRequest[];
  /** The next `times` requests fail so. */
  failNext(fault: ServedFault, times?: number): void;
}

export async function startProviderServer(
  answerTo: (request: ServedRequest) => ServedResponse | Promise<ServedResponse>,
): Promise<ProviderServer> {
  const requests: ServedRequest[] = [];
  const faults: { fault: ServedFault; times: number }[] = [];

  const server = createServer(async (incoming, response) => {
    const request = await servedRequest(incoming);
    requests.push(request);
    const fault = nextFault(faults);
    if (fault === 'DROPPED_CONNECTION') {
      await answerTo(request);
      incoming.socket.destroy();
    } else {
      sendResponse(response, fault ?? (await answerTo(request)));
    }
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));

  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`,
    requests,
    failNext: (fault, times = 1) => faults.push({ fault, times }),
    async [Symbol.asyncDispose]() {
      const closed = new Promise((resolve) => server.close(resolve));
      server.closeAllConnections();
      await closed;
    },
  };
}

async function servedRequest(incoming: IncomingMessage): Promise<ServedRequest> {
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
    body: text === '' ? undefined : parsed(text, incoming.headers['content-type']),
  };
}

/** Token requests are forms. */
function parsed(text: string, contentType = ''): unknown {
  return contentType.includes('form')
    ? Object.fromEntries(new URLSearchParams(text))
    : JSON.parse(text);
}

function nextFault(faults: { fault: ServedFault; times: number }[]): ServedFault | undefined {
  const [first] = faults;
  if (!first) return undefined;
  first.times -= 1;
  if (first.times <= 0) faults.shift();
  return first.fault;
}

function sendResponse(response: ServerResponse, { status, headers, body }: ServedResponse): void {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  response.writeHead(status, {
    ...(text !== undefined && { 'content-type': 'application/json;charset=utf-8' }),
    ...headers,
  });
  response.end(text);
}
