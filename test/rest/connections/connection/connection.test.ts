import { expect, test } from 'vitest';
import { createLog } from '../../../../src/kernel/log.ts';
import { getSharedApp } from '../../../support/app.ts';
import { CALLER_STATEMENTS, recordStatements } from '../../../support/database/statements.ts';
import { insertInstallation } from '../../../support/fixtures/connections.ts';
import { connectWithTokens, readStoredCredentials } from '../../../support/providers/oauth.ts';
import {
  createRestTenant,
  listIssuePositions,
  type RestTenant,
} from '../../../support/rest/rest-client.ts';

const app = await getSharedApp({ log: createLog('silent') });

function createConnection(rest: RestTenant, overrides: object = {}) {
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
  const createdConnection = await createConnection(rest, { groupName: 'Acme Inc.', ...facts });
  const commonMembers = { id: expect.any(String), projectId, createTime: expect.any(String) };
  expect(createdConnection).toEqual({
    ...commonMembers,
    id: expect.stringMatching(/^con_/),
    provider: 'sandbox',
    group: { ...commonMembers, groupRef: 'acme', groupName: 'Acme Inc.' },
    consumer: { ...commonMembers, consumerRef: 'ann', consumerName: 'ann' },
    authScheme: 'apiKey',
    status: 'created',
    providerWorkspaceRef: 'w',
    providerMetadata: {
      plan: { value: 'gold', source: 'input' },
      workspace: { value: 'w', source: 'input' },
    },
  });
  const path = `${rest.base}/connections`;
  expect(await rest.get(`${path}/${createdConnection.id}`)).toEqual(createdConnection);
  expect(await rest.get(path)).toEqual([createdConnection]);
  const withCredentials = await rest.get(`${path}/${createdConnection.id}?includeCreds=true`);
  expect(withCredentials).toEqual({ ...createdConnection, apiKey: 'sandbox-key-planted' });
  const updatedConnection = await createConnection(rest, { apiKey: 'sandbox-key-planted-2' });
  expect(updatedConnection).toMatchObject({
    id: createdConnection.id,
    updateTime: expect.any(String),
  });
});

test('searches connections, and refuses other filters with a search by their own names', async () => {
  const rest = await createRestTenant(app);
  await createConnection(rest, { groupName: 'Acme Inc.' });
  await createConnection(rest, { groupRef: 'globex', groupName: 'Globex' });
  const path = `${rest.base}/connections?search=glo`;
  expect(await rest.get(path)).toMatchObject([{ group: { groupRef: 'globex' } }]);
  const time = '2026-01-31T12:00:00Z';
  for (const name of ['createTimeFrom', 'createTimeUntil']) {
    const { status, body } = await rest.request('GET', `${path}&${name}=${time}`);
    expect({ status, issues: body.issues }).toMatchObject({
      status: 400,
      issues: [{ in: 'query', name, detail: 'must not be combined with search.' }],
    });
  }
});

test('lists connections by every filter, in a constant number of statements', async () => {
  const rest = await createRestTenant(app);
  const path = `${rest.base}/connections`;
  const listIds = async (query: string) =>
    (await rest.get(`${path}${query}`)).map(({ id }: { id: string }) => id);
  const a = await createConnection(rest);
  const listWithCount = async () => {
    const { result, statements } = await recordStatements(() => rest.get(path));
    return { result, count: statements.filter(({ text }) => !CALLER_STATEMENTS.test(text)).length };
  };
  const firstList = await listWithCount();
  const b = await createConnection(rest, { consumerRef: 'bob' });
  const c = await createConnection(rest, { groupRef: 'other', provider: 'stripe' });
  const secondList = await listWithCount();
  expect(secondList.result).toEqual([c, b, a]);
  expect(secondList.count).toBe(firstList.count);
  expect(await listIds('?provider=stripe')).toEqual([c.id]);
  expect(await listIds('?groupRef=acme')).toEqual([b.id, a.id]);
  expect(await listIds('?groupRef=acme&consumerRef=ann')).toEqual([a.id]);
  expect(await listIds('?status=created&pageSize=2')).toEqual([c.id, b.id]);
  expect(await listIds('?status=bad_credentials')).toEqual([]);
  expect(await listIds('?groupRef=unknown')).toEqual([]);
});

