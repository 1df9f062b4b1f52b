/** Every operation passes Yoga's plugins, over every transport, and the adapter responds as Yoga's own handler does. */
import { expect, test } from 'vitest';
import type { OperationPlugin } from '../../../src/graphql/execution/operation-context.ts';
import { routesOf } from '../../../src/server/http/routes.ts';
import { sharedApp, type Tenant } from '../../support/app.ts';
import { record, routeEvents } from '../../support/event-log.ts';
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
const app = await sharedApp({ plugins: [observer] });
/** The same app without the adapter: Yoga's own handler takes every request. */
const yogaOnly = await sharedApp({
  routes: (handlers) => routesOf({ ...handlers, plainGraphql: handlers.yogaGraphql }),
});
const { database } = app.app.services;
const { url } = await app.app.start();

const QUERY = '{ viewer { kind } }';
const EVENTS = `subscription ($project: String!) {
  notificationEvents(projectIdOrName: $project) { node { data } }
}`;
const OPENED = ['parse', 'validate', 'context'];
const takeSteps = () => steps.splice(0);

interface Sent {
  body?: unknown;
  headers?: Record<string, string>;
}

function post({ body, headers }: Sent): RequestInit {
  return {
    method: 'POST',
    headers: { 'content-type': 'application/json', ...headers },
    body: typeof body === 'string' ? body : JSON.stringify(body),
  };
}

const asKey = ({ apiKey }: Tenant) => ({ 'x-api-key': apiKey });

const createTopic = ({ projectId }: Tenant, name: string) => ({
  query:
    'mutation Create($input: CreateTopicInput!) { createTopic(input: $input) { topic { name } } }',
  variables: { input: { projectIdOrName: projectId, name } },
});

test('plugins act on queries and mutations by POST, and on queries by GET', async () => {
  const tenant = await app.tenant();
  const headers = asKey(tenant);
  takeSteps();
  await app.fetch('/graphql', post({ body: { query: QUERY }, headers }));
  expect(takeSteps()).toEqual([...OPENED, 'execute']);
  await app.fetch('/graphql', post({ body: createTopic(tenant, 'one'), headers }));
  expect(takeSteps()).toEqual([...OPENED, 'execute']);
  await app.fetch(`/graphql?query=${encodeURIComponent(QUERY)}`, { headers });
  expect(takeSteps()).toEqual([...OPENED, 'execute']);
});

test('plugins act on a query over a WebSocket', async () => {
  const socket = await openSocket(url);
  socket.send({ type: 'connection_init', payload: asKey(await app.tenant()) });
  await socket.next();
  takeSteps();
  socket.send({ type: 'subscribe', id: '1', payload: { query: QUERY } });
  expect(await socket.next()).toMatchObject({ type: 'next' });
  expect(takeSteps()).toEqual([...OPENED, 'execute']);
  socket.socket.terminate();
});

test('plugins act on each subscription, and once on an event that subscriptions share', async () => {
  const tenant = await app.tenant();
  await routeEvents(database.prisma, tenant.projectId);
  const subscribe = () =>
    openEventStream(app.fetch, {
      query: EVENTS,
      variables: { project: tenant.projectId },
      headers: asKey(tenant),
    });
  takeSteps();
  const streams = [await subscribe(), await subscribe()];
  expect(takeSteps()).toEqual([...OPENED, 'subscribe', ...OPENED, 'subscribe']);
  await record(database, { projectId: tenant.projectId, name: 'one' });
  for (const stream of streams) {
    expect((await stream.next())?.data.data.notificationEvents.node.data.connectionId).toBe('one');
  }
  expect(takeSteps()).toEqual(['execute']);
  for (const stream of streams) stream.leave();
});

