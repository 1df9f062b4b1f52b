/** Tests the proxy of the reference API by its documented requests. */
import { afterAll, expect, test } from 'vitest';
import { getSharedApp } from '../../../support/app.ts';
import {
  createCrmProvider,
  installProxy,
  startRawClient,
  startUpstream,
} from '../../../support/rest/proxy-installation.ts';

const HOST = 'proxy.test';
const upstream = await startUpstream();
afterAll(() => upstream[Symbol.asyncDispose]());
const app = await getSharedApp({
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8', PROXY_URL: `http://${HOST}` },
  providers: [createCrmProvider(`${upstream.url}/api`)],
});
const rawClient = await startRawClient(app);
afterAll(() => rawClient[Symbol.asyncDispose]());

const tenant = await app.createTenant();
const { path: proxyPath } = await installProxy(app, tenant);
const installationId = proxyPath.split('/').at(-2) as string;
const commonHeaders = {
  host: HOST,
  'x-api-key': tenant.apiKey,
  'x-amp-project-id': tenant.projectId,
  'x-amp-proxy-version': '1',
};
const groupHeaders = { 'x-amp-integration-name': 'crm-proxy', 'x-amp-group-ref': 'acme' };
const installationHeaders = { 'x-amp-installation-id': installationId };

test.each([
  ['an installation', installationHeaders],
  ['an integration and a group', groupHeaders],
  ['all three, of which the installation counts', { ...groupHeaders, ...installationHeaders }],
  [
    'an unknown integration next to an installation',
    { ...installationHeaders, ...groupHeaders, 'x-amp-integration-name': 'unknown' },
  ],
])("forwards the provider's path by the headers of %s", async (_, headers) => {
  let body = '';
  upstream.setHandler(async (req, res) => {
    body = Buffer.concat(await req.toArray()).toString();
    res.writeHead(201, { 'X-Vendor': 'yes' }).end('{"id":1}');
  });
  const response = await rawClient.send('/v56.0//sobjects/Account%2F?paginate=true&q=%C3%BC', {
    method: 'PUT',
    headers: { ...commonHeaders, ...headers, 'content-type': 'application/json' },
    body: '{"Name":"Acme"}',
  });
  expect(response).toMatchObject({ status: 201, text: '{"id":1}' });
  expect(response.headers).toMatchObject({ 'x-vendor': 'yes' });
  const request = upstream.requests.at(-1);
  expect(request).toMatchObject({
    method: 'PUT',
    url: '/api/v56.0//sobjects/Account%2F?paginate=true&q=%C3%BC',
    headers: { authorization: 'Key key-in-clear', 'content-type': 'application/json' },
  });
  expect(Object.keys(request?.headers ?? {}).filter((name) => name.startsWith('x-a'))).toEqual([]);
  expect(body).toBe('{"Name":"Acme"}');
});

test.each(['/', '/v1/projects', '/graphql', '/livez', '/?a'])('forwards %s', async (path) => {
  upstream.setHandler((_req, res) => res.end('from the provider'));
  const headers = { ...commonHeaders, ...installationHeaders };
  expect(await rawClient.send(path, { headers })).toMatchObject({ text: 'from the provider' });
  expect(upstream.requests.at(-1)?.url).toBe(`/api${path}`);
});

test.each([
  [
    'no header',
    { 'x-amp-project-id': '', 'x-amp-proxy-version': '' },
    ['x-amp-proxy-version', 'x-amp-project-id', 'x-amp-integration-name', 'x-amp-group-ref'],
  ],
  [
    'another version',
    { ...installationHeaders, 'x-amp-proxy-version': '2' },
    ['x-amp-proxy-version'],
  ],
  ['an integration alone', { 'x-amp-integration-name': 'crm-proxy' }, ['x-amp-group-ref']],
])('names each missing header: %s', async (_, headers, names) => {
  const requestCount = upstream.requests.length;
  const response = await rawClient.send('/x', { headers: { ...commonHeaders, ...headers } });
  expect(response.status).toBe(400);
  const { issues } = JSON.parse(response.text);
  expect(issues.map((issue: { in: string; name: string }) => `${issue.in} ${issue.name}`)).toEqual(
    names.map((name) => `header ${name}`),
  );
  expect(upstream.requests.length).toBe(requestCount);
});

test('refuses callers without a key or a scope, and installations of other projects', async () => {
  const otherTenant = await app.createTenant();
  const otherKey = { 'x-api-key': otherTenant.apiKey };
  for (const [headers, status] of [
    [{ 'x-api-key': 'wrong' }, 401],
    [{ 'x-api-key': await tenant.createKey('read') }, 403],
    [otherKey, 404],
    [{ ...otherKey, 'x-amp-project-id': otherTenant.projectId }, 404],
  ] as const) {
    for (const target of [installationHeaders, groupHeaders]) {
      const response = await rawClient.send('/x', {
        headers: { ...commonHeaders, ...target, ...headers },
      });
      expect(response.status).toBe(status);
    }
  }
});

test("serves the gateway's own paths on other hosts", async () => {
  const headers = { ...commonHeaders, host: 'gateway.test' };
  const response = await rawClient.send(`/v1/projects/${tenant.projectId}`, { headers });
  expect(JSON.parse(response.text)).toMatchObject({ id: tenant.projectId });
});
