import { expect, test } from 'vitest';
import { createLog } from '../../../src/log.ts';
import { getSharedApp } from '../../support/app.ts';
import { CALLER_STATEMENTS, recordStatements } from '../../support/database/statements.ts';
import { insertInstallation } from '../../support/fixtures/connections.ts';
import { connectWithTokens, readStoredCredentials } from '../../support/providers/oauth.ts';
import { createRestTenant, type RestTenant } from '../../support/rest/rest-client.ts';

const app = await getSharedApp({ log: createLog('silent') });

function connect(rest: RestTenant, overrides: object = {}) {
  const consumer = {
    groupRef: 'acme',
    consumerRef: 'ann',
    provider: 'sandbox',
    apiKey: 'sandbox-key-planted',
  };
  return rest.post(`${rest.base}/connections:generate`, { ...consumer, ...overrides });
}

test('creates a connection, and returns its credentials only if requested', async () => {
  const rest = await createRestTenant(app);
  const { projectId } = rest.tenant;
  const facts = {
    providerWorkspaceRef: 'w',
    providerMetadata: { plan: { value: 'gold', source: 'input' } },
  };
  const created = await connect(rest, { groupName: 'Acme Inc.', ...facts });
  const part = { id: expect.any(String), projectId, createTime: expect.any(String) };
  expect(created).toEqual({
    ...part,
    id: expect.stringMatching(/^con_/),
    provider: 'sandbox',
    group: { ...part, groupRef: 'acme', groupName: 'Acme Inc.' },
    consumer: { ...part, consumerRef: 'ann', consumerName: 'ann' },
    authScheme: 'apiKey',
    status: 'created',
    providerWorkspaceRef: 'w',
    providerMetadata: { plan: { value: 'gold', source: 'input' } },
  });
  const path = `${rest.base}/connections`;
  expect(await rest.get(`${path}/${created.id}`)).toEqual(created);
  expect(await rest.get(path)).toEqual([created]);
  const shown = await rest.get(`${path}/${created.id}?includeCreds=true`);
  expect(shown).toEqual({ ...created, apiKey: 'sandbox-key-planted' });
  const again = await connect(rest, { apiKey: 'sandbox-key-planted-2' });
  expect(again).toMatchObject({ id: created.id, updateTime: expect.any(String) });
});

test('lists connections by every filter, in a constant number of statements', async () => {
  const rest = await createRestTenant(app);
  const path = `${rest.base}/connections`;
  const listIds = async (query: string) =>
    (await rest.get(`${path}${query}`)).map(({ id }: { id: string }) => id);
  const a = await connect(rest);
  const list = async () => {
    const { result, statements } = await recordStatements(() => rest.get(path));
    return { result, count: statements.filter(({ text }) => !CALLER_STATEMENTS.test(text)).length };
  };
  const one = await list();
  const b = await connect(rest, { consumerRef: 'bob' });
  const c = await connect(rest, { groupRef: 'other', provider: 'stripe' });
  const all = await list();
  expect(all.result).toEqual([c, b, a]);
  expect(all.count).toBe(one.count);
  expect(await listIds('?provider=stripe')).toEqual([c.id]);
  expect(await listIds('?groupRef=acme')).toEqual([b.id, a.id]);
  expect(await listIds('?groupRef=acme&consumerRef=ann')).toEqual([a.id]);
  expect(await listIds('?status=created&pageSize=2')).toEqual([c.id, b.id]);
  expect(await listIds('?status=bad_credentials')).toEqual([]);
  expect(await listIds('?groupRef=unknown')).toEqual([]);
});

test('names every invalid input at its position, and repeats no secret', async () => {
  const rest = await createRestTenant(app);
  const body = {
    groupRef: '',
    consumerRef: 'ann',
    provider: 'sandbox',
    providerAppId: 'app_none',
    apiKey: 'planted\u0007',
    basicAuth: { username: 'planted', password: 'planted' },
  };
  const refused = await rest.getRefusal('POST', `${rest.base}/connections:generate`, body);
  expect([...new Set(refused.issues?.map((issue) => `${issue.in} ${issue.name}`))]).toEqual([
    'body groupRef',
    'body apiKey',
  ]);
  expect(JSON.stringify(refused)).not.toContain('planted');
  const valid = { ...body, groupRef: 'acme', apiKey: 'planted' };
  const second = await rest.getRefusal('POST', `${rest.base}/connections:generate`, valid);
  expect(second.issues?.map((issue) => `${issue.in} ${issue.name}`)).toEqual([
    'body apiKey',
    'body basicAuth',
    'body providerAppId',
  ]);
  expect(JSON.stringify(second)).not.toContain('planted');
  const scheme = { ...body, authScheme: 'API_KEY', providerMetadata: 1 };
  const { issues } = await rest.getRefusal('POST', `${rest.base}/connections:generate`, scheme);
  const positions = issues?.map((issue) => `${issue.in} ${issue.name}`);
  expect(positions).toEqual(expect.arrayContaining(['body authScheme', 'body providerMetadata']));
});

