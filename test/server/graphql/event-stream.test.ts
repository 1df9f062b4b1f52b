import { createClient } from 'graphql-sse';
import { expect, test } from 'vitest';
import { encodeCursor } from '../../../src/domain/access/paging/list-cursor.ts';
import { createEventList } from '../../../src/domain/events/notification-event.ts';
import { createTestApp, getSharedApp, type Tenant, type TestApp } from '../../support/app.ts';
import {
  createNames,
  recordNamedEvent,
  recordNamedEvents,
  routeEvents,
} from '../../support/event-log.ts';
import { openEventStream } from '../../support/event-stream.ts';

// Without this setting, the app would wait longer for connections that fetch keeps open when it stops.
const app = await getSharedApp({ env: { SHUTDOWN_MS: '1000' } });
const { url } = await app.app.start();
const { database } = app.app.services;
const fetchPath = (path: string, init?: RequestInit) => fetch(`${url}${path}`, init);

const SUBSCRIBE_TO_EVENTS = `subscription FollowNotificationEvents($project: String!, $after: String) {
  notificationEvents(projectIdOrName: $project, after: $after) { cursor node { data } }
}`;

interface Edge {
  notificationEvents: { cursor: string; node: { data: { connectionId: string } } };
}

async function createTenantWithRoutes(owner: TestApp = app) {
  const tenant = await owner.createTenant();
  const { prisma } = owner.app.services.database;
  return { ...tenant, ...(await routeEvents(prisma, tenant.projectId)) };
}

/** The cursor before the first event. */
const encodeStart = (projectId: string) => encodeCursor(createEventList(projectId), 0n);

const createStreamClient = ({ apiKey }: Tenant) =>
  createClient({ url: `${url}/graphql`, headers: { 'x-api-key': apiKey }, retryAttempts: 0 });

test('sends events to graphql-sse, and ends the subscription of a client that disconnects', async () => {
  await using limitedApp = await createTestApp({ env: { LIMIT_SUBSCRIPTIONS: '1' } });
  const { url: limitedUrl } = await limitedApp.app.start();
  const tenant = await createTenantWithRoutes(limitedApp);
  await recordNamedEvents(limitedApp.app.services.database, tenant, createNames('e', 3));
  const headers = { 'x-api-key': tenant.apiKey };
  const client = createClient({
    url: `${limitedUrl}/graphql`,
    headers,
    retryAttempts: 20,
    retry: async () => {},
  });
  const variables = { project: tenant.projectId, after: encodeStart(tenant.projectId) };
  // The limit is one subscription, so the second subscription opens only after the first one ends.
  for (const _subscription of ['first', 'second']) {
    const receivedEvents = [];
    for await (const { data } of client.iterate<Edge>({ query: SUBSCRIBE_TO_EVENTS, variables })) {
      receivedEvents.push(data?.notificationEvents.node.data.connectionId);
      if (receivedEvents.length === 3) break;
    }
    expect(receivedEvents).toEqual(createNames('e', 3));
  }
  client.dispose();
});

test('runs a query for graphql-sse, and returns a refusal as a result', async () => {
  const tenant = await app.createTenant();
  const client = createStreamClient(tenant);
  const results = [];
  for await (const result of client.iterate({ query: '{ viewer { kind } }' })) results.push(result);
  for await (const result of client.iterate({
    query: SUBSCRIBE_TO_EVENTS,
    variables: { project: 'none' },
  })) {
    results.push(result);
  }
  for await (const result of client.iterate({ query: '{ nothing }' })) results.push(result);
  expect(results).toMatchObject([
    { data: { viewer: { kind: 'API_KEY' } } },
    { errors: [{ extensions: { code: 'NOT_FOUND', problem: { status: 404 } } }] },
    { errors: [{ extensions: { code: 'GRAPHQL_VALIDATION_FAILED' } }] },
  ]);
  client.dispose();
});

test('sends messages with ids, and resumes after the id in Last-Event-ID', async () => {
  const tenant = await createTenantWithRoutes();
  const { projectId } = tenant;
  await recordNamedEvents(database, tenant, createNames('e', 3));
  const openStream = (headers: Record<string, string>, after?: string) =>
    openEventStream(fetchPath, {
      query: SUBSCRIBE_TO_EVENTS,
      variables: { project: projectId, after },
      headers: { 'x-api-key': tenant.apiKey, ...headers },
    });
  const stream = await openStream({}, encodeStart(projectId));
  expect(Object.fromEntries(stream.headers)).toMatchObject({
    'content-type': 'text/event-stream; charset=utf-8',
    'cache-control': 'no-store',
    'x-request-id': expect.any(String),
  });
  const firstMessage = await stream.next();
  expect(firstMessage).toMatchObject({
    event: 'next',
    id: firstMessage?.data.data.notificationEvents.cursor,
    data: { data: { notificationEvents: { node: { data: { connectionId: 'e1' } } } } },
  });
  stream.close();
  const resumedStream = await openStream({ 'last-event-id': firstMessage?.id ?? '' });
  const names = [];
  for (let count = 0; count < 2; count += 1) {
    names.push((await resumedStream.next())?.data.data.notificationEvents.node.data.connectionId);
  }
  expect(names).toEqual(['e2', 'e3']);
  await recordNamedEvent(database, { projectId, name: 'new' });
  expect((await resumedStream.next())?.data.data.notificationEvents.node.data.connectionId).toBe(
    'new',
  );
  resumedStream.close();
});

test('returns 401 for a wrong key', async () => {
  const tenant = await app.createTenant();
  const variables = { project: tenant.projectId };
  const stream = await openEventStream(fetchPath, {
    query: SUBSCRIBE_TO_EVENTS,
    variables,
    headers: { 'x-api-key': 'ik_wrong' },
  });
  expect(stream.status).toBe(401);
  expect((await stream.next())?.data.errors[0].extensions.code).toBe('UNAUTHENTICATED');
});

test('returns JSON for a single result to a client that also accepts streams', async () => {
  const { apiKey } = await app.createTenant();
  const response = await fetchPath('/graphql', {
    method: 'POST',
    headers: {
      accept: 'application/json, text/event-stream',
      'content-type': 'application/json',
      'x-api-key': apiKey,
    },
    body: JSON.stringify({ query: '{ viewer { kind } }' }),
  });
  expect(await response.json()).toEqual({ data: { viewer: { kind: 'API_KEY' } } });
});

test('disconnects streams on stop without completing them, so that clients reconnect', async () => {
  const stoppingApp = await createTestApp();
  const { url: stoppingUrl } = await stoppingApp.app.start();
  const tenant = await createTenantWithRoutes(stoppingApp);
  const stream = await openEventStream((path, init) => fetch(`${stoppingUrl}${path}`, init), {
    query: SUBSCRIBE_TO_EVENTS,
    variables: { project: tenant.projectId },
    headers: { 'x-api-key': tenant.apiKey },
  });
  await recordNamedEvent(stoppingApp.app.services.database, {
    projectId: tenant.projectId,
    name: 'before',
  });
  expect(await stream.next()).toMatchObject({ event: 'next' });
  await stoppingApp[Symbol.asyncDispose]();
  expect(await stream.next()).toBeNull();
});
