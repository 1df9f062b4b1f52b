import { Agent, get } from 'node:http';
import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createHttpServer } from '../../../src/server/http/http-server.ts';

const LISTEN_ADDRESS = { host: '127.0.0.1', port: 0 };
/** Exceeds the time limit of the test. */
const STOP_MS = 600_000;

test('completes every accepted request on stop, and closes kept connections', async () => {
  let acceptedCount = 0;
  const server = createHttpServer();
  server.app.get('/', async () => {
    acceptedCount += 1;
    await sleep(5);
    return 'ok';
  });
  const url = await server.listen(LISTEN_ADDRESS);
  const agent = new Agent({ keepAlive: true });
  const sendRequest = () =>
    new Promise<boolean>((resolve) => {
      const request = get(url, { agent }, (response) => {
        response.on('error', () => resolve(false)).resume();
        response.on('end', () => resolve(response.complete));
      });
      // The server may close an idle connection while a request is on its way. It has not accepted that
      // request.
      request.on('error', () => resolve(false));
    });
  let completed = 0;
  const clients = Array.from({ length: 8 }, async () => {
    while (await sendRequest()) completed += 1;
  });
  await expect.poll(() => completed).toBeGreaterThan(50);
  await server.stop(STOP_MS);
  await Promise.all(clients);
  expect(completed).toBe(acceptedCount);
  agent.destroy();
});

test('serves every request while it drains, and closes its connection', async () => {
  const server = createHttpServer();
  server.app.get('/', async () => 'ok');
  const url = await server.listen(LISTEN_ADDRESS);
  const agent = new Agent({ keepAlive: true });
  const sendRequest = () =>
    new Promise<string | undefined>((resolve, reject) => {
      const request = get(url, { agent }, (response) => {
        response.resume().on('end', () => resolve(response.headers.connection));
      });
      request.on('error', reject);
    });
  expect(await sendRequest()).toBe('keep-alive');
  server.drain();
  expect(await sendRequest()).toBe('close');
  expect(await sendRequest()).toBe('close');
  await server.stop(STOP_MS);
  agent.destroy();
});

test.each([
  ['malformed', 'not HTTP\r\n\r\n', 400],
  ['incomplete', 'GET / HTTP/1.1\r\nHost: x\r\n', 408],
  ['too large', `GET / HTTP/1.1\r\nHost: x\r\nX-Large: ${'x'.repeat(200_000)}\r\n\r\n`, 431],
])('refuses a head that is %s with a problem, and closes the connection', async (_description, bytes, status) => {
  const server = createHttpServer({ headMs: 200 });
  const { hostname, port } = new URL(await server.listen(LISTEN_ADDRESS));
  const socket = connect(Number(port), hostname);
  socket.write(bytes);
  const [head = '', body = ''] = (await text(socket)).split('\r\n\r\n');
  expect(head.split('\r\n')).toEqual([
    expect.stringMatching(`^HTTP/1.1 ${status} `),
    'Connection: close',
    'Content-Type: application/problem+json',
    `Content-Length: ${body.length}`,
  ]);
  expect(JSON.parse(body)).toMatchObject({ type: 'urn:problem:bad-user-input', status });
  await server.stop(STOP_MS);
});

test('serves the next request of a client that keeps connections, after a refused head', async () => {
  const server = createHttpServer();
  server.app.get('/', async () => 'ok');
  const url = await server.listen(LISTEN_ADDRESS);
  const agent = new Agent({ keepAlive: true });
  const sendRequest = (headers = {}) =>
    new Promise<number | undefined>((resolve, reject) => {
      const request = get(url, { agent, headers }, (response) => {
        response.resume().on('end', () => resolve(response.statusCode));
      });
      request.on('error', reject);
    });
  for (let round = 0; round < 20; round += 1) {
    expect(await sendRequest({ 'x-large': 'x'.repeat(20_000) })).toBe(431);
    expect(await sendRequest()).toBe(200);
  }
  await server.stop(STOP_MS);
  agent.destroy();
});
