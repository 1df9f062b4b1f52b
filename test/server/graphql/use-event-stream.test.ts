import { createServer, type IncomingMessage, request } from 'node:http';
import type { AddressInfo } from 'node:net';
import { createSchema, createYoga } from 'graphql-yoga';
import { expect, test } from 'vitest';
import { Message } from '../../../src/graphql/execution/message.ts';
import { useResultStream } from '../../../src/server/graphql/result-stream.ts';
import type { RequestMetadata } from '../../../src/server/http/request-metadata.ts';

const KILOBYTE = 'x'.repeat(1024);

/**
 * Starts a server that sends `eventCount` events and then keeps the stream open. Counts the events that the
 * adapter has read, and reports when the adapter disconnects the client.
 */
async function startEventServer(eventCount: number) {
  const disconnection = Promise.withResolvers<void>();
  const streamEnd = Promise.withResolvers<void>();
  let pulledCount = 0;
  async function* createTicks() {
    try {
      while (pulledCount < eventCount) {
        pulledCount += 1;
        yield new Message({ data: { tick: KILOBYTE } });
      }
      await streamEnd.promise;
    } finally {
      streamEnd.resolve();
    }
  }
  const yoga = createYoga<RequestMetadata>({
    schema: createSchema({ typeDefs: 'type Query { a: Int } type Subscription { tick: String }' }),
    logging: false,
    plugins: [
      { onParams: ({ setParamsHandler }) => setParamsHandler(createTicks) },
      useResultStream({ isStopping: false }, { keepAliveMs: 10 }),
    ],
  });
  const server = createServer((req, res) => {
    const disconnect = () => {
      disconnection.resolve();
      streamEnd.resolve();
      req.socket.destroy();
    };
    void yoga.handle(req, res, {
      disconnect,
      httpVersion: '1.1',
      address: '',
      path: '/graphql',
      setHeader: () => {},
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  return {
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/graphql`,
    disconnection: disconnection.promise,
    getPulledCount: () => pulledCount,
    [Symbol.asyncDispose]: () => new Promise<void>((resolve) => server.close(() => resolve())),
  };
}

function subscribe(url: string) {
  return new Promise<IncomingMessage>((resolve) => {
    const headers = { accept: 'text/event-stream', 'content-type': 'application/json' };
    const clientRequest = request(url, { method: 'POST', headers }, resolve);
    clientRequest.on('error', () => {});
    clientRequest.end(JSON.stringify({ query: 'subscription { tick }' }));
  });
}

test('stops reading events for a client that does not read, and disconnects it', async () => {
  const eventCount = 100_000;
  await using server = await startEventServer(eventCount);
  const response = await subscribe(server.url);
  response.on('error', () => {});
  await server.disconnection;
  expect(server.getPulledCount()).toBeLessThan(eventCount / 2);
  response.destroy();
});

test('keeps a quiet stream alive with comments', async () => {
  await using server = await startEventServer(0);
  const response = await subscribe(server.url);
  let text = '';
  for await (const chunk of response) {
    text += chunk;
    if (text.length >= 9) break;
  }
  expect(text).toBe(':\n\n:\n\n:\n\n');
});
