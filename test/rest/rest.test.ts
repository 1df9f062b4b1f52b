import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { ENDPOINTS } from '../../src/rest/endpoints.ts';
import { createTestApp, getSharedApp } from '../support/app.ts';
import { stopRates } from '../support/process/rates.ts';
import { createRestClient, createRestTenant } from '../support/rest/rest-client.ts';

const app = await getSharedApp();
const rest = await createRestTenant(app);
const JSON_HEADERS = { 'x-api-key': rest.tenant.apiKey, 'content-type': 'application/json' };
const topicsUrl = `/v1${rest.base}/topics`;

test('returns 401 as a problem without credentials', async () => {
  const anonymous = createRestClient(app, {});
  for (const { method, path } of ENDPOINTS) {
    const url = path.replace(/\{\w+\}/g, 'x');
    expect(await anonymous.expectRefusal(method, url)).toMatchObject({
      status: 401,
      type: 'urn:problem:unauthenticated',
    });
  }
});

test.each([
  ['a form', 'application/x-www-form-urlencoded', 'name=x'],
  ['plain text', 'text/plain', '{"name": "x"}'],
  ['no type', undefined, '{"name": "x"}'],
])('refuses %s as a body', async (_description, type, payload) => {
  const headers = { 'x-api-key': rest.tenant.apiKey, ...(type && { 'content-type': type }) };
  const response = await app.app.rest.inject({ method: 'POST', url: topicsUrl, headers, payload });
  expect(response.statusCode).toBe(415);
  expect(response.headers['content-type']).toBe('application/problem+json');
});

test('refuses a body that is compressed, too large, not JSON or not an object', async () => {
  const fetchStatus = async (payload: string, extraHeaders = {}) => {
    const headers = { ...JSON_HEADERS, ...extraHeaders };
    const response = await app.app.rest.inject({
      method: 'POST',
      url: topicsUrl,
      headers,
      payload,
    });
    expect(response.json()).toMatchObject({ status: response.statusCode });
    return response.statusCode;
  };
  expect(await fetchStatus('{"name": "x"}', { 'content-encoding': 'gzip' })).toBe(415);
  expect(await fetchStatus(JSON.stringify({ name: 'x'.repeat(1_100_000) }))).toBe(413);
  for (const text of ['{', '[]', '"x"', '{"name": "a\\u0000b"}', '{"__proto__": {}}', '']) {
    expect(await fetchStatus(text)).toBe(400);
  }
});

test('refuses repeated members of an object, with their paths', async () => {
  const payload = '{"name": "a", "name": "b", "x": [{"y": 1, "y": 1}], "z": {"name": 1}}';
  const response = await app.app.rest.inject({
    method: 'POST',
    url: topicsUrl,
    headers: JSON_HEADERS,
    payload,
  });
  expect(response.json()).toMatchObject({
    status: 400,
    issues: [
      { in: 'body', name: 'name', detail: 'appears more than once in the object.' },
      { in: 'body', name: 'x[0].y', detail: 'appears more than once in the object.' },
    ],
  });
});

test('refuses null as a body', async () => {
  const request = {
    method: 'POST',
    url: topicsUrl,
    headers: JSON_HEADERS,
    payload: 'null',
  } as const;
  expect((await app.app.rest.inject(request)).json()).toMatchObject({
    status: 400,
    issues: [{ in: 'body', name: 'body', detail: 'must be a JSON object.' }],
  });
});

test('returns problems for unknown and invalid paths, and repeats no part of the path', async () => {
  for (const [path, status] of [
    ['/v1/nowhere/ik_secret', 404],
    ['/v1/projects/%zz', 400],
    [`/v1/projects/ik_secret${'x'.repeat(3_000)}`, 414],
  ] as const) {
    const response = await app.app.rest.inject(path);
    expect(response.statusCode).toBe(status);
    expect(response.headers['content-type']).toBe('application/problem+json');
    expect(response.json()).toMatchObject({ status });
    expect(response.body).not.toMatch(/ik_secret|%zz/);
  }
});

test('returns no details of an unexpected error, and logs them with the instance of the problem', async () => {
  const lines: string[] = [];
  const write = (chunk: unknown, _encoding: unknown, done: () => void) => {
    lines.push(String(chunk));
    done();
  };
  const log = pino({ level: 'error' }, new Writable({ write }));
  await using broken = await createTestApp({ log });
  const client = await createRestTenant(broken);
  broken.app.services.database.reads.findProject = async () => {
    throw new Error('database address');
  };
  const refusal = await client.expectRefusal('GET', `${client.base}/topics`);
  expect(refusal).toMatchObject({ status: 500, instance: expect.stringMatching(/^urn:uuid:/) });
  expect(JSON.stringify(refusal)).not.toContain('database address');
  const loggedLine = lines.find((line) => line.includes(refusal.instance as string));
  expect(loggedLine).toContain('database address');
  expect(loggedLine).not.toContain(client.tenant.projectName);
});

test('returns Retry-After to a caller who exceeds the rate limit', async () => {
  stopRates();
  await using slow = await createTestApp({
    env: { RATE_LIMIT_PER_SECOND: '1', RATE_LIMIT_BURST: '2' },
  });
  const client = await createRestTenant(slow);
  const requests = Array.from({ length: 12 }, () => client.request('GET', client.base));
  const responses = await Promise.all(requests);
  const refusal = responses.find(({ status }) => status === 429);
  expect(refusal?.headers['retry-after']).toBe('1');
});

test('aborts a request after the time limit', async () => {
  await using slow = await createTestApp({ env: { LIMIT_QUERY_MS: '2000' } });
  const client = await createRestTenant(slow);
  slow.app.services.database.reads.findProject = () => new Promise(() => {});
  expect(await client.expectRefusal('GET', `${client.base}/topics`)).toMatchObject({
    type: 'urn:problem:query-limit-exceeded',
    limit: 'time',
    maximum: 2_000,
  });
});

test('can be used as the listener of a separate HTTP server', async () => {
  const server = createServer((req, res) => app.app.rest.routing(req, res)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const response = await fetch(`http://127.0.0.1:${port}${topicsUrl}`, {
    method: 'POST',
    headers: JSON_HEADERS,
    body: JSON.stringify({ name: 'by-port' }),
  });
  expect(response.status).toBe(201);
  expect(await response.json()).toMatchObject({ name: 'by-port' });
  server.close();
  server.closeAllConnections();
});
