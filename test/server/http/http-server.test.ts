import { once } from 'node:events';
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

const GET = (path: string) => `GET ${path} HTTP/1.1\r\nHost: x\r\n\r\n`;
const LARGE = 'x'.repeat(8_000_000);

/** Starts a server with a stream that never ends. Returns a connection to it that has sent the bytes. */
async function openConnection(bytes: string) {
  const server = createHttpServer({ headMs: 200 });
  server.app.get('/', async () => 'ok');
  server.app.get('/large', async () => LARGE);
  server.app.get('/stream', (_request, reply) => {
    reply.hijack();
    reply.raw.writeHead(200, { 'content-type': 'text/event-stream' });
    reply.raw.write('data: 1\n\n');
  });
  const { hostname, port } = new URL(await server.listen(LISTEN_ADDRESS));
  const socket = connect(Number(port), hostname);
  socket.write(bytes);
  return { socket, [Symbol.asyncDispose]: () => server.stop(STOP_MS) };
}

const FIRST_MESSAGE = '\r\n\r\n9\r\ndata: 1\n\n\r\n';

test.each([
  ['a malformed request', GET('/stream'), 'not HTTP\r\n\r\n'],
  ['an incomplete head', GET('/stream'), 'GET / HTTP/1.1\r\n'],
  ['a malformed request after another one', GET('/stream') + GET('/'), 'not HTTP\r\n\r\n'],
])('cuts an open stream after %s, and adds nothing to it', async (_description, requests, bytes) => {
  await using connection = await openConnection(requests);
  const { socket } = connection;
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  await expect.poll(() => received).toContain(FIRST_MESSAGE);
  socket.on('error', () => {}).write(bytes);
  await once(socket, 'close');
  expect(received.endsWith(FIRST_MESSAGE)).toBe(true);
});

test.each([
  ['small', '/', 'ok'],
  ['large', '/large', LARGE],
])('refuses a malformed request after a complete response that is %s', async (_description, path, expectedBody) => {
  await using connection = await openConnection(GET(path));
  const { socket } = connection;
  const [firstChunk] = await once(socket, 'data');
  socket.write('not HTTP\r\n\r\n');
  const [head = '', body = '', problem = ''] = `${firstChunk}${await text(socket)}`.split(
    /\r\n\r\n|(?=HTTP\/1\.1 400 )/,
  );
  expect(head).toMatch(/^HTTP\/1\.1 200 /);
  expect(body).toBe(expectedBody);
  expect(problem).toMatch(/^HTTP\/1\.1 400 /);
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
