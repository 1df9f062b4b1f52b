import { afterAll, expect, test } from 'vitest';
import { ENDPOINTS } from '../../../src/rest/endpoints.ts';
import { getSharedApp } from '../../support/app.ts';
import {
  createCrmProvider,
  installProxy,
  startRawClient,
  startUpstream,
} from '../../support/rest/proxy-installation.ts';
import { createRestTenant } from '../../support/rest/rest-client.ts';

const ORIGIN = 'https://app.example';
const upstream = await startUpstream();
afterAll(() => upstream[Symbol.asyncDispose]());
const app = await getSharedApp({
  env: { CORS_ORIGINS: ORIGIN, ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  providers: [createCrmProvider(upstream.url)],
});
const rest = await createRestTenant(app);
const key = { 'x-api-key': rest.tenant.apiKey };
const { inject } = app.app.rest;
const topicsUrl = `/v1${rest.base}/topics`;

test('returns 405 with the allowed methods of the path', async () => {
  const body = { headers: { 'content-type': 'text/plain' }, payload: 'x' };
  const response = await inject({ method: 'PUT', url: `${topicsUrl}?a=1`, ...body });
  expect(response.statusCode).toBe(405);
  expect(response.headers).toMatchObject({
    allow: 'GET, HEAD, OPTIONS, POST',
    'content-type': 'application/problem+json',
  });
  expect(response.json()).toMatchObject({ status: 405 });
  expect((await inject({ method: 'DELETE', url: '/v1/openapi.json' })).statusCode).toBe(405);
});

test('returns the methods of every path for OPTIONS, and 405 for others', async () => {
  for (const { method, path } of ENDPOINTS) {
    const url = `/v1${path.replace(/\{\w+\}/g, 'x')}`;
    const options = await inject({ method: 'OPTIONS', url });
    expect(options.statusCode, path).toBe(204);
    expect(String(options.headers.allow).split(', '), path).toContain(method);
    expect((await inject({ method, url })).statusCode, path).not.toBe(405);
    for (const other of ['GET', 'POST', 'PUT', 'PATCH', 'DELETE'] as const) {
      if (String(options.headers.allow).includes(other)) continue;
      expect((await inject({ method: other, url })).statusCode, `${other} ${path}`).toBe(405);
    }
  }
  expect((await inject({ method: 'OPTIONS', url: '/v1/nowhere' })).statusCode).toBe(404);
});

test('returns the headers of GET for HEAD, without a body', async () => {
  const get = await inject({ url: topicsUrl, headers: key });
  const head = await inject({ method: 'HEAD', url: topicsUrl, headers: key });
  expect(head).toMatchObject({ statusCode: 200, body: '' });
  expect(head.headers['content-length']).toBe(get.headers['content-length']);
  expect((await inject({ method: 'HEAD', url: topicsUrl })).statusCode).toBe(401);
});

test("adds CORS headers to a provider's responses, and answers preflight requests itself", async () => {
  await using rawClient = await startRawClient(app);
  const { path } = await installProxy(app, rest.tenant);
  upstream.setHandler((_req, res) => void res.writeHead(200, { vary: 'Accept' }).end('{}'));
  const { headers } = await rawClient.send(`${path}/x`, { headers: { ...key, origin: ORIGIN } });
  expect(headers).toMatchObject({ 'access-control-allow-origin': ORIGIN, vary: 'Origin, Accept' });
  const { requests } = upstream;
  const requestCount = requests.length;
  const preflight = { origin: ORIGIN, 'access-control-request-method': 'GET' };
  expect(
    await rawClient.send(`${path}/x`, { method: 'OPTIONS', headers: preflight }),
  ).toMatchObject({ status: 204 });
  expect(requests.length).toBe(requestCount);
});
