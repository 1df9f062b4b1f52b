import { expect, test } from 'vitest';
import { testApp } from '../support/app.ts';
import { openSocket } from '../support/socket.ts';

/** The configuration asks for it where roles are apart; the app has the test's own database. */
const APART = {
  DATABASE_URL: 'postgresql://elsewhere/gateway',
  ENCRYPTION_KEY: Buffer.alloc(32, 5).toString('base64'),
};

test('a worker answers for its health, and for nothing else', async () => {
  await using worker = await testApp({ env: { ...APART, ROLES: 'worker' } });
  const { url } = await worker.app.start();
  const status = async (path: string, init?: RequestInit) =>
    (await fetch(`${url}${path}`, init)).status;
  expect(await status('/livez')).toBe(200);
  expect(await status('/readyz')).toBe(200);
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ query: '{ __typename }' });
  expect(await status('/graphql', { method: 'POST', headers, body })).toBe(404);
  expect(await status('/graphql')).toBe(404);
  expect(await status('/', { headers: { accept: 'text/html' } })).toBe(404);
  expect(await status('/v1/openapi.json')).toBe(404);
  expect(await status('/oauth/connect?ticket=x')).toBe(404);
  expect(await status('/oauth/callback?state=x&code=y')).toBe(404);
  await expect(openSocket(url)).rejects.toThrow('404');
});

test('a process without the role worker answers the API', async () => {
  await using api = await testApp({ env: { ...APART, ROLES: 'api' } });
  const { data } = await api.client().request('{ __typename }');
  expect(data).toEqual({ __typename: 'Query' });
});
