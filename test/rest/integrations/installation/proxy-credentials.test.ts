import { afterAll, expect, test } from 'vitest';
import { getSharedApp } from '../../../support/app.ts';
import { connectWithTokens, getConnection } from '../../../support/providers/oauth.ts';
import {
  installProxy,
  type RawRequest,
  startRawClient,
} from '../../../support/rest/proxy-installation.ts';

const app = await getSharedApp();
const rawClient = await startRawClient(app);
afterAll(() => rawClient[Symbol.asyncDispose]());

const REVOKED_TOKEN = { accessToken: 'revoked', expiresAt: null };

async function installWithTokens(tokens: Parameters<typeof connectWithTokens>[2]) {
  const tenant = await app.createTenant();
  const { id: connectionId } = await connectWithTokens(app, tenant, tokens);
  const { path } = await installProxy(app, tenant, { provider: 'sandbox', connectionId });
  const ownHeaders = { 'x-api-key': tenant.apiKey, 'content-type': 'application/json' };
  const sendProxied = (below: string, options: RawRequest = {}) =>
    rawClient.send(`${path}${below}`, {
      ...options,
      headers: { ...ownHeaders, ...options.headers },
    });
  return { sendProxied: sendProxied, connectionId };
}

function createRecordRequest(lastname: string): RawRequest {
  const record = { email: `${crypto.randomUUID()}@x.test`, lastname };
  return { method: 'POST', body: JSON.stringify({ record }) };
}

test('refreshes an expired token before the request', async () => {
  const { sendProxied: ask } = await installWithTokens({});
  expect(await ask('/objects')).toMatchObject({ status: 200 });
});

test('refreshes a refused token, and repeats the request once with its body', async () => {
  const { sendProxied: ask, connectionId } = await installWithTokens(REVOKED_TOKEN);
  const { refreshed } = app.app.sandbox.oauth.counts;
  const response = await ask('/objects/contacts/records', createRecordRequest('Small'));
  expect(response.status).toBe(201);
  expect(response.text).toContain('Small');
  expect(app.app.sandbox.oauth.counts.refreshed).toBe(refreshed + 1);
  expect(await getConnection(app, connectionId)).toMatchObject({ status: 'WORKING' });
});

test('does not repeat a request with a large body, and uses the new token for the next one', async () => {
  const { sendProxied: ask } = await installWithTokens(REVOKED_TOKEN);
  const large = createRecordRequest('x'.repeat(200_000));
  expect((await ask('/objects/contacts/records', large)).status).toBe(401);
  expect((await ask('/objects/contacts/records', createRecordRequest('Next'))).status).toBe(201);
});

test('returns 422 if a token cannot be refreshed, and sets the connection to BAD_CREDENTIALS', async () => {
  const { sendProxied: ask, connectionId } = await installWithTokens({
    ...REVOKED_TOKEN,
    refreshToken: 'unknown',
  });
  const response = await ask('/objects');
  expect(JSON.parse(response.text)).toMatchObject({ status: 422 });
  expect(await getConnection(app, connectionId)).toMatchObject({ status: 'BAD_CREDENTIALS' });
});
