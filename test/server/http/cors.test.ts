/** Tests that GraphQL, REST and WebSockets accept calls from the same pages. */
import { expect, test } from 'vitest';
import { createTestApp, getSharedApp } from '../../support/app.ts';
import { openRefusedSocket, openSocket } from '../../support/socket.ts';

const ORIGIN = 'https://app.example';
const OTHER_ORIGIN = 'https://evil.example';
const app = await getSharedApp({ env: { CORS_ORIGINS: ORIGIN } });
const tenant = await app.createTenant();
const topicsPath = `/v1/projects/${tenant.projectId}/topics`;
const keyHeaders = { 'x-api-key': tenant.apiKey };

const SURFACES = [
  '/graphql',
  topicsPath,
  '/mcp/projects/none',
  '/v1/projects/none/installations/none/proxy/x',
];

const sendPreflight = (path: string, origin: string, target = app) =>
  target.fetch(path, {
    method: 'OPTIONS',
    headers: {
      origin,
      'access-control-request-method': 'POST',
      'access-control-request-headers': 'x-api-key,content-type,last-event-id,x-query-cost',
    },
  });

test('grants a preflight of a configured origin with the same headers on every surface', async () => {
  for (const path of SURFACES) {
    const { status, headers } = await sendPreflight(path, ORIGIN);
    expect(status, path).toBe(204);
    expect(Object.fromEntries(headers)).toMatchObject({
      'access-control-allow-origin': ORIGIN,
      'access-control-allow-headers': 'x-api-key,content-type,last-event-id,x-query-cost',
      'access-control-allow-methods': 'GET, HEAD, POST, PUT, PATCH, DELETE',
      'access-control-max-age': '600',
      vary: expect.stringMatching(/^(Accept, )?Origin, Access-Control-Request-Headers$/),
    });
  }
});

test('grants no preflight of another origin', async () => {
  for (const path of SURFACES) {
    const { headers } = await sendPreflight(path, OTHER_ORIGIN);
    expect(headers.get('access-control-allow-origin'), path).toBeNull();
    expect(headers.get('vary'), path).toContain('Origin');
  }
});

const query = JSON.stringify({ query: '{ viewer { kind } }' });
const jsonHeaders = { 'content-type': 'application/json' };
const CALLS: [string, string, RequestInit][] = [
  [
    'a plain operation',
    '/graphql',
    { method: 'POST', headers: { ...jsonHeaders, ...keyHeaders }, body: query },
  ],
  ['a refused operation', '/graphql', { method: 'POST', headers: jsonHeaders, body: query }],
  [
    'an operation without a query',
    '/graphql',
    { method: 'POST', headers: { ...jsonHeaders, ...keyHeaders }, body: '{}' },
  ],
  [
    'an operation by GET',
    '/graphql?query={__typename}',
    { headers: { ...jsonHeaders, ...keyHeaders } },
  ],
  ['a REST request', topicsPath, { headers: keyHeaders }],
  ['a refused REST request', topicsPath, {}],
];

test.each(
  CALLS,
)('lets pages of a configured origin read the response to %s', async (_name, path, init) => {
  const requestFrom = (origin: string) =>
    app.fetch(path, { ...init, headers: { ...init.headers, origin } });
  const { headers } = await requestFrom(ORIGIN);
  expect(headers.get('access-control-allow-origin')).toBe(ORIGIN);
  expect(headers.get('access-control-expose-headers')).toMatch(/ratelimit.*retry-after/);
  expect(headers.get('access-control-allow-credentials')).toBeNull();
  expect((await requestFrom(OTHER_ORIGIN)).headers.get('access-control-allow-origin')).toBeNull();
});

test('lets no page of a configured origin read health and the OAuth pages', async () => {
  for (const path of ['/livez', '/oauth/connect', '/oauth/callback']) {
    const { headers } = await app.fetch(path, { headers: { origin: ORIGIN } });
    expect(headers.get('access-control-allow-origin'), path).toBeNull();
  }
});

test('opens WebSockets from configured origins and the gateway itself', async () => {
  const { url } = await app.app.start();
  for (const origin of [ORIGIN, url]) {
    const { socket } = await openSocket(url, { headers: { origin } });
    socket.terminate();
  }
  expect(await openRefusedSocket(url, { headers: { origin: OTHER_ORIGIN } })).toBe(403);
});

test('grants no other origin if none is configured', async () => {
  await using appWithoutOrigins = await createTestApp();
  for (const path of SURFACES) {
    const { headers } = await sendPreflight(path, ORIGIN, appWithoutOrigins);
    expect(headers.get('access-control-allow-origin'), path).toBeNull();
    expect(headers.get('vary'), path).toContain('Origin');
  }
});

test('returns the methods of the path for an OPTIONS request that is not a preflight', async () => {
  const { status, headers } = await app.fetch(topicsPath, {
    method: 'OPTIONS',
    headers: { origin: ORIGIN },
  });
  expect(status).toBe(204);
  expect(headers.get('allow')).toBe('GET, HEAD, OPTIONS, POST');
  expect(headers.get('access-control-allow-origin')).toBe(ORIGIN);
  expect(headers.get('access-control-allow-methods')).toBeNull();
});
