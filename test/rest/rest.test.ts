import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Writable } from 'node:stream';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { ENDPOINTS } from '../../src/rest/endpoints.ts';
import { sharedApp, testApp } from '../support/app.ts';
import { restClient, restTenant } from '../support/rest/rest-client.ts';

const app = await sharedApp();
const rest = await restTenant(app);
const json = { 'x-api-key': rest.tenant.apiKey, 'content-type': 'application/json' };
const topics = `/v1${rest.base}/topics`;

test('nothing is answered without credentials, and all of it as a problem', async () => {
  const nobody = restClient(app, {});
  for (const { method, path } of ENDPOINTS) {
    const asked = path.replace(/\{\w+\}/g, 'x');
    expect(await nobody.refusal(method, asked)).toMatchObject({
      status: 401,
      type: 'urn:problem:unauthenticated',
    });
  }
});

test.each([
  ['a form', 'application/x-www-form-urlencoded', 'name=x'],
  ['plain text', 'text/plain', '{"name": "x"}'],
  ['no type', undefined, '{"name": "x"}'],
])('%s is not taken for a body', async (_what, type, payload) => {
  const headers = { 'x-api-key': rest.tenant.apiKey, ...(type && { 'content-type': type }) };
  const answer = await app.app.rest.inject({ method: 'POST', url: topics, headers, payload });
  expect(answer.statusCode).toBe(415);
  expect(answer.headers['content-type']).toBe('application/problem+json');
});

test('a body that is compressed, too large, no JSON or no object is refused', async () => {
  const statusOf = async (payload: string, more = {}) => {
    const headers = { ...json, ...more };
    const answer = await app.app.rest.inject({ method: 'POST', url: topics, headers, payload });
    expect(answer.json()).toMatchObject({ status: answer.statusCode });
    return answer.statusCode;
  };
  expect(await statusOf('{"name": "x"}', { 'content-encoding': 'gzip' })).toBe(415);
  expect(await statusOf(JSON.stringify({ name: 'x'.repeat(1_100_000) }))).toBe(413);
  for (const text of ['{', '[]', '"x"', '{"name": "a\\u0000b"}', '{"__proto__": {}}', '']) {
    expect(await statusOf(text)).toBe(400);
  }
});

test('refuses members that an object has twice, with their paths', async () => {
  const payload = '{"name": "a", "name": "b", "x": [{"y": 1, "y": 1}], "z": {"name": 1}}';
  const response = await app.app.rest.inject({
    method: 'POST',
    url: topics,
    headers: json,
    payload,
  });
  expect(response.json()).toMatchObject({
    status: 400,
    issues: [
      { in: 'body', name: 'name', detail: 'is given more than once in the object.' },
      { in: 'body', name: 'x[0].y', detail: 'is given more than once in the object.' },
    ],
  });
});

test('refuses null as a body, which no endpoint takes for an absent one', async () => {
  const request = { method: 'POST', url: topics, headers: json, payload: 'null' } as const;
  expect((await app.app.rest.inject(request)).json()).toMatchObject({
    status: 400,
    issues: [{ in: 'body', name: 'body', detail: 'must be a JSON object.' }],
  });
});

test('what is not there, and a path that is no path, are problems that repeat nothing', async () => {
  for (const [path, status] of [
    ['/v1/nowhere/ik_secret', 404],
    ['/v1/projects/%zz', 400],
    [`/v1/projects/ik_secret${'x'.repeat(3_000)}`, 414],
  ] as const) {
    const answer = await app.app.rest.inject(path);
    expect(answer.statusCode).toBe(status);
    expect(answer.headers['content-type']).toBe('application/problem+json');
    expect(answer.json()).toMatchObject({ status });
    expect(answer.body).not.toMatch(/ik_secret|%zz/);
  }
});

test('what nobody expected is masked, and the log has its instance', async () => {
  const lines: string[] = [];
  const write = (chunk: unknown, _encoding: unknown, done: () => void) => {
    lines.push(String(chunk));
    done();
  };
  const log = pino({ level: 'error' }, new Writable({ write }));
  await using broken = await testApp({ log });
  const client = await restTenant(broken);
  broken.app.services.database.rows.findProject = async () => {
    throw new Error('the inside');
  };
  const refused = await client.refusal('GET', `${client.base}/topics`);
  expect(refused).toMatchObject({ status: 500, instance: expect.stringMatching(/^urn:uuid:/) });
  expect(JSON.stringify(refused)).not.toContain('the inside');
  const logged = lines.find((line) => line.includes(refused.instance as string));
  expect(logged).toContain('the inside');
  expect(logged).not.toContain(client.tenant.projectName);
});

test('a caller over the rate is told when to come back', async () => {
  await using slow = await testApp({ env: { RATE_LIMIT_PER_SECOND: '1', RATE_LIMIT_BURST: '2' } });
  const client = await restTenant(slow);
  const asked = Array.from({ length: 12 }, () => client.ask('GET', client.base));
  const answers = await Promise.all(asked);
  const refused = answers.find(({ status }) => status === 429);
  expect(refused?.headers['retry-after']).toBe('1');
});

test('a request that takes too long is ended', async () => {
  await using slow = await testApp({ env: { LIMIT_QUERY_MS: '2000' } });
  const client = await restTenant(slow);
  slow.app.services.database.rows.findProject = () => new Promise(() => {});
  expect(await client.refusal('GET', `${client.base}/topics`)).toMatchObject({
    type: 'urn:problem:query-limit-exceeded',
    limit: 'time',
    maximum: 2_000,
  });
});

test('a server of its own gives it requests', async () => {
  const server = createServer((req, res) => app.app.rest.routing(req, res)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  const asked = await fetch(`http://127.0.0.1:${port}${topics}`, {
    method: 'POST',
    headers: json,
    body: JSON.stringify({ name: 'by-port' }),
  });
  expect(asked.status).toBe(201);
  expect(await asked.json()).toMatchObject({ name: 'by-port' });
  server.close();
  server.closeAllConnections();
});
