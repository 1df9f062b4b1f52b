/** Tests that unfinished requests time out and delay no other request. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { text } from 'node:stream/consumers';
import { expect, onTestFinished, test } from 'vitest';
import { readOpenFilesMax, UnfinishedBudget } from '../../../src/server/http/unfinished.ts';
import { getSharedApp } from '../../support/app.ts';
import { openSocket } from '../../support/socket.ts';

const REQUESTS_MAX = 4;
const LIMIT_ENV = {
  LIMIT_HEAD_MS: '1500',
  LIMIT_BODY_MS: '1500',
  // A slow machine sends the bytes of the slow body late.
  LIMIT_BODY_BYTES_PER_SECOND: '100',
};
const app = await getSharedApp({
  env: { LIMIT_REQUESTS: String(REQUESTS_MAX), LIMIT_SOCKETS: '3', ...LIMIT_ENV },
});
const tenant = await app.createTenant();
const { url } = await app.app.start();
const { hostname, port } = new URL(url);

async function sendBytes(bytes: string): Promise<Socket> {
  const socket = connect(Number(port), hostname);
  socket.on('error', () => {});
  onTestFinished(() => void socket.destroy());
  await once(socket, 'connect');
  socket.write(bytes);
  return socket;
}

const JSON_HEAD = 'Host: x\r\nContent-Type: application/json\r\n';
const PROXY_PATH = `/v1/projects/${tenant.projectId}/installations/none/proxy/x`;
const UNFINISHED_REQUESTS: [string, string][] = [
  ['a plain operation', `POST /graphql HTTP/1.1\r\n${JSON_HEAD}Content-Length: 100\r\n\r\n{`],
  [
    'an operation in chunks',
    `POST /graphql HTTP/1.1\r\n${JSON_HEAD}Transfer-Encoding: chunked\r\n\r\n1\r\n{\r\n`,
  ],
  ['REST', `POST /v1/orgs HTTP/1.1\r\n${JSON_HEAD}Content-Length: 100\r\n\r\n{`],
  [
    'a forwarded request',
    `POST ${PROXY_PATH} HTTP/1.1\r\n${JSON_HEAD}Content-Length: 100\r\n\r\n{`,
  ],
  ['a head', 'POST /graphql HTTP/1.1\r\nHost: x\r\n'],
  ['a connection', ''],
];

const sendRequest = async () => {
  const headers = { 'content-type': 'application/json', 'x-api-key': tenant.apiKey };
  const body = '{"query":"{ __typename }"}';
  return (await fetch(`${url}/graphql`, { method: 'POST', headers, body })).status;
};

/** Waits until no request has a slot. The process frees the slot of a request after its response. */
const expectNoRequests = () =>
  expect.poll(() => app.app.services.shares.get('requests').held).toBe(0);

test.each(
  UNFINISHED_REQUESTS,
)('closes %s that stays unfinished, and serves others in the meantime', async (_description, bytes) => {
  const sockets = await Promise.all(
    Array.from({ length: 3 * REQUESTS_MAX }, () => sendBytes(bytes)),
  );
  await expectNoRequests();
  expect(await sendRequest()).toBe(200);
  const responses = await Promise.all(sockets.map((socket) => text(socket).catch(() => '')));
  if (bytes.includes('\r\n\r\n')) {
    for (const response of responses) expect(response).toMatch(/^HTTP\/1\.1 (408|401) /);
  }
  expect(await sendRequest()).toBe(200);
});

test('serves other requests of an address with 150 unfinished bodies', async () => {
  const [, body] = UNFINISHED_REQUESTS[0] as [string, string];
  const sockets = await Promise.all(Array.from({ length: 150 }, () => sendBytes(body)));
  await expectNoRequests();
  // One after another, because a caller may have only a part of LIMIT_REQUESTS at the same time.
  for (let count = 0; count < REQUESTS_MAX; count += 1) expect(await sendRequest()).toBe(200);
  const responses = await Promise.all(sockets.map((socket) => text(socket)));
  for (const response of responses) expect(response).toMatch(/^HTTP\/1\.1 408 /);
});

test('accepts a slow body that keeps the minimum rate', async () => {
  const body = JSON.stringify({ query: '{ __typename }', variables: { x: 'x'.repeat(6_000) } });
  const socket = await sendBytes(
    `POST /graphql HTTP/1.1\r\n${JSON_HEAD}Connection: close\r\nContent-Length: ${body.length}\r\n\r\n`,
  );
  const startedAt = performance.now();
  for (let index = 0; index < body.length; index += 200) {
    socket.write(body.slice(index, index + 200));
    await new Promise((resolve) => setTimeout(resolve, 80));
  }
  expect(performance.now() - startedAt).toBeGreaterThan(2_000);
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
});

