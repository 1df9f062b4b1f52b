import { once } from 'node:events';
import { request } from 'node:http';
import { connect } from 'node:net';
import { createClient } from 'graphql-ws';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { encodeCursor } from '../../../src/domain/access/paging/list-cursor.ts';
import { type Admission, createAdmission } from '../../../src/domain/access/viewer/admission.ts';
import { createEventList } from '../../../src/domain/events/notification-event.ts';
import { attachWebSocket } from '../../../src/server/graphql/websocket.ts';
import { openYoga } from '../../../src/server/graphql/yoga.ts';
import { createClientReaders } from '../../../src/server/http/request-client.ts';
import type { Config } from '../../../src/settings/config.ts';
import { createTestApp, getSharedApp, type Tenant } from '../../support/app.ts';
import {
  createNames,
  recordNamedEvent,
  recordNamedEvents,
  routeEvents,
} from '../../support/event-log.ts';
import { openRefusedSocket, openSocket } from '../../support/socket.ts';
import { serve } from '../../support/wire/serve.ts';

const PAGE_ORIGIN = 'https://app.example';
const app = await getSharedApp({ env: { CORS_ORIGINS: PAGE_ORIGIN } });
const { url } = await app.app.start();
const { database } = app.app.services;

const SUBSCRIBE_TO_EVENTS = `subscription FollowNotificationEvents($project: String!, $after: String) {
  notificationEvents(projectIdOrName: $project, after: $after) { cursor node { data } }
}`;

async function createTenantWithRoutes() {
  const tenant = await app.createTenant();
  return { ...tenant, ...(await routeEvents(database.prisma, tenant.projectId)) };
}

function createSocketClient(
  connectionParams: Record<string, unknown>,
  webSocketImpl: unknown = WebSocket,
) {
  const client = createClient({
    url: `${url.replace('http', 'ws')}/graphql`,
    connectionParams,
    webSocketImpl,
    retryAttempts: 0,
  });
  onTestFinished(async () => client.dispose());
  return client;
}

/** Opens a socket and authenticates it. */
async function openAdmittedSocket({ apiKey }: Tenant, serverUrl = url) {
  const socket = await openSocket(serverUrl);
  socket.send({ type: 'connection_init', payload: { 'x-api-key': apiKey } });
  expect(await socket.next()).toEqual({ type: 'connection_ack' });
  return socket;
}

/** The cursor before the first event. */
const encodeStart = (projectId: string) => encodeCursor(createEventList(projectId), 0n);

const createSubscribeMessage = (id: string, project: string) => ({
  id,
  type: 'subscribe',
  payload: { query: SUBSCRIBE_TO_EVENTS, variables: { project, after: encodeStart(project) } },
});

interface Edge {
  notificationEvents: { node: { data: { connectionId: string } } };
}

test('sends events to clients with a key or a token, in connection_init or the upgrade', async () => {
  const tenant = await createTenantWithRoutes();
  const { apiKey, token, projectId } = tenant;
  class WebSocketWithKey extends WebSocket {
    constructor(address: string, protocols: string) {
      super(address, protocols, { headers: { 'x-api-key': apiKey } });
    }
  }
  const clients = [
    createSocketClient({ 'x-api-key': apiKey }),
    createSocketClient({ authorization: `Bearer ${token}` }),
    createSocketClient({}, WebSocketWithKey),
  ];
  await recordNamedEvents(database, tenant, createNames('e', 3));
  const variables = { project: projectId, after: encodeStart(projectId) };
  for (const client of clients) {
    const names = [];
    for await (const { data } of client.iterate<Edge>({ query: SUBSCRIBE_TO_EVENTS, variables })) {
      names.push(data?.notificationEvents.node.data.connectionId);
      if (names.length === 3) break;
    }
    expect(names).toEqual(createNames('e', 3));
  }
});

