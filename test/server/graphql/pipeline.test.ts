/**
 * Tests that every operation passes through Yoga's plugins, over every transport, and that the adapter responds
 * as Yoga's own handler does.
 */
import { expect, test } from 'vitest';
import { encodeCursor } from '../../../src/domain/access/paging/list-cursor.ts';
import { createEventList } from '../../../src/domain/events/notification-event.ts';
import type { OperationPlugin } from '../../../src/graphql/execution/operation-context.ts';
import { createLog } from '../../../src/kernel/log.ts';
import { createTestApp, getSharedApp, type Tenant } from '../../support/app.ts';
import { recordNamedEvent, routeEvents } from '../../support/event-log.ts';
import { openEventStream } from '../../support/event-stream.ts';
import { openSocket } from '../../support/socket.ts';

const steps: string[] = [];
const observer: OperationPlugin = {
  onParse: () => void steps.push('parse'),
  onValidate: () => void steps.push('validate'),
  onContextBuilding: () => void steps.push('context'),
  onExecute: () => void steps.push('execute'),
  onSubscribe: () => void steps.push('subscribe'),
};
const app = await getSharedApp({ plugins: [observer] });
/** An app without the adapter, in which Yoga's own handler handles every request. */
const yogaApp = await getSharedApp({ hasAdapter: false });
const { database } = app.app.services;
const { url } = await app.app.start();

const QUERY_VIEWER = '{ viewer { kind } }';
const SUBSCRIBE_TO_EVENTS = `subscription SubscribeToEvents($project: String!, $after: String) {
  notificationEvents(projectIdOrName: $project, after: $after) { node { data } }
}`;
const OPENING_STEPS = ['parse', 'validate', 'context'];
const takeSteps = () => steps.splice(0);

interface SentRequest {
  body?: unknown;
  headers?: Record<string, string>;
}

function createPost({ body, headers }: SentRequest): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
}

const createKeyHeaders = ({ apiKey }: Tenant) => ({ 'x-api-key': apiKey });

const createTopicOperation = ({ projectId }: Tenant, name: string) => ({
  query:
    'mutation CreateTopic($input: CreateTopicInput!) { createTopic(input: $input) { topic { name } } }',
  variables: { input: { projectIdOrName: projectId, name } },
});

/** The HTTP transports. A GET request cannot send a mutation, and a subscription needs a stream format. */
const TRANSPORTS = [
  { name: 'POST', method: 'POST', accept: 'application/json', isStream: false },
  { name: 'GET', method: 'GET', accept: 'application/json', isStream: false },
  {
    name: 'POST for server-sent events',
    method: 'POST',
    accept: 'text/event-stream',
    isStream: true,
  },
  {
    name: 'GET for server-sent events',
    method: 'GET',
    accept: 'text/event-stream',
    isStream: true,
  },
  {
    name: 'POST for multipart responses',
    method: 'POST',
    accept: 'multipart/mixed;subscriptionSpec=1.0, application/json',
    isStream: true,
  },
];
type Transport = (typeof TRANSPORTS)[number];

interface Operation {
  query: string;
  variables?: object;
}

function sendOperation(
  { method, accept }: Transport,
  tenant: Tenant,
  operation: Operation,
  signal?: AbortSignal,
) {
  const headers = { accept, ...createKeyHeaders(tenant) };
  const { query, variables = {} } = operation;
  const search = new URLSearchParams({ query, variables: JSON.stringify(variables) });
  return method === 'GET'
    ? app.fetch(`/graphql?${search}`, { headers, signal })
    : app.fetch('/graphql', { ...createPost({ body: operation, headers }), signal });
}

test.each(TRANSPORTS)('calls plugins for queries and mutations by $name', async (transport) => {
  const tenant = await app.createTenant();
  takeSteps();
  const response = await sendOperation(transport, tenant, { query: QUERY_VIEWER });
  expect(await response.text()).toContain('"kind":"API_KEY"');
  expect(takeSteps()).toEqual([...OPENING_STEPS, 'execute']);
  const creation = await sendOperation(transport, tenant, createTopicOperation(tenant, 'one'));
  const isAllowed = transport.method === 'POST';
  expect((await creation.text()).includes('"name":"one"')).toBe(isAllowed);
  expect(takeSteps().includes('execute')).toBe(isAllowed);
});

