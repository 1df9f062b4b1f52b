import { once } from 'node:events';
import { Agent, type ServerResponse } from 'node:http';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import type { Provider } from '../../../../src/providers/contract.ts';
import { getSharedApp } from '../../../support/app.ts';
import {
  createCrmProvider,
  installProxy,
  startRawClient,
  startUpstream,
} from '../../../support/rest/proxy-installation.ts';

const upstream = await startUpstream();
afterAll(() => upstream[Symbol.asyncDispose]());

const base = createCrmProvider(`${upstream.url}/api`);
/** Capabilities of a provider that stops supporting the proxy after it is installed. */
const closing: Provider['capabilities'] = { proxy: true };
const app = await getSharedApp({
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  providers: [
    base,
    { ...base, name: 'query', apiKey: { in: 'query', name: 'apiKey' } },
    { ...base, name: 'silent', limits: { ...base.limits, timeoutMs: 300 } },
    { ...base, name: 'gone', baseUrl: 'http://127.0.0.1:9' },
    { ...base, name: 'private', baseUrl: 'http://10.0.0.1' },
    { ...base, name: 'closed', capabilities: closing },
  ],
});
const rawClient = await startRawClient(app);
afterAll(() => rawClient[Symbol.asyncDispose]());

async function createProxy(provider = 'crm') {
  const tenant = await app.createTenant();
  const { path, connectionId } = await installProxy(app, tenant, { provider });
  const key = { 'x-api-key': tenant.apiKey };
  return { tenant, path, connectionId, key };
}

const crm = await createProxy();
const getLatestRequest = () => upstream.requests.at(-1);

test('forwards method, path, query and body unchanged, and returns the response unchanged', async () => {
  let body = '';
  upstream.setHandler(async (req, res) => {
    body = Buffer.concat(await req.toArray()).toString();
    res.writeHead(418, 'Teapot', { 'Content-Type': 'text/odd', 'X-Trace': ['a', 'b'] });
    res.end('no json');
  });
  const response = await rawClient.send(`${crm.path}/v3//a%2Fb?q=1&q=%C3%BC+x&flag`, {
    method: 'PATCH',
    headers: { ...crm.key, 'content-type': 'no/such;type', 'x-own': 'yes' },
    body: '{"not": json',
  });
  expect(response).toMatchObject({ status: 418, text: 'no json' });
  expect(response.headers).toMatchObject({ 'content-type': 'text/odd', 'x-trace': 'a, b' });
  expect(getLatestRequest()).toMatchObject({
    method: 'PATCH',
    url: '/api/v3//a%2Fb?q=1&q=%C3%BC+x&flag',
    headers: { 'content-type': 'no/such;type', 'x-own': 'yes', 'content-length': '12' },
  });
  expect(body).toBe('{"not": json');
});

test.each([
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'DELETE',
  'OPTIONS',
  'PROPFIND',
  'SEARCH',
  'QUERY',
])('forwards %s with a body and without', async (method) => {
  upstream.setHandler(async (req, res) => {
    const length = Buffer.concat(await req.toArray()).length;
    res.writeHead(200, { 'x-length': length, 'content-length': 2 }).end('ok');
  });
  const bare = await rawClient.send(crm.path, { method, headers: crm.key });
  expect(bare).toMatchObject({ status: 200, text: method === 'HEAD' ? '' : 'ok' });
  expect(bare.headers).toMatchObject({ 'x-length': '0', 'content-length': '2' });
  expect(getLatestRequest()).toMatchObject({ method, url: '/api' });
  const full = await rawClient.send(`${crm.path}?a`, {
    method,
    headers: { ...crm.key, 'content-length': '5' },
    body: 'hello',
  });
  expect(full.headers).toMatchObject({ 'x-length': '5' });
  expect(getLatestRequest()?.url).toBe('/api?a');
});

test('refuses TRACE, which would return the credentials', async () => {
  const requestCount = upstream.requests.length;
  const response = await rawClient.send(`${crm.path}/x`, { method: 'TRACE', headers: crm.key });
  expect([404, 405]).toContain(response.status);
  expect(upstream.requests.length).toBe(requestCount);
});