test('validation by zod acts over every transport, with a path for every problem', async () => {
  const tenant = await app.tenant();
  const body = createTopic(tenant, '');
  const issuesOf = (errors: { extensions: { problem: { issues: { name: string }[] } } }[]) =>
    errors[0]?.extensions.problem.issues.map(({ name }) => name);
  const response = await app.fetch('/graphql', post({ body, headers: asKey(tenant) }));
  expect(issuesOf((await response.json()).errors)).toEqual(['input.name']);
  const socket = await openSocket(url);
  socket.send({ type: 'connection_init', payload: asKey(tenant) });
  await socket.next();
  socket.send({ type: 'subscribe', id: '1', payload: body });
  expect(issuesOf((await socket.next()).payload.errors)).toEqual(['input.name']);
  socket.socket.terminate();
});

/** Requests that the adapter takes, and some that it leaves to Yoga. The tenant is created for each app. */
const REQUESTS: Record<string, (tenant: Tenant) => Sent> = {
  'a query': (tenant) => ({ body: { query: QUERY }, headers: asKey(tenant) }),
  'a query with variables, a name and extensions': (tenant) => ({
    body: {
      query:
        'query One($id: String!) { project(idOrName: $id) { appName } } query Two { viewer { kind } }',
      operationName: 'One',
      variables: { id: tenant.projectId },
      extensions: {},
    },
    headers: asKey(tenant),
  }),
  'a query that asks for its cost': (tenant) => ({
    body: { query: QUERY },
    headers: { ...asKey(tenant), 'x-query-cost': '1' },
  }),
  'a mutation': (tenant) => ({ body: createTopic(tenant, 'topic'), headers: asKey(tenant) }),
  'a mutation that is refused': (tenant) => ({
    body: createTopic(tenant, ''),
    headers: asKey(tenant),
  }),
  'a bad variable': (tenant) => ({
    body: { ...createTopic(tenant, 'x'), variables: { input: 1 } },
    headers: asKey(tenant),
  }),
  'a document that does not parse': () => ({ body: { query: '{' } }),
  'a document that is not valid': () => ({ body: { query: '{ nothing also }' } }),
  'a document without the named operation': () => ({
    body: { query: 'query A { viewer { kind } }', operationName: 'B' },
  }),
  'a document that is too deep': () => ({
    body: { query: `${'{ viewer '.repeat(20)}{ kind }${' }'.repeat(20)}` },
  }),
  'an unknown documentId': () => ({ body: { documentId: 'nothing' } }),
  'a caller without credentials': () => ({ body: { query: QUERY } }),
  'a wrong key': () => ({
    body: { query: QUERY },
    headers: { 'x-api-key': `ik_${'0'.repeat(49)}` },
  }),
  'a missing query': () => ({ body: {} }),
  'a body that is a list': () => ({ body: [{ query: QUERY }] }),
  'a body that is not JSON': () => ({ body: '{' }),
  'an unknown member': () => ({ body: { query: QUERY, more: 1 } }),
  'an empty body': () => ({ body: '' }),
  'another content type': () => ({
    body: { query: QUERY },
    headers: { 'content-type': 'text/plain' },
  }),
};
const ACCEPTS = [
  '*/*',
  'application/json',
  'application/graphql-response+json',
  'text/event-stream',
];

async function responseOf(to: typeof app, name: string, accept: string) {
  const tenant = await to.tenant();
  const { body, headers } = (REQUESTS[name] as (tenant: Tenant) => Sent)(tenant);
  const response = await to.fetch('/graphql', post({ body, headers: { ...headers, accept } }));
  const text = await response.text();
  const own = new RegExp(
    Object.values({ id: tenant.projectId, name: tenant.projectName }).join('|'),
    'g',
  );
  const header = (one: string) => response.headers.get(one);
  return {
    status: response.status,
    type: header('content-type'),
    retryAfter: header('retry-after'),
    hasRate: response.headers.has('ratelimit'),
    text: text.replace(own, 'PROJECT').replace(/^:\n\n/, ''),
  };
}

test.each(Object.keys(REQUESTS))('the adapter responds as Yoga does: %s', async (name) => {
  for (const accept of ACCEPTS) {
    expect({ accept, ...(await responseOf(app, name, accept)) }).toEqual({
      accept,
      ...(await responseOf(yogaOnly, name, accept)),
    });
  }
});
