import { afterAll, expect, test } from 'vitest';
import { sharedApp } from '../../support/app.ts';
import { connectWithTokens, getConnection } from '../../support/providers/oauth.ts';
import { type Asked, proxyPath, startCalling } from '../../support/rest/proxied.ts';

const app = await sharedApp();
const calling = await startCalling(app);
afterAll(() => calling[Symbol.asyncDispose]());

const REVOKED = { accessToken: 'revoked', expiresAt: null };

async function withTokens(given: Parameters<typeof connectWithTokens>[2]) {
  const tenant = await app.tenant();
  const { id: connectionId } = await connectWithTokens(app, tenant, given);
  const { path } = await proxyPath(app, tenant, { provider: 'sandbox', connectionId });
  const own = { 'x-api-key': tenant.apiKey, 'content-type': 'application/json' };
  const ask = (below: string, asked: Asked = {}) =>
    calling.ask(`${path}${below}`, { ...asked, headers: { ...own, ...asked.headers } });
  return { ask, connectionId };
}

function creation(lastname: string): Asked {
  const record = { email: `${crypto.randomUUID()}@x.test`, lastname };
  return { method: 'POST', body: JSON.stringify({ record }) };
}

test('a token at its end is refreshed before the request', async () => {
  const { ask } = await withTokens({});
  expect(await ask('/objects')).toMatchObject({ status: 200 });
});

test('a refused token is refreshed, and the request is sent once more with its body', async () => {
  const { ask, connectionId } = await withTokens(REVOKED);
  const { refreshed } = app.app.sandbox.oauth.counts;
  const answer = await ask('/objects/contacts/records', creation('Small'));
  expect(answer.status).toBe(201);
  expect(answer.text).toContain('Small');
  expect(app.app.sandbox.oauth.counts.refreshed).toBe(refreshed + 1);
  expect(await getConnection(app, connectionId)).toMatchObject({ status: 'WORKING' });
});

test('a body too large to be kept is not sent again, and the next request has the new token', async () => {
  const { ask } = await withTokens(REVOKED);
  const large = creation('x'.repeat(200_000));
  expect((await ask('/objects/contacts/records', large)).status).toBe(401);
  expect((await ask('/objects/contacts/records', creation('Next'))).status).toBe(201);
});

test('a token that cannot be refreshed is told, and turns the connection bad', async () => {
  const { ask, connectionId } = await withTokens({ ...REVOKED, refreshToken: 'unknown' });
  const answer = await ask('/objects');
  expect(JSON.parse(answer.text)).toMatchObject({ status: 422 });
  expect(await getConnection(app, connectionId)).toMatchObject({ status: 'BAD_CREDENTIALS' });
});