test('removes hop-by-hop headers, and headers of the caller and of proxies', async () => {
  upstream.setHandler((_req, res) => {
    res.writeHead(200, {
      Connection: 'x-hop',
      'X-Hop': '1',
      'Set-Cookie': 'a=b',
      'Strict-Transport-Security': 'max-age=1',
      'Access-Control-Allow-Origin': '*',
      'X-Request-Id': 'theirs',
      'Proxy-Authenticate': 'Basic',
      'X-RateLimit-Remaining': '7',
    });
    res.end();
  });
  const response = await rawClient.send(`${crm.path}/x`, {
    headers: {
      ...crm.key,
      authorization: 'Bearer mine',
      cookie: 'session=mine',
      connection: 'X-Listed, Authorization',
      'x-listed': '1',
      te: 'trailers',
      'proxy-authorization': 'Basic mine',
      'x-forwarded-for': '10.0.0.1',
      'x-amp-project-id': 'p',
      'x-kept': 'yes',
    },
  });
  const headers = getLatestRequest()?.headers ?? {};
  expect(headers).toMatchObject({ authorization: 'Key key-in-clear', 'x-kept': 'yes' });
  expect(headers.host).toBe(new URL(upstream.url).host);
  expect(JSON.stringify(headers)).not.toContain('mine');
  for (const name of [
    'x-api-key',
    'cookie',
    'x-listed',
    'te',
    'x-forwarded-for',
    'x-amp-project-id',
  ]) {
    expect(headers).not.toHaveProperty(name);
  }
  expect(response.headers).toMatchObject({ 'x-ratelimit-remaining': '7' });
  expect(response.headers['x-request-id']).not.toBe('theirs');
  for (const name of ['x-hop', 'set-cookie', 'strict-transport-security', 'proxy-authenticate']) {
    expect(response.headers).not.toHaveProperty(name);
  }
  expect(response.headers).not.toHaveProperty('access-control-allow-origin');
});

test('streams both bodies, so that the response begins before the request ends', async () => {
  upstream.setHandler(async (req, res) => {
    res.writeHead(200);
    for await (const chunk of req) res.write(`got ${chunk}`);
    res.end('over');
  });
  const headers = { ...crm.key, 'transfer-encoding': 'chunked' };
  const { outgoing, incoming } = rawClient.open(`${crm.path}/echo`, { method: 'POST', headers });
  outgoing.write('one');
  const response = await incoming;
  expect(String((await once(response, 'data'))[0])).toBe('got one');
  outgoing.write('two');
  expect(String((await once(response, 'data'))[0])).toBe('got two');
  outgoing.end();
  expect(Buffer.concat(await response.toArray()).toString()).toBe('over');
});

test.each([
  ['the response', 413, (res: ServerResponse) => res.writeHead(413).end('too large')],
  ['the problem', 502, (res: ServerResponse) => res.socket?.destroy()],
] as const)('returns %s before the request ends, and keeps the connection usable', async (_what, status, respondEarly) => {
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  upstream.setHandler((_req, res) => void respondEarly(res));
  const headers = { ...crm.key, 'transfer-encoding': 'chunked' };
  const early = rawClient.open(`${crm.path}/x`, { method: 'POST', headers, agent });
  early.outgoing.write('x'.repeat(100_000));
  const response = await early.incoming;
  expect(response.statusCode).toBe(status);
  await response.toArray();
  const { outgoing } = early;
  const { localPort } = outgoing.socket ?? {};
  for (let count = 0; count < 20; count += 1) outgoing.write('x'.repeat(100_000));
  outgoing.end();
  upstream.setHandler((_req, res) => void res.end('next'));
  const nextResponse = rawClient.open(`${crm.path}/x`, { headers: crm.key, agent, body: '' });
  expect(Buffer.concat(await (await nextResponse.incoming).toArray()).toString()).toBe('next');
  expect(nextResponse.outgoing.socket?.localPort).toBe(localPort);
  agent.destroy();
});

