import { once } from 'node:events';
import { setImmediate as yieldToEventLoop } from 'node:timers/promises';
import { expect, onTestFinished, test, vi } from 'vitest';
import { SocketPace } from '../../../src/server/graphql/socket-pace.ts';
import { createTestApp, type TestApp } from '../../support/app.ts';
import { stopRates } from '../../support/process/rates.ts';
import { openRefusedSocket, openSocket } from '../../support/socket.ts';

async function startApp(env: Record<string, string> = {}) {
  const app = await createTestApp({ env });
  onTestFinished(() => app[Symbol.asyncDispose]());
  const { url } = await app.app.start();
  const tenant = await app.createTenant();
  const init = { type: 'connection_init', payload: { 'x-api-key': tenant.apiKey } };
  return { app, url, tenant, init };
}

/** Opens this many sockets, closes all of them, and waits until the server has closed them too. */
async function closeEarly(
  { app, url, init }: Pick<Awaited<ReturnType<typeof startApp>>, 'app' | 'url' | 'init'>,
  addresses: string[],
) {
  const sockets = await Promise.all(
    addresses.map(async (address) => {
      const socket = await openSocket(url, { headers: { 'x-forwarded-for': address } });
      socket.send(init);
      expect(await socket.next()).toEqual({ type: 'connection_ack' });
      return socket;
    }),
  );
  for (const { socket } of sockets) socket.terminate();
  await waitForNoSockets(app);
}

/** `vi.waitFor` would move the stopped clock. */
async function waitForNoSockets({ app }: TestApp): Promise<void> {
  while (app.services.shares.get('sockets').held > 0) await yieldToEventLoop();
}

const EARLY_CLOSES = Array.from({ length: 200 }, (_, index) => `198.51.100.${index}`);

test('lets a holder open its next socket after each cut, and after many early closes, only later', () => {
  stopRates();
  const pace = new SocketPace();
  for (let count = 0; count < 100; count += 1) pace.recordEarlyClose('a');
  expect(pace.reserve('a')).toBe(0);
  pace.recordEarlyClose('a');
  expect([pace.reserve('a'), pace.reserve('a')]).toEqual([20, 40]);
  expect(pace.reserve('b')).toBe(0);
  pace.recordCut('b');
  expect(pace.reserve('b')).toBe(1_000);
  pace.recordCut('b');
  expect(pace.reserve('b')).toBeNull();
  vi.advanceTimersByTime(2_000);
  expect([pace.reserve('a'), pace.reserve('b')]).toEqual([0, 0]);
});

test('counts each message in the rate of its caller, and a long one several times', async () => {
  const { app, url, tenant, init } = await startApp({
    RATE_LIMIT_PER_SECOND: '20',
    RATE_LIMIT_BURST: '20',
  });
  stopRates();
  const readRemaining = async () => {
    const response = await app.fetch('/graphql?query={__typename}', {
      headers: { 'x-api-key': tenant.apiKey },
    });
    return response.headers.get('ratelimit')?.match(/r=(\d+)/)?.[1];
  };
  const socket = await openSocket(url);
  socket.send(init);
  await socket.next();
  const ping = { type: 'ping', payload: { echo: '' } };
  socket.send(ping);
  socket.send({ id: '1', type: 'subscribe', payload: { query: '{ viewer { kind } }' } });
  expect(await socket.next()).toMatchObject({ type: 'pong' });
  expect(await socket.next()).toMatchObject({ type: 'next' });
  expect(await socket.next()).toMatchObject({ type: 'complete' });
  // The sum of connection_init, the ping, the operation, and this request.
  expect(await readRemaining()).toBe('16');
  socket.send({ ...ping, payload: { echo: 'x'.repeat(39_000) } });
  expect(await socket.next()).toMatchObject({ type: 'pong' });
  expect(await readRemaining()).toBe('5');
  for (let count = 0; count < 6; count += 1) socket.send(ping);
  const { code, reason } = await socket.closed;
  expect([code, reason]).toEqual([
    1013,
    expect.stringMatching(/^429 RATE_LIMIT_PER_SECOND, Retry-After: 1\. /),
  ]);
});

test('cuts a socket that sends much before connection_init', async () => {
  const { url } = await startApp();
  const socket = await openSocket(url);
  for (let count = 0; count < 17; count += 1) socket.send({ type: 'ping' });
  expect(await socket.closed).toMatchObject({ code: 1013 });
});

test('refuses the next socket of a network that closed many early', async () => {
  const started = await startApp();
  stopRates();
  await closeEarly(
    started,
    EARLY_CLOSES.map(() => '198.51.100.1'),
  );
  expect(await openRefusedSocket(started.url)).toBe(503);
});

test('refuses the next socket of a caller that closed many early from many networks', async () => {
  const started = await startApp({ TRUSTED_PROXIES: '127.0.0.1/32' });
  stopRates();
  await closeEarly(started, EARLY_CLOSES);
  const socket = await openSocket(started.url);
  socket.send(started.init);
  const { code, reason } = await socket.closed;
  expect([code, reason]).toEqual([
    1013,
    expect.stringMatching(/^429 reopened sockets, Retry-After: 2\. /),
  ]);
  const { token } = await started.app.createTenant();
  const otherSocket = await openSocket(started.url);
  otherSocket.send({ type: 'connection_init', payload: { authorization: `Bearer ${token}` } });
  expect(await otherSocket.next()).toEqual({ type: 'connection_ack' });
  otherSocket.socket.close();
  await once(otherSocket.socket, 'close');
});
