/**
 * Tests that pages of a project's allowed origins may send tokens of its end users and frontend keys, and no other
 * credentials.
 */
import { expect, test } from 'vitest';
import { type Scope, toScopeName } from '../../../src/domain/access/viewer/scopes.ts';
import { getSharedApp, type Tenant } from '../../support/app.ts';
import { openEventStream } from '../../support/event-stream.ts';
import { createEndUser } from '../../support/fixtures/end-users.ts';
import { openRefusedSocket, openSocket } from '../../support/socket.ts';

const SHOP_ORIGIN = 'https://shop.example';
const OTHER_SHOP = 'https://others.example';
const EVIL_ORIGIN = 'https://evil.example';
const CONSOLE_ORIGIN = 'https://console.example';
const app = await getSharedApp({ env: { CORS_ORIGINS: CONSOLE_ORIGIN } });
const UPDATE_PROJECT = `mutation UpdateProject($input: UpdateProjectInput!) {
  updateProject(input: $input) { project { allowedOrigins } }
}`;

function setAllowedOrigins(tenant: Tenant, ...allowedOrigins: string[]) {
  return tenant.query(UPDATE_PROJECT, {
    input: { projectIdOrName: tenant.projectId, allowedOrigins },
  });
}

async function createKey(owner: Tenant, ...scopes: Scope[]): Promise<string> {
  const create = `mutation CreateApiKey($input: CreateApiKeyInput!) {
    createApiKey(input: $input) { key }
  }`;
  const input = {
    projectIdOrName: owner.projectId,
    label: 'page',
    scopes: scopes.map(toScopeName),
  };
  return (await owner.query(create, { input })).createApiKey.key;
}

const tenant = await app.createTenant();
await setAllowedOrigins(tenant, SHOP_ORIGIN);
await setAllowedOrigins(await app.createTenant(), OTHER_SHOP);
const user = await createEndUser(app, tenant);
const query = '{ viewer { kind } }';
const JSON_HEADERS = { 'content-type': 'application/json' };
const CALLS: [string, string, RequestInit][] = [
  [
    'a query',
    '/graphql',
    { method: 'POST', headers: JSON_HEADERS, body: JSON.stringify({ query }) },
  ],
  ['a query by GET', `/graphql?query=${encodeURIComponent(query)}`, { headers: JSON_HEADERS }],
  ['an endpoint', `/v1/projects/${tenant.projectId}/integrations`, {}],
  ['the proxy', `/v1/projects/${tenant.projectId}/installations/none/proxy/x`, {}],
];

async function sendCall([, path, init]: (typeof CALLS)[number], headers: Record<string, string>) {
  const response = await app.fetch(path, { ...init, headers: { ...init.headers, ...headers } });
  return { response, text: await response.text() };
}

test.each(CALLS)('grants a preflight of %s to origins that a project allows', async (...call) => {
  const preflightHeaders = { 'access-control-request-method': 'POST' };
  const fetchGrant = async (origin: string) => {
    const init = { method: 'OPTIONS', headers: { ...preflightHeaders, origin } };
    const { status, headers } = await app.fetch(call[1], init);
    return [status, headers.get('access-control-allow-origin')];
  };
  expect(await fetchGrant(SHOP_ORIGIN)).toEqual([204, SHOP_ORIGIN]);
  expect(await fetchGrant(OTHER_SHOP)).toEqual([204, OTHER_SHOP]);
  expect((await fetchGrant(EVIL_ORIGIN))[1]).toBeNull();
});

test.each(CALLS)('accepts %s from pages of the project with a frontend key', async (...call) => {
  const headers = { 'x-api-key': await createKey(tenant, 'frontend') };
  const response = await sendCall(call, { ...headers, origin: SHOP_ORIGIN });
  expect(response.response.headers.get('access-control-allow-origin')).toBe(SHOP_ORIGIN);
  expect(response.text).not.toContain('accepted from a page');
  expect(response.text).not.toContain('allowedOrigins');
  for (const origin of [OTHER_SHOP, EVIL_ORIGIN]) {
    const { text } = await sendCall(call, { ...headers, origin });
    expect(text).toContain("it is not in the project's allowedOrigins");
  }
  const broaderKey = { 'x-api-key': await createKey(tenant, 'frontend', 'records:write') };
  const { text } = await sendCall(call, { ...broaderKey, origin: SHOP_ORIGIN });
  expect(text).toContain('whose only scope is frontend');
  expect(text).toContain('CORS_ORIGINS');
});