test('reports every invalid input at its position, and repeats no secret', async () => {
  const rest = await createRestTenant(app);
  const body = {
    groupRef: '',
    consumerRef: 'ann',
    provider: 'sandbox',
    providerAppId: 'app_none',
    apiKey: 'planted\u0007',
    basicAuth: { username: 'planted', password: 'planted' },
  };
  const refusal = await rest.expectRefusal('POST', `${rest.base}/connections:generate`, body);
  expect([...new Set(listIssuePositions(refusal))]).toEqual(['body groupRef', 'body apiKey']);
  expect(JSON.stringify(refusal)).not.toContain('planted');
  const valid = { ...body, groupRef: 'acme', apiKey: 'planted' };
  const schemeRefusal = await rest.expectRefusal(
    'POST',
    `${rest.base}/connections:generate`,
    valid,
  );
  expect(listIssuePositions(schemeRefusal)).toEqual([
    'body apiKey',
    'body basicAuth',
    'body providerAppId',
  ]);
  expect(JSON.stringify(schemeRefusal)).not.toContain('planted');
  const scheme = { ...body, authScheme: 'API_KEY', providerMetadata: 1 };
  const { issues } = await rest.expectRefusal('POST', `${rest.base}/connections:generate`, scheme);
  const positions = listIssuePositions({ issues });
  expect(positions).toEqual(expect.arrayContaining(['body authScheme', 'body providerMetadata']));
});

