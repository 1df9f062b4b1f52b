/**
 * Tests Apollo Client over HTTP with its defaults: HttpLink without configuration, and automatic persisted queries.
 *
 * @module-tag all/walk
 */
import { createHash } from 'node:crypto';
import { ApolloClient, ApolloLink, gql, HttpLink, InMemoryCache } from '@apollo/client/core';
import { PersistedQueryLink } from '@apollo/client/link/persisted-queries';
import { expect, test } from 'vitest';
import { createTestApp, getSharedApp, type Tenant, type TestApp } from '../support/app.ts';
import { createNames, recordNamedEvents, routeEvents } from '../support/event-log.ts';

const app = await getSharedApp();
/** An app without the adapter, so that Yoga's own handler serves every request. */
const yogaApp = await getSharedApp({ hasAdapter: false });

const SUBSCRIBE_TO_EVENTS = gql`subscription FollowNotificationEvents($project: String!) {
  notificationEvents(projectIdOrName: $project) { node { data } }
}`;
const QUERY_VIEWER = gql`{ viewer { kind } }`;

const createKeyHeaders = ({ apiKey }: Tenant) => ({ 'x-api-key': apiKey });

async function createClient(target: TestApp, tenant: Tenant, extraLinks: ApolloLink[] = []) {
  const { url } = await target.app.start();
  const http = new HttpLink({ uri: `${url}/graphql`, headers: createKeyHeaders(tenant) });
  return new ApolloClient({
    cache: new InMemoryCache(),
    link: ApolloLink.from([...extraLinks, http]),
  });
}

async function postSubscription(target: TestApp, tenant: Tenant, accept: string) {
  const { url } = await target.app.start();
  const query = SUBSCRIBE_TO_EVENTS.loc?.source.body;
  return fetch(`${url}/graphql`, {
    method: 'POST',
    headers: { accept, 'content-type': 'application/json', ...createKeyHeaders(tenant) },
    body: JSON.stringify({ query, variables: { project: tenant.projectId } }),
  });
}

const GRAPHQL_HANDLERS = [
  ['the adapter', app],
  ["Yoga's own handler", yogaApp],
] as const;

test.each(
  GRAPHQL_HANDLERS,
)('sends events of a subscription to HttpLink through %s', async (_, target) => {
  const tenant = await target.createTenant();
  const { database } = target.app.services;
  await routeEvents(database.prisma, tenant.projectId);
  const client = await createClient(target, tenant);
  const receivedEvents: string[] = [];
  const variables = { project: tenant.projectId };
  const failures: unknown[] = [];
  const subscription = client.subscribe({ query: SUBSCRIBE_TO_EVENTS, variables }).subscribe({
    next: ({ data, error }) => {
      if (error) failures.push(error);
      // biome-ignore lint/suspicious/noExplicitAny: the document says what is in it
      receivedEvents.push((data as any).notificationEvents.node.data.connectionId);
    },
    error: (error) => failures.push(error),
  });
  await expect
    .poll(async () => {
      if (receivedEvents.length === 0)
        await recordNamedEvents(database, tenant, createNames('e', 1));
      return receivedEvents.length;
    })
    .toBeGreaterThan(0);
  expect(receivedEvents[0]).toBe('e1');
  expect(failures).toEqual([]);
  subscription.unsubscribe();
});

test('returns a refused subscription to HttpLink as an error', async () => {
  const client = await createClient(app, await app.createTenant());
  const variables = { project: 'none' };
  const { promise, resolve } = Promise.withResolvers<unknown>();
  client
    .subscribe({ query: SUBSCRIBE_TO_EVENTS, variables })
    .subscribe({ next: resolve, error: resolve });
  expect(await promise).toMatchObject({
    error: { errors: [{ extensions: { code: 'NOT_FOUND' } }] },
  });
});

test('ends a multipart subscription with a transport error on stop', async () => {
  await using stoppingApp = await createTestApp();
  const tenant = await stoppingApp.createTenant();
  const response = await postSubscription(
    stoppingApp,
    tenant,
    'multipart/mixed;subscriptionSpec=1.0, application/json',
  );
  expect(response.headers.get('content-type')).toBe(
    'multipart/mixed;boundary="graphql";subscriptionSpec=1.0',
  );
  const text = response.text();
  await stoppingApp.app[Symbol.asyncDispose]();
  expect(await text).toMatch(/"payload":null,"errors":\[.*SERVICE_UNAVAILABLE.*--graphql--\r\n$/s);
});

test.each(
  GRAPHQL_HANDLERS,
)('refuses a subscription that accepts only JSON with 406 through %s', async (_, target) => {
  const tenant = await target.createTenant();
  const response = await postSubscription(target, tenant, 'application/json');
  expect(response.status).toBe(406);
  expect((await response.json()).errors[0]).toMatchObject({
    message: expect.stringContaining('text/event-stream or multipart/mixed'),
    extensions: { code: 'BAD_USER_INPUT', problem: { status: 406 } },
  });
});

test.each(
  GRAPHQL_HANDLERS,
)('makes the client send a persisted query in full through %s', async (_, target) => {
  const tenant = await target.createTenant();
  const sha256 = (text: string) => createHash('sha256').update(text).digest('hex');
  for (const useGETForHashedQueries of [false, true]) {
    const persisted = new PersistedQueryLink({ sha256, useGETForHashedQueries });
    const client = await createClient(target, tenant, [persisted]);
    const { data } = await client.query({ query: QUERY_VIEWER });
    expect(data).toMatchObject({ viewer: { kind: 'API_KEY' } });
  }
});

test('refuses a persisted query without text with PERSISTED_QUERY_NOT_SUPPORTED', async () => {
  const extensions = { persistedQuery: { version: 1, sha256Hash: 'a'.repeat(64) } };
  const headers = {
    'content-type': 'application/json',
    ...createKeyHeaders(await app.createTenant()),
  };
  const body = JSON.stringify({ extensions });
  const response = await app.fetch('/graphql', { method: 'POST', headers, body });
  expect(response.status).toBe(200);
  expect((await response.json()).errors[0]).toMatchObject({
    message: 'PersistedQueryNotSupported',
    extensions: { code: 'PERSISTED_QUERY_NOT_SUPPORTED' },
  });
});