test('runs queries and mutations with the rules and errors of HTTP', async () => {
  const tenant = await app.createTenant();
  const client = createSocketClient({ 'x-api-key': tenant.apiKey });
  const runOperation = async (text: string, variables?: Record<string, unknown>) => {
    for await (const result of client.iterate({ query: text, variables })) return result;
    throw new Error('The stream ended without a result.');
  };
  expect((await runOperation('{ viewer { kind } }')).data).toEqual({ viewer: { kind: 'API_KEY' } });
  const input = { projectIdOrName: tenant.projectId, name: 'alerts' };
  const mutation = `mutation CreateTopic($input: CreateTopicInput!) {
    createTopic(input: $input) { topic { name } }
  }`;
  expect((await runOperation(mutation, { input })).data).toEqual({
    createTopic: { topic: { name: 'alerts' } },
  });
  expect((await runOperation(mutation, { input })).errors?.[0]?.extensions).toMatchObject({
    code: 'CONFLICT',
    problem: { status: 409 },
  });
  const aliases = createNames('a', 31).map((name) => `${name}: __typename`);
  for (const [text, code] of [
    ['{ viewer', 'GRAPHQL_PARSE_FAILED'],
    ['{ nothing }', 'GRAPHQL_VALIDATION_FAILED'],
    [`{ ${aliases.join(' ')} }`, 'QUERY_LIMIT_EXCEEDED'],
  ] as const) {
    const refusal = await runOperation(text).catch((errors: unknown) => errors);
    expect(refusal).toMatchObject({ 0: { extensions: { code, problem: { status: 400 } } } });
    expect(JSON.stringify(refusal)).not.toContain('"http"');
  }
});

test('closes the socket for a wrong key and for no key', async () => {
  const refusedSocket = await openSocket(url);
  refusedSocket.send({ type: 'connection_init', payload: { 'x-api-key': 'ik_wrong' } });
  expect(await refusedSocket.closed).toMatchObject({ code: 4403 });
  const anonymousSocket = await openSocket(url);
  anonymousSocket.send({ type: 'connection_init' });
  expect(await anonymousSocket.closed).toMatchObject({ code: 4401 });
});

test('closes the socket with a code for each breach of the protocol', async () => {
  const tenant = await createTenantWithRoutes();
  const operation = createSubscribeMessage('1', tenant.projectId);
  const init = { type: 'connection_init', payload: { 'x-api-key': tenant.apiKey } };
  const earlySocket = await openSocket(url);
  earlySocket.send(operation);
  expect(await earlySocket.closed).toMatchObject({ code: 4401 });
  for (const [message, code] of [
    ['no JSON', 4400],
    [{ type: 'unknown' }, 4400],
    [{ type: 'connection_ack' }, 4400],
    [init, 4429],
    [{ ...operation, payload: { query: ' '.repeat(300_000) } }, 1009],
  ] as const) {
    const socket = await openAdmittedSocket(tenant);
    socket.send(message);
    expect(await socket.closed).toMatchObject({ code });
  }
  const repeatingSocket = await openAdmittedSocket(tenant);
  repeatingSocket.send(operation);
  repeatingSocket.send(operation);
  expect(await repeatingSocket.closed).toMatchObject({ code: 4409 });
  const olderProtocol = await openSocket(url, { protocol: 'graphql-ws' }).catch(
    (error: Error) => error,
  );
  expect(olderProtocol).toMatchObject({ message: 'Server sent no subprotocol' });
});

test('limits the operations of a socket, and refuses the next one', async () => {
  const tenant = await createTenantWithRoutes();
  const socket = await openAdmittedSocket(tenant);
  for (const id of createNames('', 101)) socket.send(createSubscribeMessage(id, tenant.projectId));
  expect(await socket.next()).toMatchObject({
    id: '101',
    type: 'error',
    payload: [{ extensions: { code: 'QUERY_LIMIT_EXCEEDED' } }],
  });
  socket.send({ id: '7', type: 'complete' });
  socket.send({
    ...createSubscribeMessage('102', tenant.projectId),
    payload: { query: '{ __typename }' },
  });
  expect(await socket.next()).toMatchObject({ id: '102', type: 'next' });
  socket.socket.terminate();
});

test("opens a socket only from the gateway's own pages and allowed origins", async () => {
  expect(await openRefusedSocket(url, { origin: 'https://evil.example' })).toBe(403);
  expect(await openRefusedSocket(url, { path: '/elsewhere' })).toBe(404);
  for (const origin of [url, PAGE_ORIGIN]) {
    const { socket } = await openSocket(url, { origin });
    socket.terminate();
  }
});