test.each(CALLS)("accepts %s from pages of the token's own project", async (...call) => {
  const response = await sendCall(call, { ...user.headers, origin: SHOP_ORIGIN });
  expect(response.response.headers.get('access-control-allow-origin')).toBe(SHOP_ORIGIN);
  expect(response.text).not.toContain('allowedOrigins');
  for (const origin of [OTHER_SHOP, EVIL_ORIGIN, 'null']) {
    const { text } = await sendCall(call, { ...user.headers, origin });
    expect([origin, text]).toEqual([
      origin,
      expect.stringContaining("it is not in the project's allowedOrigins"),
    ]);
    expect(text).toContain('forbidden');
  }
});

test.each(
  CALLS,
)('refuses %s from pages with another key or a builder’s token, and suggests the alternative', async (...call) => {
  const builder = { authorization: `Bearer ${tenant.token}` };
  for (const credentials of [{ 'x-api-key': tenant.apiKey }, builder]) {
    for (const origin of [SHOP_ORIGIN, EVIL_ORIGIN]) {
      const { text } = await sendCall(call, { ...credentials, origin });
      expect(text).toContain('createSessionToken');
      expect(text).toContain('forbidden');
    }
    for (const origin of [CONSOLE_ORIGIN, new URL((await app.fetch('/livez')).url).origin]) {
      expect((await sendCall(call, { ...credentials, origin })).text).not.toContain(
        'createSessionToken',
      );
    }
  }
});

test('applies the same rules to event streams', async () => {
  const subscription = {
    query: 'subscription FollowOperation { operation(id: "none") { id } }',
    variables: {},
  };
  const fetchCode = async (origin: string, headers: Record<string, string>) => {
    const stream = await openEventStream(app.fetch, {
      ...subscription,
      headers: { ...headers, origin },
    });
    const message = await stream.next();
    stream.close();
    return message?.data.errors[0].extensions.code;
  };
  expect(await fetchCode(SHOP_ORIGIN, user.headers)).toBe('NOT_FOUND');
  expect(await fetchCode(OTHER_SHOP, user.headers)).toBe('FORBIDDEN');
  expect(await fetchCode(SHOP_ORIGIN, { 'x-api-key': tenant.apiKey })).toBe('FORBIDDEN');
});

test('opens a WebSocket for allowed origins, and checks its connection_init', async () => {
  const { url } = await app.app.start();
  const initSocket = async (origin: string, payload: object) => {
    const socket = await openSocket(url, { headers: { origin } });
    socket.send({ type: 'connection_init', payload });
    const response = await Promise.race([socket.next(), socket.closed]);
    socket.socket.terminate();
    return response;
  };
  expect(await initSocket(SHOP_ORIGIN, user.headers)).toEqual({ type: 'connection_ack' });
  expect(await initSocket(OTHER_SHOP, user.headers)).toMatchObject({ code: 4403 });
  expect(await initSocket(SHOP_ORIGIN, { 'x-api-key': tenant.apiKey })).toMatchObject({
    code: 4403,
    reason: expect.stringContaining('createSessionToken'),
  });
  expect(await openRefusedSocket(url, { headers: { origin: EVIL_ORIGIN } })).toBe(403);
});

test('refuses an origin soon after it is no longer allowed', async () => {
  const changingTenant = await app.createTenant();
  const origin = 'https://changing.example';
  await setAllowedOrigins(changingTenant, origin);
  const endUser = await createEndUser(app, changingTenant);
  const [call] = CALLS as [(typeof CALLS)[number]];
  const fetchText = async () => (await sendCall(call, { ...endUser.headers, origin })).text;
  expect(await fetchText()).toContain('END_USER');
  await setAllowedOrigins(changingTenant);
  await expect.poll(fetchText).toContain("it is not in the project's allowedOrigins");
});

test.each([
  '*',
  'https://*',
  'https://*.app.example',
  "https://a;script-src'self'.app.example",
  'https://a,b.app.example',
  'https://ada@app.example',
  'https://a_b.app.example',
  'https://app.example.',
])('refuses %s in allowedOrigins', async (origin) => {
  const input = { projectIdOrName: tenant.projectId, allowedOrigins: [SHOP_ORIGIN, origin] };
  const { problem } = await tenant.expectRefusal(UPDATE_PROJECT, { input });
  expect(problem.issues).toEqual([expect.objectContaining({ name: 'input.allowedOrigins[1]' })]);
});

test('accepts DNS names, localhost and IP addresses in allowedOrigins', async () => {
  const { projectId, request } = await app.createTenant();
  const origins = [
    'http://localhost:3000',
    'http://127.0.0.1:3000',
    'http://[::1]:3000',
    'https://xn--bcher-kva.example',
    'https://app-1.example:8443',
  ];
  const input = { projectIdOrName: projectId, allowedOrigins: origins };
  const { data } = await request(UPDATE_PROJECT, { input });
  expect(data).toEqual({ updateProject: { project: { allowedOrigins: origins } } });
});