test.each(
  TRANSPORTS.filter(({ isStream }) => isStream),
)('calls plugins for subscriptions and their events by $name', async (transport) => {
  const tenant = await app.createTenant();
  await routeEvents(database.prisma, tenant.projectId);
  const abortController = new AbortController();
  takeSteps();
  const subscription = { query: SUBSCRIBE_TO_EVENTS, variables: { project: tenant.projectId } };
  const { body } = await sendOperation(transport, tenant, subscription, abortController.signal);
  expect(takeSteps()).toEqual([...OPENING_STEPS, 'subscribe']);
  await recordNamedEvent(database, { projectId: tenant.projectId, name: 'one' });
  let text = '';
  for await (const chunk of body as ReadableStream<Uint8Array>) {
    text += Buffer.from(chunk).toString();
    if (text.includes('"connectionId":"one"')) break;
  }
  expect(text).toContain('"connectionId":"one"');
  expect(takeSteps()).toEqual(['execute']);
  abortController.abort();
});

test('calls plugins for queries, mutations and subscriptions over a WebSocket', async () => {
  const tenant = await app.createTenant();
  await routeEvents(database.prisma, tenant.projectId);
  const socket = await openSocket(url);
  socket.send({ type: 'connection_init', payload: createKeyHeaders(tenant) });
  await socket.next();
  takeSteps();
  for (const payload of [{ query: QUERY_VIEWER }, createTopicOperation(tenant, 'one')]) {
    socket.send({ type: 'subscribe', id: '1', payload });
    expect(await socket.next()).toMatchObject({ type: 'next', payload: { data: {} } });
    expect(await socket.next()).toMatchObject({ type: 'complete' });
    expect(takeSteps()).toEqual([...OPENING_STEPS, 'execute']);
  }
  // Without a position, a subscription that opens after the event would miss it.
  const after = encodeCursor(createEventList(tenant.projectId), 0n);
  const variables = { project: tenant.projectId, after };
  socket.send({ type: 'subscribe', id: '2', payload: { query: SUBSCRIBE_TO_EVENTS, variables } });
  await expect.poll(() => steps).toEqual([...OPENING_STEPS, 'subscribe']);
  takeSteps();
  await recordNamedEvent(database, { projectId: tenant.projectId, name: 'one' });
  const { payload: message } = await socket.next();
  expect(message.data.notificationEvents.node.data.connectionId).toBe('one');
  expect(takeSteps()).toEqual(['execute']);
  socket.socket.terminate();
});

/** Returns an operation that creates a key, a topic whose name is taken, and another key. */
const createPartlyRefusedOperation = ({ projectId }: Tenant) => ({
  query: `mutation CreateKeysAndTopic($key: CreateApiKeyInput!, $topic: CreateTopicInput!) {
    first: createApiKey(input: $key) { key }
    refused: createTopic(input: $topic) { topic { id } }
    last: createApiKey(input: $key) { key }
  }`,
  variables: {
    key: { projectIdOrName: projectId, label: 'CI', scopes: ['READ'] },
    topic: { projectIdOrName: projectId, name: 'taken' },
  },
});

interface PartialResult {
  data: Record<'first' | 'last', { key: string }> & { refused: null };
}

/** Expects that the result contains both keys, which were created before and after the refusal, and that they work. */
async function expectPartialResult(result: PartialResult): Promise<void> {
  expect(result).toMatchObject({
    data: { first: { key: expect.any(String) }, refused: null, last: { key: expect.any(String) } },
    errors: [{ path: ['refused'], extensions: { code: 'CONFLICT', problem: { status: 409 } } }],
  });
  for (const { key } of [result.data.first, result.data.last]) {
    const response = await app.createClient({ 'x-api-key': key }).query(QUERY_VIEWER);
    expect(response).toEqual({ viewer: { kind: 'API_KEY' } });
  }
}