test('responds to an upgrade to another protocol as to a plain request', async () => {
  const { promise, resolve } = Promise.withResolvers<number | undefined>();
  request(`${url}/livez`, { headers: { connection: 'upgrade', upgrade: 'h2c' } })
    .on('response', (response) => {
      response.resume();
      resolve(response.statusCode);
    })
    .end();
  expect(await promise).toBe(200);
});

test('cuts a connection whose client requests an upgrade before it has the response to a request', async () => {
  const { hostname, port } = new URL(url);
  const socket = connect(Number(port), hostname).on('error', () => {});
  const upgrade = [
    'GET /graphql HTTP/1.1',
    'Host: x',
    'Connection: Upgrade',
    'Upgrade: websocket',
    'Sec-WebSocket-Version: 13',
    'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==',
    'Sec-WebSocket-Protocol: graphql-transport-ws',
  ].join('\r\n');
  let received = '';
  socket.on('data', (chunk) => {
    received += chunk;
  });
  socket.write(`GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n${upgrade}\r\n\r\n`);
  await once(socket, 'close');
  expect(received).toBe('');
});

test('ends a subscription soon after its key is deleted, and keeps the socket open', async () => {
  const tenant = await createTenantWithRoutes();
  const socket = await openAdmittedSocket(tenant);
  socket.send(createSubscribeMessage('1', tenant.projectId));
  await recordNamedEvent(database, { projectId: tenant.projectId, name: 'before' });
  expect(await socket.next()).toMatchObject({ id: '1', type: 'next' });
  await database.prisma.apiKey.deleteMany({ where: { id: tenant.apiKeyId } });
  expect(await socket.next()).toMatchObject({
    id: '1',
    type: 'next',
    payload: { errors: [{ extensions: { code: 'UNAUTHENTICATED' } }] },
  });
  expect(await socket.next()).toEqual({ id: '1', type: 'complete' });
  socket.send(createSubscribeMessage('2', tenant.projectId));
  expect(await socket.next()).toMatchObject({
    id: '2',
    type: 'error',
    payload: [{ extensions: { code: 'UNAUTHENTICATED' } }],
  });
  socket.socket.terminate();
});

interface ServerOptions extends Partial<Config> {
  initMs?: number;
  pingMs?: number;
  /** Runs before a client is admitted, and may delay it. */
  admit?: () => Promise<void>;
}

/** Starts a server of the same gateway on another port, with different times and limits. */
async function startServer({ initMs, pingMs, admit, ...limits }: ServerOptions) {
  const { services, verifier, handler } = app.app;
  const closed = Promise.withResolvers<{ code: number }>();
  const log = pino({}, { write: (line: string) => closed.resolve(JSON.parse(line)) });
  const config = { ...services.config, ...limits };
  const ownAdmission = createAdmission(services, verifier, config);
  const admission: Admission = {
    ...ownAdmission,
    admit: async (...args) => {
      await admit?.();
      return ownAdmission.admit(...args);
    },
  };
  const httpServer = await serve(handler);
  const sockets = attachWebSocket(httpServer.server, {
    ...createClientReaders(services),
    config,
    shares: services.shares,
    log,
    yoga: openYoga({ services, admission }),
    admission,
    initMs,
    pingMs,
  });
  return {
    url: httpServer.url,
    /** The log line of the first socket that the server closes. */
    closed: closed.promise,
    async [Symbol.asyncDispose]() {
      await sockets.stop();
      await httpServer.stop();
    },
  };
}

test('closes the socket if connection_init is late', async () => {
  await using server = await startServer({ initMs: 10 });
  const socket = await openSocket(server.url);
  expect(await socket.closed).toMatchObject({ code: 4408 });
});