test('changes the fields in the mask, and clears optional ones with null', async () => {
  const rest = await createRestTenant(app);
  const { id } = await connect(rest, {
    providerWorkspaceRef: 'w',
    providerMetadata: { a: { value: '1', source: 'input' } },
  });
  const path = `${rest.base}/connections/${id}`;
  const changed = await rest.patch(path, {
    updateMask: ['providerMetadata', 'apiKey'],
    connection: {
      providerMetadata: null,
      apiKey: 'sandbox-key-planted-3',
      providerWorkspaceRef: 'ignored',
    },
  });
  expect(changed).toMatchObject({ providerWorkspaceRef: 'w', updateTime: expect.any(String) });
  expect(changed).not.toHaveProperty('providerMetadata');
  expect(JSON.stringify(changed)).not.toContain('planted');
  expect(await rest.get(`${path}?includeCreds=true`)).toMatchObject({
    apiKey: 'sandbox-key-planted-3',
  });
  const basicAuth = { username: 'u', password: 'planted' };
  const misfit = { updateMask: ['basicAuth'], connection: { basicAuth } };
  const refused = await rest.getRefusal('PATCH', path, misfit);
  expect(refused.issues).toMatchObject([{ in: 'body', name: 'connection.basicAuth' }]);
  const unknown = await rest.getRefusal('PATCH', path, { updateMask: ['status'], connection: {} });
  expect(unknown.issues).toMatchObject([{ in: 'body', name: 'updateMask[0]' }]);
  expect(unknown.remedy).toMatch(/^updateMask may name providerWorkspaceRef, .*apiKey, basicAuth/);
});

test('returns the requested tokens only', async () => {
  const rest = await createRestTenant(app);
  const accessToken = { token: 'at', expiresAt: '2026-01-01T02:00:00.000Z' };
  const credentials = { accessToken, refreshToken: { token: 'rt' }, scopes: ['a'] };
  const { id, authScheme } = await connect(rest, {
    apiKey: null,
    authScheme: 'oauth2/authorizationCodePKCE',
    oauth2AuthorizationCode: credentials,
  });
  expect(authScheme).toBe('oauth2/authorizationCodePKCE');
  const read = async (query: string) =>
    (await rest.get(`${rest.base}/connections/${id}${query}`)).oauth2AuthorizationCode;
  expect(await read('')).toBeUndefined();
  expect(await read('?includeCreds=true')).toEqual({ accessToken, scopes: ['a'] });
  expect(await read('?includeRefreshToken=true')).toEqual(credentials);
  const full = await rest.withScopes('full');
  for (const query of ['?includeCreds=true', '?includeRefreshToken=true']) {
    const refused = await full.getRefusal('GET', `${rest.base}/connections/${id}${query}`);
    expect(refused.status).toBe(403);
    expect(refused.detail).toContain('credentials:read');
  }
});

test('refreshes a token on request, or when it is about to expire', async () => {
  const rest = await createRestTenant(app);
  const connection = await connectWithTokens(app, rest.tenant);
  const path = `${rest.base}/connections/${connection.id}`;
  const readStoredText = async () => JSON.stringify(await readStoredCredentials(app, connection));
  const first = await readStoredText();
  await rest.get(path);
  expect(await readStoredText()).toBe(first);
  await rest.get(`${path}?refresh=ifExpired`);
  const second = await readStoredText();
  expect(second).not.toBe(first);
  await rest.get(`${path}?refresh=ifExpired`);
  expect(await readStoredText()).toBe(second);
  const shown = await rest.get(`${path}?refresh=force&includeCreds=true`);
  expect(await readStoredText()).not.toBe(second);
  expect(await readStoredText()).toContain(shown.oauth2AuthorizationCode.accessToken.token);

  const reader = await rest.withScopes('read');
  expect(await reader.getRefusal('GET', `${path}?refresh=force`)).toMatchObject({ status: 403 });
});

