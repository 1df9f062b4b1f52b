/** A receiver of webhooks on 127.0.0.1. It records messages, and tests set its responses. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import { Webhook } from 'standardwebhooks';
import { serve } from './wire/serve.ts';

/**
 * The response to messages. `HANG` sends none, `DROP` closes the connection, and `ENDLESS` is a 200 whose
 * body does not end.
 */
export type Behavior =
  | { status: number; headers?: Record<string, string>; body?: string }
  | 'HANG'
  | 'DROP'
  | 'ENDLESS';

export interface ReceivedMessage {
  id: string;
  headers: Record<string, string>;
  body: string;
}

export interface Receiver extends AsyncDisposable {
  /** Returns a separate URL for each name. */
  getUrl(name: string): string;
  listMessages(name: string): ReceivedMessage[];
  /** Sets the response to later messages. Default: 200. */
  setBehavior(name: string, behavior: Behavior): void;
  /** Responds to all messages that hang. */
  respondToHeld(name: string, behavior: Behavior): void;
  /** Resolves when at least `count` messages have arrived. */
  waitForMessages(name: string, count: number): Promise<void>;
  /** The largest number of concurrent requests. */
  getConcurrentMax(name: string): number;
}

interface Endpoint {
  received: ReceivedMessage[];
  behavior: Behavior;
  pendingCount: number;
  concurrentMax: number;
  heldResponses: ServerResponse[];
  waiters: { count: number; resolve: () => void }[];
}

export async function startReceiver(): Promise<Receiver> {
  const endpoints = new Map<string, Endpoint>();
  const findEndpoint = (name: string) => {
    const endpoint = endpoints.get(name) ?? createEndpoint();
    endpoints.set(name, endpoint);
    return endpoint;
  };
  const { url, stop } = await serve((request, response) => {
    void receive(findEndpoint(request.url?.slice(1) ?? ''), request, response);
  });
  return {
    getUrl: (name) => `${url}/${name}`,
    listMessages: (name) => findEndpoint(name).received,
    setBehavior: (name, behavior) => {
      findEndpoint(name).behavior = behavior;
    },
    respondToHeld: (name, behavior) => {
      const endpoint = findEndpoint(name);
      for (const response of endpoint.heldResponses.splice(0))
        respond(endpoint, behavior, response);
    },
    async waitForMessages(name, count) {
      const { received, waiters } = findEndpoint(name);
      if (received.length >= count) return;
      const { promise, resolve } = Promise.withResolvers<void>();
      waiters.push({ count, resolve });
      await promise;
    },
    getConcurrentMax: (name) => findEndpoint(name).concurrentMax,
    [Symbol.asyncDispose]: stop,
  };
}

/**
 * Verifies the signature with this secret, and returns the parsed body. Throws if the signature is invalid.
 */
export function verifyMessage({ headers, body }: ReceivedMessage, secret: string): unknown {
  return new Webhook(secret).verify(body, headers);
}

function createEndpoint(): Endpoint {
  return {
    received: [],
    behavior: { status: 200 },
    pendingCount: 0,
    concurrentMax: 0,
    heldResponses: [],
    waiters: [],
  };
}

async function receive(endpoint: Endpoint, request: IncomingMessage, response: ServerResponse) {
  endpoint.pendingCount += 1;
  endpoint.concurrentMax = Math.max(endpoint.concurrentMax, endpoint.pendingCount);
  response.on('close', () => {
    endpoint.pendingCount -= 1;
  });
  const headers = Object.fromEntries(
    Object.entries(request.headers).map(([name, value]) => [name, String(value)]),
  );
  const body = await readText(request);
  endpoint.received.push({ id: headers['webhook-id'] ?? '', headers, body });
  respond(endpoint, endpoint.behavior, response);
  for (const { count, resolve } of endpoint.waiters) {
    if (endpoint.received.length >= count) resolve();
  }
}

async function readText(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk);
  return Buffer.concat(chunks).toString();
}

function respond({ heldResponses }: Endpoint, behavior: Behavior, response: ServerResponse): void {
  if (behavior === 'HANG') {
    heldResponses.push(response);
  } else if (behavior === 'DROP') {
    response.socket?.destroy();
  } else if (behavior === 'ENDLESS') {
    response.writeHead(200);
    const writeMore = () => {
      while (!response.destroyed && response.write(Buffer.alloc(65_536)));
    };
    response.on('drain', writeMore).on('error', () => {});
    writeMore();
  } else {
    response.writeHead(behavior.status, behavior.headers).end(behavior.body);
  }
}
