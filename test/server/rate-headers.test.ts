import { expect, test } from 'vitest';
import { createTestApp, getSharedApp } from '../support/app.ts';
import { setSharedTokens, stopRates } from '../support/process/rates.ts';

const app = await getSharedApp();
const tenant = await app.createTenant();
const keyHeaders = { 'x-api-key': tenant.apiKey };
const topicsPath = `/v1/projects/${tenant.projectName}/topics`;
const createQueryPath = (text: string) => `/graphql?query=${encodeURIComponent(text)}`;

function createRequest(text: string, extraHeaders: Record<string, string> = {}): RequestInit {
  const headers = { ...keyHeaders, 'content-type': 'application/json', ...extraHeaders };
  return { method: 'POST', headers, body: JSON.stringify({ query: text }) };
}

const QUERY_VIEWER = '{ viewer { __typename } }';

test.each<[string, string, RequestInit, number]>([
  ['REST', topicsPath, { headers: keyHeaders }, 200],
  ['a refused REST request', `${topicsPath}?pageSize=x`, { headers: keyHeaders }, 400],
  ['a REST request for an unknown project', '/v1/projects/none', { headers: keyHeaders }, 404],
  ['GraphQL by POST', '/graphql', createRequest(QUERY_VIEWER), 200],
  ['GraphQL by GET', createQueryPath(QUERY_VIEWER), { headers: keyHeaders }, 200],
  [
    'GraphQL as a stream',
    '/graphql',
    createRequest(QUERY_VIEWER, { accept: 'text/event-stream' }),
    200,
  ],
  [
    "a builder's query",
    createQueryPath('{ viewer { builder { id } } }'),
    { headers: createBearerHeaders() },
    200,
  ],
])('reports the rate in the response to %s', async (_description, path, init, status) => {
  const response = await app.fetch(path, init);
  expect(response.status).toBe(status);
  await response.text();
  expect(response.headers.get('ratelimit-policy')).toBe('"default";q=2000;w=2');
  expect(response.headers.get('ratelimit')).toMatch(/^"default";r=1\d{3};t=[12]$/);
});

function createBearerHeaders() {
  return { authorization: `Bearer ${tenant.token}` };
}

test('reports no rate to unauthenticated callers', async () => {
  for (const [path, init] of [
    [topicsPath, {}],
    [topicsPath, { headers: { 'x-api-key': 'ik_wrong' } }],
    [
      '/graphql',
      { ...createRequest(QUERY_VIEWER), headers: { 'content-type': 'application/json' } },
    ],
  ] as const) {
    const response = await app.fetch(path, init);
    expect(response.headers.has('ratelimit')).toBe(false);
  }
});

test.each(['memory', 'database'])('applies one rate in %s to GraphQL and REST', async (store) => {
  await using limitedApp = await createTestApp({
    env: { RATE_LIMIT_PER_SECOND: '1', RATE_LIMIT_BURST: '8', RATE_LIMIT_STORE: store },
  });
  stopRates();
  const { apiKey, apiKeyId, projectName } = await limitedApp.createTenant();
  await setSharedTokens(limitedApp.app.services.database, apiKeyId, 8);
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  const sendRest = () => limitedApp.fetch(`/v1/projects/${projectName}`, { headers });
  const sendGraphql = () =>
    limitedApp.fetch('/graphql', {
      method: 'POST',
      headers,
      body: JSON.stringify({ query: QUERY_VIEWER }),
    });
  const responses = await Promise.all(
    Array.from({ length: 40 }, (_, index) => (index % 2 ? sendRest : sendGraphql)()),
  );
  const refusals = responses.filter(({ status }) => status === 429);
  expect(refusals).toHaveLength(32);
  for (const response of refusals) {
    expect(response.headers.get('retry-after')).toBe('1');
    expect(response.headers.get('ratelimit')).toBe('"default";r=0;t=8');
    expect(response.headers.get('ratelimit-policy')).toBe('"default";q=8;w=8');
  }
  const types = new Set(refusals.map((response) => response.headers.get('content-type')));
  expect(types).toContain('application/problem+json');
});

test('counts a page of REST as one request for each 100 items that it may have', async () => {
  await using limitedApp = await createTestApp({
    env: { RATE_LIMIT_PER_SECOND: '1', RATE_LIMIT_BURST: '30' },
  });
  stopRates();
  const { apiKey, projectName } = await limitedApp.createTenant();
  const path = `/v1/projects/${projectName}/topics`;
  const sendQuery = async (query: string) => {
    const response = await limitedApp.fetch(path + query, { headers: { 'x-api-key': apiKey } });
    await response.text();
    const remaining = /r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1];
    return [response.status, Number(remaining)];
  };
  expect(await sendQuery('?pageSize=1000')).toEqual([200, 20]);
  expect(await sendQuery('?pageSize=100')).toEqual([200, 19]);
  // The default page size is 1,000.
  expect(await sendQuery('')).toEqual([200, 9]);
  expect(await sendQuery('')).toEqual([429, 8]);
});