test.each(
  TRANSPORTS.filter(({ method }) => method === 'POST'),
)('keeps the results of other mutation fields when one is refused by $name', async (transport) => {
  const tenant = await app.createTenant();
  await tenant.query(
    createTopicOperation(tenant, 'taken').query,
    createTopicOperation(tenant, 'taken').variables,
  );
  const response = await sendOperation(transport, tenant, createPartlyRefusedOperation(tenant));
  expect(response.status).toBe(200);
  const text = await response.text();
  const [json = ''] = /\{"(?:data|errors)":.*\}/.exec(text) ?? [];
  await expectPartialResult(JSON.parse(json));
});

test('keeps the results of other mutation fields when one is refused over a WebSocket', async () => {
  const tenant = await app.createTenant();
  await tenant.query(
    createTopicOperation(tenant, 'taken').query,
    createTopicOperation(tenant, 'taken').variables,
  );
  const socket = await openSocket(url);
  socket.send({ type: 'connection_init', payload: createKeyHeaders(tenant) });
  await socket.next();
  socket.send({ type: 'subscribe', id: '1', payload: createPartlyRefusedOperation(tenant) });
  const { type, payload } = await socket.next();
  expect(type).toBe('next');
  await expectPartialResult(payload);
  socket.socket.terminate();
});

test('calls plugins for each subscription, and once for a shared event', async () => {
  const tenant = await app.createTenant();
  await routeEvents(database.prisma, tenant.projectId);
  const subscribe = () =>
    openEventStream(app.fetch, {
      query: SUBSCRIBE_TO_EVENTS,
      variables: { project: tenant.projectId },
      headers: createKeyHeaders(tenant),
    });
  takeSteps();
  const streams = [await subscribe(), await subscribe()];
  expect(takeSteps()).toEqual([...OPENING_STEPS, 'subscribe', ...OPENING_STEPS, 'subscribe']);
  await recordNamedEvent(database, { projectId: tenant.projectId, name: 'one' });
  for (const stream of streams) {
    expect((await stream.next())?.data.data.notificationEvents.node.data.connectionId).toBe('one');
  }
  expect(takeSteps()).toEqual(['execute']);
  for (const stream of streams) stream.close();
});

test('masks an unexpected error of a plugin, and logs it, over HTTP and a WebSocket', async () => {
  const lines: { msg: string; err?: { message: string } }[] = [];
  const log = createLog('error', { write: (line) => lines.push(JSON.parse(line)) });
  const plugin: OperationPlugin = {
    onValidate() {
      throw new Error('The plugin failed.');
    },
  };
  await using failingApp = await createTestApp({ log, plugins: [plugin] });
  const tenant = await failingApp.createTenant();
  const { code, problem } = await tenant.expectRefusal(QUERY_VIEWER);
  expect([code, problem.status]).toEqual(['INTERNAL_ERROR', 500]);
  const socket = await openSocket((await failingApp.app.start()).url);
  socket.send({ type: 'connection_init', payload: createKeyHeaders(tenant) });
  await socket.next();
  socket.send({ type: 'subscribe', id: '1', payload: { query: QUERY_VIEWER } });
  expect(await socket.next()).toMatchObject({
    type: 'error',
    payload: [{ extensions: { code: 'INTERNAL_ERROR' } }],
  });
  socket.socket.terminate();
  expect(lines).toEqual(
    [1, 2].map(() =>
      expect.objectContaining({
        msg: 'error.internal',
        err: expect.objectContaining({ message: 'The plugin failed.' }),
      }),
    ),
  );
});

test('validates by zod over every transport, with a path for every problem', async () => {
  const tenant = await app.createTenant();
  const body = createTopicOperation(tenant, '');
  const listIssues = (errors: { extensions: { problem: { issues: { name: string }[] } } }[]) =>
    errors[0]?.extensions.problem.issues.map(({ name }) => name);
  const response = await app.fetch(
    '/graphql',
    createPost({ body, headers: createKeyHeaders(tenant) }),
  );
  expect(listIssues((await response.json()).errors)).toEqual(['input.name']);
  const socket = await openSocket(url);
  socket.send({ type: 'connection_init', payload: createKeyHeaders(tenant) });
  await socket.next();
  socket.send({ type: 'subscribe', id: '1', payload: body });
  expect(listIssues((await socket.next()).payload.errors)).toEqual(['input.name']);
  socket.socket.terminate();
});