test('changes the fields in the mask, and clears optional ones with null', async () => {
  const rest = await createRestTenant(app);
  const { id } = await createConnection(rest, {
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
  expect(changed.providerMetadata).toEqual({ workspace: { value: 'w', source: 'input' } });
  expect(JSON.stringify(changed)).not.toContain('planted');
  expect(await rest.get(`${path}?includeCreds=true`)).toMatchObject({
    apiKey: 'sandbox-key-planted-3',
  });
  const basicAuth = { username: 'u', password: 'planted' };
  const misfit = { updateMask: ['basicAuth'], connection: { basicAuth } };
  const refusal = await rest.expectRefusal('PATCH', path, misfit);
  expect(refusal.issues).toMatchObject([{ in: 'body', name: 'connection.basicAuth' }]);
  const unknown = await rest.expectRefusal('PATCH', path, {
    updateMask: ['status'],
    connection: {},
  });
  expect(unknown.issues).toMatchObject([{ in: 'body', name: 'updateMask[0]' }]);
  expect(unknown.remedy).toMatch(/^updateMask may name providerWorkspaceRef, .*apiKey, basicAuth/);
});

test('returns the requested tokens only', async () => {
  const rest = await createRestTenant(app);
  const accessToken = { token: 'at', expiresAt: '2026-01-01T02:00:00.000Z' };
  const credentials = { accessToken, refreshToken: { token: 'rt' }, scopes: ['a'] };
  const { id, authScheme } = await createConnection(rest, {
    apiKey: null,
    authScheme: 'oauth2/authorizationCodePKCE',
    oauth2AuthorizationCode: credentials,
  });
  expect(authScheme).toBe('oauth2/authorizationCodePKCE');
  const readTokens = async (query: string) =>
    (await rest.get(`${rest.base}/connections/${id}${query}`)).oauth2AuthorizationCode;
  expect(await readTokens('')).toBeUndefined();
  expect(await readTokens('?includeCreds=true')).toEqual({ accessToken, scopes: ['a'] });
  expect(await readTokens('?includeRefreshToken=true')).toEqual(credentials);
  const fullClient = await rest.withScopes('full');
  for (const query of ['?includeCreds=true', '?includeRefreshToken=true']) {
    const refusal = await fullClient.expectRefusal('GET', `${rest.base}/connections/${id}${query}`);
    expect(refusal.status).toBe(403);
    expect(refusal.detail).toContain('credentials:read');
  }
});

test('refreshes a token on request, or when it is about to expire', async () => {
  const rest = await createRestTenant(app);
  const connection = await connectWithTokens(app, rest.tenant);
  const path = `${rest.base}/connections/${connection.id}`;
  const readStoredText = async () => JSON.stringify(await readStoredCredentials(app, connection));
  const storedAtFirst = await readStoredText();
  await rest.get(path);
  expect(await readStoredText()).toBe(storedAtFirst);
  await rest.get(`${path}?refresh=ifExpired`);
  const refreshedText = await readStoredText();
  expect(refreshedText).not.toBe(storedAtFirst);
  await rest.get(`${path}?refresh=ifExpired`);
  expect(await readStoredText()).toBe(refreshedText);
  const refreshed = await rest.get(`${path}?refresh=force&includeCreds=true`);
  expect(await readStoredText()).not.toBe(refreshedText);
  expect(await readStoredText()).toContain(refreshed.oauth2AuthorizationCode.accessToken.token);

  const reader = await rest.withScopes('read');
  expect(await reader.expectRefusal('GET', `${path}?refresh=force`)).toMatchObject({ status: 403 });
});

test('refreshes a connection without a token only by force, and then returns 422', async () => {
  const rest = await createRestTenant(app);
  const { id } = await createConnection(rest);
  const path = `${rest.base}/connections/${id}`;
  expect(await rest.get(`${path}?refresh=ifExpired`)).toMatchObject({ id, status: 'created' });
  expect(await rest.expectRefusal('GET', `${path}?refresh=force`)).toMatchObject({ status: 422 });
  const refusal = await rest.expectRefusal('GET', `${path}?refresh=now&includeCreds=1`);
  expect(listIssuePositions(refusal).sort()).toEqual(['query includeCreds', 'query refresh']);
});

test('deletes a connection unless installations use it', async () => {
  const rest = await createRestTenant(app);
  const used = await createConnection(rest);
  await insertInstallation(app, used, rest.tenant);
  const path = `${rest.base}/connections`;
  expect(await rest.expectRefusal('DELETE', `${path}/${used.id}`)).toMatchObject({ status: 409 });
  const unused = await createConnection(rest, { groupRef: 'other' });
  await rest.delete(`${path}/${unused.id}`);
  expect(await rest.expectRefusal('GET', `${path}/${unused.id}`)).toMatchObject({ status: 404 });
});

test("returns 404 for another tenant's connection, and 403 without the scope", async () => {
  const [rest, otherTenant] = [await createRestTenant(app), await createRestTenant(app)];
  const { id } = await createConnection(rest);
  const change = { updateMask: ['apiKey'], connection: { apiKey: 'sandbox-key-mine' } };
  for (const base of [rest.base, otherTenant.base]) {
    const path = `${base}/connections/${id}`;
    expect(await otherTenant.expectRefusal('GET', `${path}?includeCreds=true`)).toMatchObject({
      status: 404,
    });
    expect(await otherTenant.expectRefusal('GET', `${path}?refresh=force`)).toMatchObject({
      status: 404,
    });
    expect(await otherTenant.expectRefusal('PATCH', path, change)).toMatchObject({ status: 404 });
    expect(await otherTenant.expectRefusal('DELETE', path)).toMatchObject({ status: 404 });
  }
  const reader = await rest.withScopes('read');
  const path = `${rest.base}/connections`;
  const body = {
    groupRef: 'acme',
    consumerRef: 'ann',
    provider: 'sandbox',
    apiKey: 'sandbox-key-mine',
  };
  for (const refusal of [
    await reader.expectRefusal('POST', `${path}:generate`, body),
    await reader.expectRefusal('PATCH', `${path}/${id}`, change),
    await reader.expectRefusal('DELETE', `${path}/${id}`),
  ]) {
    expect(refusal.status).toBe(403);
    expect(refusal.detail).toContain('connections:write');
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
    const { issues } = await rest.expectRefusal('POST', '/custom-auth/connect', {
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
  const createdConnection = await page.post(`${rest.base}/connections:generate`, body);
  expect(await page.get(`${rest.base}/connections/${createdConnection.id}`)).toEqual(
    createdConnection,
  );
  const topic = { name: 'mine' };
  expect(await page.expectRefusal('POST', `${rest.base}/topics`, topic)).toMatchObject({
    status: 403,
  });
  for (const path of ['destinations', 'topics', 'jwt-keys', 'api-keys']) {
    expect([path, await page.request('GET', `${rest.base}/${path}`)]).toMatchObject([
      path,
      { status: 403 },
    ]);
  }
  const credentialsPath = `${rest.base}/connections/${createdConnection.id}?includeCreds=true`;
  expect(await page.expectRefusal('GET', credentialsPath)).toMatchObject({ status: 403 });
});
