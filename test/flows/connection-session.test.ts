import { afterAll, expect, test } from 'vitest';
import { openProviderSessionOf } from '../../src/domain/connections/connection/connection-session.ts';
import type { Provider, ProviderRequest } from '../../src/providers/contract.ts';
import { getSharedApp } from '../support/app.ts';
import { generateConnection } from '../support/fixtures/connections.ts';
import { getConnection } from '../support/providers/oauth.ts';
import { type ServedResponse, startProviderServer } from '../support/providers/provider-server.ts';

let nextResponse: ServedResponse = { status: 200, body: {} };
const server = await startProviderServer(() => nextResponse);
afterAll(() => server[Symbol.asyncDispose]());

const baseProvider: Omit<Provider, 'name' | 'displayName'> = {
  baseUrl: `${server.url}/api/`,
  authSchemes: ['API_KEY'],
  apiKey: { in: 'header', name: 'Authorization', valuePrefix: 'Key ' },
  limits: {
    concurrency: 2,
    requestsPerSecond: 1_000,
    timeoutMs: 300,
    responseBytesMax: 1_000,
    batchSize: 1,
    pageSize: 1,
  },
  features: {
    associations: false,
    headers: false,
    idempotencyKeyLifetimeMs: null,
    allOrNoneTypes: [],
  },
  capabilities: { proxy: true },
};
const providers: Provider[] = [
  { ...baseProvider, name: 'header', displayName: 'Header CRM' },
  {
    ...baseProvider,
    name: 'query',
    displayName: 'Query CRM',
    apiKey: { in: 'query', name: 'apiKey' },
  },
  { ...baseProvider, name: 'gone', displayName: 'Gone CRM', baseUrl: 'http://127.0.0.1:9/' },
  { ...baseProvider, name: 'private', displayName: 'Private CRM', baseUrl: 'http://10.0.0.1' },
];
const app = await getSharedApp({ providers, env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' } });

async function openSessionTo(provider: string) {
  const { id } = await generateConnection(await app.createTenant(), {
    provider,
    apiKey: 'key-in-clear',
  });
  return openProviderSessionOf(app.app.services, await getConnection(app, id));
}

const GET_THINGS: ProviderRequest = { method: 'GET', path: '/things' };

async function expectFailure(provider: string, request = GET_THINGS) {
  const session = await openSessionTo(provider);
  const error = await session.send(request).catch((reason) => reason);
  expect(error).toMatchObject({ name: 'ProviderError' });
  expect(`${error.message} ${error.stack} ${error.cause}`).not.toContain('key-in-clear');
  return error;
}

test('sends the credentials with a request, which cannot replace them', async () => {
  const session = await openSessionTo('header');
  expect(session.baseUrl).toBe(`${server.url}/api`);
  nextResponse = { status: 201, headers: { 'X-Trace': 'a' }, body: { created: true } };
  const response = await session.send({
    method: 'POST',
    path: '/things?a=1',
    query: { b: 2, c: undefined, d: true },
    headers: { AUTHORIZATION: 'Bearer mine', 'X-Own': 'yes' },
    body: { name: 'x' },
  });
  expect(response).toMatchObject({
    status: 201,
    body: { created: true },
    headers: { 'x-trace': 'a' },
  });
  const request = server.requests.at(-1);
  expect(request).toMatchObject({ method: 'POST', path: '/api/things', body: { name: 'x' } });
  expect(Object.fromEntries(request?.query ?? [])).toEqual({ a: '1', b: '2', d: 'true' });
  expect(request?.headers).toMatchObject({ authorization: 'Key key-in-clear', 'x-own': 'yes' });
});

test('returns responses with any status, as JSON, text or null', async () => {
  const session = await openSessionTo('header');
  nextResponse = { status: 500, body: 'not json' };
  expect(await session.send(GET_THINGS)).toMatchObject({ status: 500, body: 'not json' });
  nextResponse = { status: 204 };
  expect(await session.send(GET_THINGS)).toMatchObject({ status: 204, body: null });
  nextResponse = { status: 302, headers: { location: 'https://evil.test/' } };
  expect(await session.send(GET_THINGS)).toMatchObject({ status: 302 });
});

test('sends credentials to no other origin', async () => {
  const countBefore = server.requests.length;
  for (const path of ['https://evil.test/', 'ftp://x', 'things']) {
    const error = await expectFailure('header', { method: 'GET', path });
    expect(error).toMatchObject({ kind: 'BAD_REQUEST', isTemporary: false });
  }
  expect(server.requests.length).toBe(countBefore);
  nextResponse = { status: 200, body: {} };
  const session = await openSessionTo('header');
  const path = `${server.url}/elsewhere?page=2`;
  expect((await session.send({ method: 'GET', path })).status).toBe(200);
  expect(server.requests.at(-1)).toMatchObject({ path: '/elsewhere' });
  await session.send({ method: 'GET', path: '' });
  expect(server.requests.at(-1)).toMatchObject({ path: '/api' });
  await session.send({ method: 'GET', path: '//evil.test/' });
  expect(server.requests.at(-1)).toMatchObject({ path: '/api//evil.test/' });
});

test('distinguishes the failures of requests, without naming credentials', async () => {
  expect(await expectFailure('gone')).toMatchObject({
    kind: 'UNREACHABLE',
    isOutcomeUnknown: false,
  });
  expect(await expectFailure('private')).toMatchObject({ kind: 'BAD_REQUEST' });
  server.failNext('DROPPED_CONNECTION');
  expect(await expectFailure('query')).toMatchObject({
    kind: 'DISCONNECTED',
    isOutcomeUnknown: true,
  });
  server.failNext('DROPPED_CONNECTION');
  const path = '/things?secret=1';
  const dropped = await expectFailure('header', { method: 'POST', path, body: {} });
  expect(dropped.message).toMatch(/^Header CRM, POST \/things: /);
  nextResponse = { status: 200, body: { text: 'x'.repeat(2_000) } };
  expect(await expectFailure('query')).toMatchObject({ kind: 'BAD_REQUEST' });
  expect(await expectFailure('query', { method: 'POST', path: '/things' })).toMatchObject({
    kind: 'DISCONNECTED',
    isOutcomeUnknown: true,
  });
});

test('sends no request to a provider until its Retry-After has passed', async () => {
  const session = await openSessionTo('header');
  nextResponse = { status: 429, headers: { 'retry-after': '3600' } };
  expect((await session.send(GET_THINGS)).status).toBe(429);
  const countBefore = server.requests.length;
  nextResponse = { status: 200, body: {} };
  const error = await session.send(GET_THINGS).catch((reason) => reason);
  expect(error).toMatchObject({ kind: 'RATE_LIMITED', isOutcomeUnknown: false });
  expect(error.retryAfterMs).toBeGreaterThan(3_500_000);
  expect(server.requests.length).toBe(countBefore);
  expect((await (await openSessionTo('header')).send(GET_THINGS)).status).toBe(200);
});

test('refuses a connection whose provider is not in the catalog', async () => {
  const tenant = await app.createTenant();
  const { id } = await generateConnection(tenant, { provider: 'header', apiKey: 'sandbox-key' });
  const connection = { ...(await getConnection(app, id)), provider: 'retired' };
  await expect(openProviderSessionOf(app.app.services, connection)).rejects.toThrow(
    /retired is no longer a provider/,
  );
});

test('refuses a connection that is deleted during the session', async () => {
  const tenant = await app.createTenant();
  const { id } = await generateConnection(tenant, { provider: 'header', apiKey: 'sandbox-key' });
  const session = await openProviderSessionOf(app.app.services, await getConnection(app, id));
  await app.app.services.database.prisma.connection.deleteMany({ where: { id } });
  await expect(session.send(GET_THINGS)).rejects.toThrow('The connection was deleted.');
});