test('refreshes a connection without a token only by force, and then returns 422', async () => {
  const rest = await createRestTenant(app);
  const { id } = await connect(rest);
  const path = `${rest.base}/connections/${id}`;
  expect(await rest.get(`${path}?refresh=ifExpired`)).toMatchObject({ id, status: 'created' });
  expect(await rest.getRefusal('GET', `${path}?refresh=force`)).toMatchObject({ status: 422 });
  const odd = await rest.getRefusal('GET', `${path}?refresh=now&includeCreds=1`);
  expect(odd.issues?.map((issue) => `${issue.in} ${issue.name}`).sort()).toEqual([
    'query includeCreds',
    'query refresh',
  ]);
});

test('deletes a connection unless installations use it', async () => {
  const rest = await createRestTenant(app);
  const used = await connect(rest);
  await insertInstallation(app, used, rest.tenant);
  const path = `${rest.base}/connections`;
  expect(await rest.getRefusal('DELETE', `${path}/${used.id}`)).toMatchObject({ status: 409 });
  const unused = await connect(rest, { groupRef: 'other' });
  await rest.delete(`${path}/${unused.id}`);
  expect(await rest.getRefusal('GET', `${path}/${unused.id}`)).toMatchObject({ status: 404 });
});

test("returns 404 for another tenant's connection, and 403 without the scope", async () => {
  const [a, b] = [await createRestTenant(app), await createRestTenant(app)];
  const { id } = await connect(a);
  const change = { updateMask: ['apiKey'], connection: { apiKey: 'sandbox-key-mine' } };
  for (const base of [a.base, b.base]) {
    const path = `${base}/connections/${id}`;
    expect(await b.getRefusal('GET', `${path}?includeCreds=true`)).toMatchObject({ status: 404 });
    expect(await b.getRefusal('GET', `${path}?refresh=force`)).toMatchObject({ status: 404 });
    expect(await b.getRefusal('PATCH', path, change)).toMatchObject({ status: 404 });
    expect(await b.getRefusal('DELETE', path)).toMatchObject({ status: 404 });
  }
  const reader = await a.withScopes('read');
  const path = `${a.base}/connections`;
  const body = {
    groupRef: 'acme',
    consumerRef: 'ann',
    provider: 'sandbox',
    apiKey: 'sandbox-key-mine',
  };
  for (const refused of [
    await reader.getRefusal('POST', `${path}:generate`, body),
    await reader.getRefusal('PATCH', `${path}/${id}`, change),
    await reader.getRefusal('DELETE', `${path}/${id}`),
  ]) {
    expect(refused.status).toBe(403);
    expect(refused.detail).toContain('connections:write');
  }
});

test('connects with custom inputs in one step, and refuses members of further steps', async () => {
  const rest = await createRestTenant(app);
  const projectIdOrName = rest.tenant.projectName;
  const consumer = { projectIdOrName, provider: 'sandbox', groupRef: 'acme', consumerRef: 'ann' };
  const body = { ...consumer, customAuth: { accountKey: 'sandbox-key' } };
  const { connection } = await rest.post('/custom-auth/connect', body, 200);
  expect(connection).toMatchObject({ id: expect.stringMatching(/^con_/), authScheme: 'none' });
  for (const further of [{ sessionId: 's' }, { callbackParams: { code: 'c' } }]) {
    const { issues } = await rest.getRefusal('POST', '/custom-auth/connect', {
      ...body,
      ...further,
    });
    expect(issues?.map(({ name }) => name)).toEqual(Object.keys(further));
  }
});

test('lets a key for pages connect and install, and read no destinations, deliveries or credentials', async () => {
  const rest = await createRestTenant(app);
  const page = await rest.withScopes('frontend');
  const body = { provider: 'sandbox', groupRef: 'acme', consumerRef: 'ann', apiKey: 'sandbox-key' };
  const created = await page.post(`${rest.base}/connections:generate`, body);
  expect(await page.get(`${rest.base}/connections/${created.id}`)).toEqual(created);
  const topic = { name: 'mine' };
  expect(await page.getRefusal('POST', `${rest.base}/topics`, topic)).toMatchObject({
    status: 403,
  });
  for (const path of ['destinations', 'topics', 'jwt-keys', 'api-keys']) {
    expect([path, await page.request('GET', `${rest.base}/${path}`)]).toMatchObject([
      path,
      { status: 403 },
    ]);
  }
  const shown = `${rest.base}/connections/${created.id}?includeCreds=true`;
  expect(await page.getRefusal('GET', shown)).toMatchObject({ status: 403 });
});
