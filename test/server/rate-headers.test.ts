import { expect, test } from 'vitest';
import { createTestApp, getSharedApp } from '../support/app.ts';

const app = await getSharedApp();
const tenant = await app.tenant();
const key = { 'x-api-key': tenant.apiKey };
const topics = `/v1/projects/${tenant.projectName}/topics`;
const createQueryPath = (text: string) => `/graphql?query=${encodeURIComponent(text)}`;

function createRequest(text: string, more: Record<string, string> = {}): RequestInit {
  const headers = { ...key, 'content-type': 'application/json', ...more };
  return { method: 'POST', headers, body: JSON.stringify({ query: text }) };
}

const VIEWER = '{ viewer { __typename } }';

test.each<[string, string, RequestInit, number]>([
  ['REST', topics, { headers: key }, 200],
  ['a refused REST request', `${topics}?pageSize=x`, { headers: key }, 400],
  ['a REST request for an unknown project', '/v1/projects/none', { headers: key }, 404],
  ['GraphQL by POST', '/graphql', createRequest(VIEWER), 200],
  ['GraphQL by GET', createQueryPath(VIEWER), { headers: key }, 200],
  ['GraphQL as a stream', '/graphql', createRequest(VIEWER, { accept: 'text/event-stream' }), 200],
  [
    "a builder's query",
    createQueryPath('{ viewer { builder { id } } }'),
    { headers: createBearerHeaders() },
    200,
  ],
])('reports the rate in the response to %s', async (_what, path, init, status) => {
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
    [topics, {}],
    [topics, { headers: { 'x-api-key': 'ik_wrong' } }],
    ['/graphql', { ...createRequest(VIEWER), headers: { 'content-type': 'application/json' } }],
  ] as const) {
    const response = await app.fetch(path, init);
    expect(response.headers.has('ratelimit')).toBe(false);
  }
});

test.each(['memory', 'database'])('applies one rate in %s to GraphQL and REST', async (store) => {
  await using slow = await createTestApp({
    env: { RATE_LIMIT_PER_SECOND: '1', RATE_LIMIT_BURST: '8', RATE_LIMIT_STORE: store },
  });
  const { apiKey, projectName } = await slow.tenant();
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  const rest = () => slow.fetch(`/v1/projects/${projectName}`, { headers });
  const graphql = () =>
    slow.fetch('/graphql', { method: 'POST', headers, body: JSON.stringify({ query: VIEWER }) });
  const responses = await Promise.all(
    Array.from({ length: 40 }, (_, i) => (i % 2 ? rest : graphql)()),
  );
  const refused = responses.filter(({ status }) => status === 429);
  expect(refused.length).toBeGreaterThan(0);
  expect(refused.length).toBeLessThanOrEqual(32);
  for (const response of refused) {
    expect(response.headers.get('retry-after')).toBe('1');
    expect(response.headers.get('ratelimit')).toMatch(/^"default";r=[01];t=[678]$/);
    expect(response.headers.get('ratelimit-policy')).toBe('"default";q=8;w=8');
  }
  const types = new Set(refused.map((response) => response.headers.get('content-type')));
  expect(types).toContain('application/problem+json');
});

test('counts a page of REST as one request for each 100 items that it may have', async () => {
  await using slow = await createTestApp({
    env: { RATE_LIMIT_PER_SECOND: '1', RATE_LIMIT_BURST: '30' },
  });
  const { apiKey, projectName } = await slow.tenant();
  const path = `/v1/projects/${projectName}/topics`;
  const sendQuery = async (query: string) => {
    const response = await slow.fetch(path + query, { headers: { 'x-api-key': apiKey } });
    await response.text();
    const remaining = /r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1];
    return [response.status, Number(remaining)];
  };
  // The bucket gains a token each second, and a slow machine may need a second for a request.
  const expectRemaining = ([status, remaining]: (number | undefined)[], expected: number) => {
    expect(status).toBe(200);
    expect(remaining).toBeGreaterThanOrEqual(expected);
    expect(remaining).toBeLessThan(expected + 8);
  };
  expectRemaining(await sendQuery('?pageSize=1000'), 20);
  expectRemaining(await sendQuery('?pageSize=100'), 19);
  // The default page size is 1,000.
  expectRemaining(await sendQuery(''), 9);
  let last = await sendQuery('');
  while (last[0] === 200) last = await sendQuery('');
  expect(last[0]).toBe(429);
});