test('aborts the request to the provider if the caller disconnects', async () => {
  for (const hasResponse of [false, true]) {
    const { promise: arrived, resolve } = Promise.withResolvers<void>();
    const { promise: ended, resolve: end } = Promise.withResolvers<void>();
    upstream.setHandler((req, res) => {
      req.socket.once('close', end);
      if (hasResponse) res.writeHead(200).write('begun');
      resolve();
    });
    const { outgoing, incoming } = rawClient.open(`${crm.path}/x`, { headers: crm.key, body: '' });
    incoming.catch(() => {});
    await arrived;
    if (hasResponse) (await incoming).on('error', () => {});
    outgoing.destroy();
    await ended;
  }
});

test('returns redirects without credentials', async () => {
  const query = await createProxy('query');
  upstream.setHandler((req, res) => {
    res.writeHead(302, { location: `https://elsewhere.test${req.url}` }).end();
  });
  const requestCount = upstream.requests.length;
  const redirect = await rawClient.send(`${query.path}/x?a=1&apiKey=mine&b`, {
    headers: query.key,
  });
  expect(redirect.status).toBe(302);
  expect(getLatestRequest()?.url).toBe('/api/x?a=1&b&apiKey=key-in-clear');
  expect(redirect.headers.location).toBe('https://elsewhere.test/api/x?a=1&b=');
  expect(upstream.requests.length).toBe(requestCount + 1);
});

test('refuses paths outside the address of the account', async () => {
  const requestCount = upstream.requests.length;
  for (const path of ['/../secret', '/%2e%2e/secret', '/a/../../secret', '/..\\secret']) {
    const response = await rawClient.send(`${crm.path}${path}`, { headers: crm.key });
    expect(response.status).toBe(422);
  }
  expect(upstream.requests.length).toBe(requestCount);
});

test('refuses callers without access to the installation or without the scope', async () => {
  const requestCount = upstream.requests.length;
  const fetchStatus = async (headers: Record<string, string>, path = crm.path) =>
    (await rawClient.send(`${path}/x`, { method: 'POST', headers, body: '{}' })).status;
  const otherTenant = await app.createTenant();
  expect(await fetchStatus({})).toBe(401);
  expect(await fetchStatus({ 'x-api-key': 'ik_wrong' })).toBe(401);
  expect(await fetchStatus({ 'x-api-key': otherTenant.apiKey })).toBe(404);
  expect(await fetchStatus({ authorization: `Bearer ${otherTenant.token}` })).toBe(404);
  expect(await fetchStatus(crm.key, crm.path.replace(/ins_\w+/, 'ins_%00'))).toBe(400);
  expect(await fetchStatus(crm.key, crm.path.replace(/ins_\w+/, 'ins_none'))).toBe(404);
  const { prisma } = app.app.services.database;
  const where = { id: crm.tenant.apiKeyId };
  for (const scopes of [['read'], ['records:write']]) {
    await prisma.apiKey.updateMany({ where, data: { scopes } });
    app.app.services.viewers.clear();
    expect(await fetchStatus(crm.key)).toBe(403);
  }
  await prisma.apiKey.updateMany({ where, data: { scopes: ['full'] } });
  app.app.services.viewers.clear();
  expect(upstream.requests.length).toBe(requestCount);
  expect(await fetchStatus(crm.key)).not.toBe(403);
});

test('returns a problem for requests that it cannot forward or whose provider is unreachable', async () => {
  const tenant = await app.createTenant();
  const disabled = await installProxy(app, tenant, { enabled: false });
  const key = { 'x-api-key': tenant.apiKey };
  const expectProblem = async (path: string, headers = key) => {
    const response = await rawClient.send(`${path}/x?secret`, { headers });
    expect(response.headers['content-type']).toBe('application/problem+json');
    expect(response.text).not.toMatch(/key-in-clear|secret/);
    return JSON.parse(response.text);
  };
  expect(await expectProblem(disabled.path)).toMatchObject({ status: 422 });
  for (const [provider, expectedProblem] of [
    ['closed', { status: 422, detail: 'Requests to CRM are not forwarded.' }],
    ['gone', { status: 502, reason: 'UNREACHABLE' }],
    ['private', { status: 422 }],
  ] as const) {
    const { path, key } = await createProxy(provider);
    delete closing.proxy;
    expect(await expectProblem(path, key)).toMatchObject(expectedProblem);
  }
  upstream.setHandler((req) => void req.socket.destroy());
  expect(await expectProblem(crm.path, crm.key)).toMatchObject({
    status: 502,
    reason: 'DISCONNECTED',
  });
});

