import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Fault, Faults } from './faults.ts';
import { readBody, type SandboxResponse } from './request.ts';
import { routeRequest, type SandboxRoute } from './router.ts';
import { SandboxRefusal } from './sandbox-refusal.ts';

/** More connections than any test opens. Without a limit, a looping client could use all file handles. */
const CONNECTIONS_MAX = 2_000;
/** Time limit for a request to arrive, which disconnects stalled clients. */
const REQUEST_TIMEOUT_MS = 30_000;

/** Listens for requests. `close` cuts open connections and drops delayed responses. */
export async function listen(options: {
  host: string;
  port: number;
  routes: SandboxRoute[];
  faults: Faults;
}): Promise<{ url: string; close(): Promise<void> }> {
  const closing = new AbortController();
  const server = createServer({ requestTimeout: REQUEST_TIMEOUT_MS }, (incoming, outgoing) => {
    serve(incoming, outgoing, { ...options, closing: closing.signal }).catch(() =>
      // The client disconnected or the server is closing, so no response is possible.
      outgoing.destroy(),
    );
  });
  server.maxConnections = CONNECTIONS_MAX;
  server.listen(options.port, options.host);
  await once(server, 'listening');
  const { address, family, port } = server.address() as AddressInfo;
  const url = `http://${family === 'IPv6' ? `[${address}]` : address}:${port}`;
  async function close() {
    if (!server.listening) return;
    closing.abort();
    const closeEvent = once(server, 'close');
    server.close();
    server.closeAllConnections();
    await closeEvent;
  }
  return { url, close };
}

async function serve(
  incoming: IncomingMessage,
  outgoing: ServerResponse,
  { routes, faults, closing }: { routes: SandboxRoute[]; faults: Faults; closing: AbortSignal },
): Promise<void> {
  const [path = '/'] = (incoming.url ?? '/').split('?');
  const fault = faults.take(incoming.method ?? 'GET', path);
  if (fault?.drop === 'before') {
    incoming.socket.destroy();
    return;
  }
  const response =
    fault?.status === undefined
      ? await createResponse(incoming, path, routes)
      : createFaultResponse(fault);
  if (fault?.delayMs !== undefined) await delay(fault.delayMs, undefined, { signal: closing });
  if (fault?.drop === 'after') incoming.socket.destroy();
  else writeResponse(outgoing, response);
}

async function createResponse(
  incoming: IncomingMessage,
  path: string,
  routes: SandboxRoute[],
): Promise<SandboxResponse> {
  try {
    const body = await readBody(incoming);
    const query = new URLSearchParams((incoming.url ?? '').slice(path.length + 1));
    const { method = 'GET', headers } = incoming;
    return routeRequest(routes, { method, path, query, headers, body, caller: '' });
  } catch (error) {
    if (error instanceof SandboxRefusal) return createRefusalResponse(error);
    // The client disconnected during its request.
    if (incoming.destroyed && !incoming.complete) throw error;
    const message = error instanceof Error ? error.message : String(error);
    return { status: 500, json: { error: { code: 'internal_error', message } } };
  }
}

function createRefusalResponse({ status, problems, headers }: SandboxRefusal): SandboxResponse {
  return { status, headers, json: { error: problems[0], errors: problems } };
}

function createFaultResponse({ status = 500, retryAfterSeconds }: Fault): SandboxResponse {
  const message = `Injected fault: status ${status}`;
  return {
    status,
    headers: retryAfterSeconds === undefined ? {} : { 'retry-after': String(retryAfterSeconds) },
    json: { error: { code: 'fault', message } },
  };
}

function writeResponse(outgoing: ServerResponse, response: SandboxResponse): void {
  outgoing.statusCode = response.status;
  outgoing.setHeaders(new Map(Object.entries(response.headers ?? {})));
  outgoing.setHeader('x-content-type-options', 'nosniff');
  if (response.html !== undefined) {
    outgoing.setHeader('content-type', 'text/html; charset=utf-8');
    outgoing.setHeader('content-security-policy', "default-src 'none'; style-src 'unsafe-inline'");
    outgoing.end(response.html);
  } else if (response.json !== undefined) {
    outgoing.setHeader('content-type', 'application/json');
    outgoing.end(JSON.stringify(response.json));
  } else {
    outgoing.end();
  }
}