const QUERY = '{"query":"{ __typename }"}';
const HEAD = `POST /graphql HTTP/1.1\r\n${JSON_HEAD}Connection: close\r\nContent-Length: ${QUERY.length}\r\n\r\n`;
const STANDSTILL_MS = 3_000;

test('accepts a body that arrived while the event loop was blocked', async () => {
  const socket = await sendBytes(HEAD);
  expect(await sendRequest()).toBe(200);
  socket.write(QUERY);
  Atomics.wait(new Int32Array(new SharedArrayBuffer(4)), 0, 0, STANDSTILL_MS);
  expect(await text(socket)).toMatch(/^HTTP\/1\.1 200 /);
});

test(
  'serves authenticated WebSockets although unauthenticated ones wait',
  { tags: ['all/rows'] },
  async () => {
    const unauthenticatedSockets = await Promise.all(
      Array.from({ length: 6 }, () => openSocket(url)),
    );
    const admittedSockets = await Promise.all(
      [1, 2].map(async () => {
        const socket = await openSocket(url);
        socket.send({ type: 'connection_init', payload: { 'x-api-key': tenant.apiKey } });
        expect(await socket.next()).toEqual({ type: 'connection_ack' });
        return socket;
      }),
    );
    const [lateSocket] = unauthenticatedSockets;
    lateSocket?.send({ type: 'connection_init', payload: { 'x-api-key': tenant.apiKey } });
    expect(await lateSocket?.closed).toMatchObject({ code: 1013 });
    await Promise.all(unauthenticatedSockets.map(({ closed }) => closed));
    for (const { socket } of admittedSockets) socket.terminate();
  },
);

/** Creates a budget that closes entries only because there are too many. */
function createBudget(limits: ConstructorParameters<typeof UnfinishedBudget>[0]) {
  const budget = new UnfinishedBudget(limits);
  const closedEntries: string[] = [];
  const enter = (name: string, network: string, bytes = 1) =>
    budget.enter(
      { name },
      {
        network,
        bytes,
        hasEnded: () => false,
        isSlow: () => false,
        cut: (reason) => void closedEntries.push(`${name} ${reason}`),
      },
    );
  return { closedEntries, enter };
}

test('closes the oldest requests of a network that exceeds its limits, and none of other networks', async () => {
  const { closedEntries, enter } = createBudget({ networkMax: 2, networkBytesMax: 100 });
  for (const name of ['a1', 'a2', 'a3', 'a4']) enter(name, 'a');
  for (const name of ['b1', 'b2']) enter(name, 'b', 60);
  enter('c1', 'c');
  expect(closedEntries).toEqual([]);
  await expect.poll(() => closedEntries).toHaveLength(3);
  expect(closedEntries).toEqual(['a1 crowded', 'a2 crowded', 'b1 crowded']);
});

test('closes the oldest request immediately if all networks together have too many', () => {
  const { closedEntries, enter } = createBudget({
    networkMax: 100,
    networkBytesMax: 100,
    allMax: 4,
  });
  for (const name of ['a1', 'b1', 'b2', 'b3']) enter(name, name.slice(0, 1));
  expect(closedEntries).toEqual([]);
  enter('c1', 'c');
  expect(closedEntries).toEqual(['a1 crowded']);
});

const FILL_BUDGET = `
  import { UnfinishedBudget } from '${new URL('../../../src/server/http/unfinished.ts', import.meta.url)}';
  const budget = new UnfinishedBudget({ networkMax: 1e6, networkBytesMax: 1e6 });
  let cuts = 0;
  for (let n = 0; n < 10_000; n += 1) {
    budget.enter({}, { network: 'a', bytes: 1, cut: () => { cuts += 1; } });
  }
  console.log(10_000 - cuts);
  process.exit();`;

test.each([
  [1_000, '250'],
  [10_000_000, '8000'],
])('limits unfinished requests to a quarter of %d file descriptors, at most 8,000', (openFiles, expectedMax) => {
  const limit = `ulimit -n ${openFiles} 2>/dev/null; exec "$0" --input-type=module -e "$1"`;
  const args = ['-c', limit, process.execPath, FILL_BUDGET];
  const hardLimit = readOpenFilesMax();
  const expected =
    openFiles > hardLimit ? String(Math.min(8_000, Math.floor(hardLimit / 4))) : expectedMax;
  expect(execFileSync('sh', args, { encoding: 'utf8' }).trim()).toBe(expected);
});