test("aborts a request after the provider's time limit if the provider hangs", async () => {
  const silent = await createProxy('silent');
  upstream.setHandler(() => {});
  const hung = await rawClient.send(`${silent.path}/x`, { headers: silent.key });
  expect(JSON.parse(hung.text)).toMatchObject({ status: 504, reason: 'TIMEOUT' });
  upstream.setHandler((_req, res) => void res.writeHead(200).write('begun'));
  const { incoming } = rawClient.open(`${silent.path}/x`, { headers: silent.key, body: '' });
  await expect((await incoming).toArray()).rejects.toThrow('aborted');
});

test('sends no request to a provider until its Retry-After has passed', async () => {
  const busy = await createProxy();
  upstream.setHandler(
    (_req, res) => void res.writeHead(429, { 'retry-after': '3600' }).end('theirs'),
  );
  const refusal = await rawClient.send(`${busy.path}/x`, { headers: busy.key });
  expect(refusal).toMatchObject({ status: 429, text: 'theirs' });
  const requestCount = upstream.requests.length;
  const delayed = await rawClient.send(`${busy.path}/x`, { headers: busy.key });
  expect(JSON.parse(delayed.text)).toMatchObject({ status: 429, type: 'urn:problem:rate-limited' });
  expect(Number(delayed.headers['retry-after'])).toBeGreaterThan(3_500);
  expect(upstream.requests.length).toBe(requestCount);
});

test('returns the 401 of a provider without a health check, and keeps the status of the connection', async () => {
  const bad = await createProxy();
  upstream.setHandler((_req, res) => void res.writeHead(401).end('who are you?'));
  const response = await rawClient.send(`${bad.path}/x`, { headers: bad.key });
  expect(response).toMatchObject({ status: 401, text: 'who are you?' });
  const { prisma } = app.app.services.database;
  const storedConnection = await prisma.connection.findFirstOrThrow({
    where: { id: bad.connectionId },
  });
  expect(storedConnection.status).toBe('CREATED');
});

test('serves other requests if a 401 response breaks off', async () => {
  const { path, key } = await createProxy();
  upstream.setHandler((req, res) => {
    res.writeHead(401, { 'content-length': 10 });
    res.flushHeaders();
    setImmediate(() => req.socket.resetAndDestroy());
  });
  await rawClient.send(path, { headers: key }).catch(() => {});
  upstream.setHandler((_req, res) => res.end('well'));
  expect(await rawClient.send(crm.path, { headers: crm.key })).toMatchObject({ text: 'well' });
});

test("sandboxes a provider's page, so that it cannot run on the gateway's origin", async () => {
  upstream.setHandler((_req, res) => {
    res.writeHead(200, {
      'content-type': 'text/html',
      'content-security-policy': "sandbox allow-scripts; default-src 'self'",
      'x-content-type-options': 'none',
    });
    res.end('<script>alert(1)</script>');
  });
  const { headers } = await rawClient.send(`${crm.path}/page`, { headers: crm.key });
  expect(headers).toMatchObject({
    'content-type': 'text/html',
    'content-security-policy': "sandbox allow-scripts; default-src 'self', sandbox",
    'x-content-type-options': 'nosniff',
  });
});

test('forwards requests and pages without a warning of Node', async () => {
  const warnings: Error[] = [];
  const record = (warning: Error) => warnings.push(warning);
  process.on('warning', record);
  onTestFinished(() => void process.off('warning', record));
  // Only a started server tracks the responses of its connections.
  const { url } = await app.app.start();
  upstream.setHandler((_req, res) => void res.end('{"results": []}'));
  for (const path of ['/v3/contacts', '/v3/contacts?paginate=true']) {
    const response = await fetch(url + crm.path + path, { headers: crm.key });
    expect(response.status).toBe(200);
    await response.text();
  }
  // Node emits warnings in a later turn of the event loop.
  await new Promise(setImmediate);
  expect(warnings).toEqual([]);
});