/** Requests that the adapter handles, and some that it passes to Yoga. Each app sends them for its own tenant. */
const REQUESTS: Record<string, (tenant: Tenant) => SentRequest> = {
  'a query': (tenant) => ({ body: { query: QUERY_VIEWER }, headers: createKeyHeaders(tenant) }),
  'a query with variables, a name and extensions': (tenant) => ({
    body: {
      query:
        'query GetProject($id: String!) { project(idOrName: $id) { appName } } query GetViewer { viewer { kind } }',
      operationName: 'GetProject',
      variables: { id: tenant.projectId },
      extensions: {},
    },
    headers: createKeyHeaders(tenant),
  }),
  'a query that asks for its cost': (tenant) => ({
    body: { query: QUERY_VIEWER },
    headers: { ...createKeyHeaders(tenant), 'x-query-cost': '1' },
  }),
  'a mutation': (tenant) => ({
    body: createTopicOperation(tenant, 'topic'),
    headers: createKeyHeaders(tenant),
  }),
  'a mutation that is refused': (tenant) => ({
    body: createTopicOperation(tenant, ''),
    headers: createKeyHeaders(tenant),
  }),
  'a bad variable': (tenant) => ({
    body: { ...createTopicOperation(tenant, 'x'), variables: { input: 1 } },
    headers: createKeyHeaders(tenant),
  }),
  'a document that does not parse': () => ({ body: { query: '{' } }),
  'a document that is not valid': () => ({ body: { query: '{ nothing also }' } }),
  'a document without the named operation': () => ({
    body: { query: 'query GetViewer { viewer { kind } }', operationName: 'GetProject' },
  }),
  'a document that is too deep': () => ({
    body: { query: `${'{ viewer '.repeat(20)}{ kind }${' }'.repeat(20)}` },
  }),
  'an unknown documentId': () => ({ body: { documentId: 'nothing' } }),
  'a caller without credentials': () => ({ body: { query: QUERY_VIEWER } }),
  'a wrong key': () => ({
    body: { query: QUERY_VIEWER },
    headers: { 'x-api-key': `ik_${'0'.repeat(49)}` },
  }),
  'a missing query': () => ({ body: {} }),
  'a body that is a list': () => ({ body: [{ query: QUERY_VIEWER }] }),
  'a body that is not JSON': () => ({ body: '{' }),
  'an unknown member': () => ({ body: { query: QUERY_VIEWER, more: 1 } }),
  'an empty body': () => ({ body: '' }),
  'another content type': () => ({
    body: { query: QUERY_VIEWER },
    headers: { 'content-type': 'text/plain' },
  }),
};
const ACCEPT_HEADERS = [
  '*/*',
  'application/json',
  'application/graphql-response+json',
  'text/event-stream',
];

async function fetchResponse(target: typeof app, name: string, accept: string) {
  const tenant = await target.createTenant();
  const { body, headers } = (REQUESTS[name] as (tenant: Tenant) => SentRequest)(tenant);
  const response = await target.fetch(
    '/graphql',
    createPost({ body, headers: { ...headers, accept } }),
  );
  const text = await response.text();
  const tenantNames = new RegExp(
    Object.values({ id: tenant.projectId, name: tenant.projectName }).join('|'),
    'g',
  );
  const getHeader = (name: string) => response.headers.get(name);
  return {
    status: response.status,
    type: getHeader('content-type'),
    retryAfter: getHeader('retry-after'),
    hasRate: response.headers.has('ratelimit'),
    text: text
      .replace(tenantNames, 'PROJECT')
      .replaceAll(/urn:uuid:[\da-f-]+/g, 'INSTANCE')
      .replace(/^:\n\n/, ''),
  };
}

test.each(
  Object.keys(REQUESTS),
)('responds through the adapter as through Yoga: %s', async (name) => {
  for (const accept of ACCEPT_HEADERS) {
    expect({ accept, ...(await fetchResponse(app, name, accept)) }).toEqual({
      accept,
      ...(await fetchResponse(yogaApp, name, accept)),
    });
  }
});
