import { expect, test } from 'vitest';
import { createLog } from '../../src/kernel/log.ts';
import { createTestApp } from '../support/app.ts';
import { openSocket } from '../support/socket.ts';

/** The configuration requires these settings if roles are split. The app uses the test's own database. */
const SPLIT_ROLES_ENV = {
  DATABASE_URL: 'postgresql://elsewhere/gateway',
  ENCRYPTION_KEY: Buffer.alloc(32, 5).toString('base64'),
};

test('serves only health checks in a worker', async () => {
  await using worker = await createTestApp({ env: { ...SPLIT_ROLES_ENV, ROLES: 'worker' } });
  const { url } = await worker.app.start();
  const fetchStatus = async (path: string, init?: RequestInit) =>
    (await fetch(`${url}${path}`, init)).status;
  expect(await fetchStatus('/livez')).toBe(200);
  expect(await fetchStatus('/readyz')).toBe(200);
  const headers = { 'content-type': 'application/json' };
  const body = JSON.stringify({ query: '{ __typename }' });
  expect(await fetchStatus('/graphql', { method: 'POST', headers, body })).toBe(404);
  expect(await fetchStatus('/graphql')).toBe(404);
  expect(await fetchStatus('/', { headers: { accept: 'text/html' } })).toBe(404);
  expect(await fetchStatus('/v1/openapi.json')).toBe(404);
  expect(await fetchStatus('/oauth/connect?ticket=x')).toBe(404);
  expect(await fetchStatus('/oauth/callback?state=x&code=y')).toBe(404);
  await expect(openSocket(url)).rejects.toThrow('404');
});

test('serves the API in a process without the worker role', async () => {
  await using api = await createTestApp({ env: { ...SPLIT_ROLES_ENV, ROLES: 'api' } });
  const { data } = await api.createClient().request('{ __typename }');
  expect(data).toEqual({ __typename: 'Query' });
});

test('logs the GraphiQL URL when an API process starts, but not when a worker starts', async () => {
  const startWithRoles = async (ROLES: string) => {
    const lines: Record<string, unknown>[] = [];
    const log = createLog('info', { write: (line) => void lines.push(JSON.parse(line)) });
    await using startedApp = await createTestApp({ env: { ...SPLIT_ROLES_ENV, ROLES }, log });
    const { url } = await startedApp.app.start();
    return { url, ready: lines.find(({ msg }) => msg === 'server.ready') };
  };
  const api = await startWithRoles('api');
  expect(api.ready).toMatchObject({ graphiql: `${api.url}/graphql` });
  const worker = await startWithRoles('worker');
  expect(worker.ready).toMatchObject({ url: worker.url });
  expect(worker.ready).not.toHaveProperty('graphiql');
});