test('waits for the admission of a client that has sent connection_init', async () => {
  const admitting = Promise.withResolvers<void>();
  await using server = await startServer({ initMs: 100, admit: () => admitting.promise });
  const { apiKey } = await app.createTenant();
  const waitingSocket = await openSocket(server.url);
  waitingSocket.send({ type: 'connection_init', payload: { 'x-api-key': apiKey } });
  // This socket neither authenticates nor responds to a close frame. When the server drops this socket, the time
  // limit has passed for both sockets.
  const silentSocket = await openSocket(server.url);
  silentSocket.socket.pause();
  await server.closed;
  expect(waitingSocket.socket.readyState).toBe(WebSocket.OPEN);
  admitting.resolve();
  expect(await Promise.race([waitingSocket.next(), waitingSocket.closed])).toEqual({
    type: 'connection_ack',
  });
  for (const { socket } of [waitingSocket, silentSocket]) socket.terminate();
});

test('closes the oldest unauthenticated sockets of an address that has too many', async () => {
  await using server = await startServer({ LIMIT_UNFINISHED: 1 });
  const oldest = await openSocket(server.url);
  const newest = await openSocket(server.url);
  expect(await oldest.closed).toMatchObject({ code: 1013 });
  expect(newest.socket.readyState).toBe(WebSocket.OPEN);
  newest.socket.terminate();
});

test('closes the socket of a client that does not answer pings', async () => {
  // A ping interval that is longer than this process, which also runs the client, can be busy.
  await using server = await startServer({ pingMs: 1_000 });
  const tenant = await createTenantWithRoutes();
  const socket = await openAdmittedSocket(tenant, server.url);
  socket.socket.pause();
  expect(await server.closed).toMatchObject({ code: 1006 });
  socket.socket.resume();
  expect(await socket.closed).toMatchObject({ code: 1013 });
});

test(
  'closes the socket of a client that never reads its responses',
  { tags: ['all/rows'] },
  async () => {
    await using server = await startServer({});
    const socket = await openAdmittedSocket(await app.createTenant(), server.url);
    socket.socket.pause();
    const ping = { type: 'ping', payload: { echo: 'x'.repeat(200_000) } };
    for (let sentCount = 0; sentCount < 600; sentCount += 1) socket.send(ping);
    expect(await server.closed).toMatchObject({ code: 1006 });
    socket.socket.terminate();
  },
);

test('loses no event for a client that pauses reading', { tags: ['all/rows'] }, async () => {
  const tenant = await createTenantWithRoutes();
  const { projectId } = tenant;
  const socket = await openAdmittedSocket(tenant);
  socket.send(createSubscribeMessage('1', projectId));
  await recordNamedEvents(database, { projectId }, ['first']);
  expect(await socket.next()).toMatchObject({ type: 'next' });
  socket.socket.pause();
  // Exceeds the socket's buffers and the queue of a live subscriber.
  const names = createNames('e', 700).map((name) => name.padEnd(20_000, '.'));
  // One transaction for all of them would exceed its time limit on a busy machine.
  for (let start = 0; start < names.length; start += 100)
    await recordNamedEvents(database, { projectId }, names.slice(start, start + 100));
  const readingSocket = await openAdmittedSocket(tenant);
  readingSocket.send(createSubscribeMessage('1', projectId));
  for (let count = 0; count <= names.length; count += 1) await readingSocket.next();
  socket.socket.resume();
  for (const name of names) {
    const { payload } = await socket.next();
    expect(payload.data.notificationEvents.node.data.connectionId).toBe(name);
  }
  for (const { socket: webSocket } of [socket, readingSocket]) webSocket.terminate();
});

test('closes sockets on stop with a code that lets clients reconnect', async () => {
  const stoppingApp = await createTestApp();
  const { url: stoppingUrl } = await stoppingApp.app.start();
  const tenant = await stoppingApp.createTenant();
  const socket = await openSocket(stoppingUrl);
  socket.send({ type: 'connection_init', payload: { 'x-api-key': tenant.apiKey } });
  expect(await socket.next()).toEqual({ type: 'connection_ack' });
  socket.send(createSubscribeMessage('1', tenant.projectId));
  socket.send({ id: '2', type: 'subscribe', payload: { query: '{ __typename }' } });
  expect(await socket.next()).toMatchObject({ id: '2', type: 'next' });
  await stoppingApp[Symbol.asyncDispose]();
  expect(await socket.closed).toMatchObject({ code: 1001 });
});
