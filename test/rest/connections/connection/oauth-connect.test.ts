import { expect, test } from 'vitest';
import { getSharedApp } from '../../../support/app.ts';
import {
  CLIENT_ID,
  createProviderApp,
  getConnection,
  readStoredCredentials,
} from '../../../support/providers/oauth.ts';
import { createOAuthBrowser } from '../../../support/providers/oauth-browser.ts';
import {
  createRestTenant,
  listIssuePositions,
  type RestTenant,
} from '../../../support/rest/rest-client.ts';

const RETURN_URL = 'https://builder.test/done';
const app = await getSharedApp({
  env: { REDIRECT_ORIGINS: 'https://builder.test', PUBLIC_URL: 'https://gateway.test/' },
});

function createStartInput({ tenant }: RestTenant, overrides: object = {}) {
  const consumer = {
    provider: 'sandbox',
    groupRef: 'acme',
    consumerRef: 'ann',
    redirectUrl: RETURN_URL,
  };
  return { projectIdOrName: tenant.projectName, ...consumer, ...overrides };
}

const browser = createOAuthBrowser(app);

/** Opens the link, approves at the provider and returns. */
async function consent(link: string): Promise<string> {
  const back = await browser.connect(link);
  const done = new URL(back.headers.get('location') as string);
  expect(done.origin + done.pathname).toBe(RETURN_URL);
  return done.searchParams.get('connectionId') as string;
}

test('returns a link to the consent page, which creates a connection', async () => {
  const rest = await createRestTenant(app);
  const providerAppId = await createProviderApp(rest.tenant, { scopes: ['records.read'] });
  const authScheme = 'oauth2/authorizationCodePKCE';
  const body = createStartInput(rest, { authScheme, groupName: 'Acme Inc.' });
  const response = await rest.request('POST', '/oauth-connect', body);
  expect(response.status).toBe(200);
  expect(response.headers['content-type']).toBe('text/plain; charset=utf-8');
  expect(response.body).toMatch(/^https:\/\/gateway\.test\/oauth\/connect\?ticket=prj_/);
  const page = await browser.open(response.body);
  expect(Object.fromEntries(page.searchParams)).toMatchObject({
    client_id: CLIENT_ID,
    redirect_uri: 'https://gateway.test/oauth/callback',
    scope: 'records.read',
    code_challenge_method: 'S256',
  });
  const id = await consent(response.body);
  expect(await rest.get(`${rest.base}/connections/${id}`)).toMatchObject({
    authScheme,
    group: { groupRef: 'acme', groupName: 'Acme Inc.' },
    consumer: { consumerRef: 'ann' },
    providerApp: { id: providerAppId, clientId: CLIENT_ID },
  });
});

test.each([true, false])('protects an OAuth flow with enableCSRFProtection: %s', async (value) => {
  const rest = await createRestTenant(app);
  await createProviderApp(rest.tenant);
  const startConnect = (): Promise<string> =>
    rest.post('/oauth-connect', createStartInput(rest, { enableCSRFProtection: value }), 200);
  const [firstLink, secondLink] = [await startConnect(), await startConnect()];
  const readState = async (link: string) => (await browser.open(link)).searchParams.get('state');
  const [state, otherState] = [await readState(firstLink), await readState(secondLink)];
  expect(state).toBeTruthy();
  expect(state).not.toBe(otherState);
  expect(await consent(firstLink)).toMatch(/^con_/);
  const callback = `https://gateway.test/oauth/callback?code=any&state=${state}`;
  expect((await browser.send(callback)).status).toBe(400);
});

test('returns 400 if enableCSRFProtection is not a boolean', async () => {
  const rest = await createRestTenant(app);
  const body = createStartInput(rest, { enableCSRFProtection: 'no' });
  expect(await rest.expectRefusal('POST', '/oauth-connect', body)).toMatchObject({
    status: 400,
    issues: expect.arrayContaining([
      expect.objectContaining({ in: 'body', name: 'enableCSRFProtection' }),
    ]),
  });
});

test('renews the consent of a connection, with its own group, consumer, app and scheme', async () => {
  const rest = await createRestTenant(app);
  await createProviderApp(rest.tenant, { scopes: ['records.read'] });
  const authScheme = 'oauth2/authorizationCodePKCE';
  const input = { authScheme, groupName: 'Acme Inc.', providerMetadata: { plan: 'gold' } };
  const id = await consent(await rest.post('/oauth-connect', createStartInput(rest, input), 200));
  const path = `${rest.base}/connections/${id}`;
  const connectionBefore = await rest.get(path);
  const storedCredentials = await readStoredCredentials(app, await getConnection(app, id));
  // Another app is now the newest of the project.
  await createProviderApp(rest.tenant);

  const change = { scopes: ['records.read', 'records.write'], redirectUrl: RETURN_URL };
  const url = await rest.patch(`${path}:oauth-update`, change);
  const page = await browser.open(url);
  expect(page.searchParams.get('scope')).toBe('records.read records.write');
  expect(await consent(url)).toBe(id);
  expect(await rest.get(path)).toEqual({
    ...connectionBefore,
    tokenExpireTime: expect.any(String),
    updateTime: expect.any(String),
  });
  const renewed = await readStoredCredentials(app, await getConnection(app, id));
  expect(renewed).toMatchObject({ scopes: change.scopes });
  expect(renewed).not.toEqual(storedCredentials);
});

test('refuses a connection without OAuth tokens, and one without its app', async () => {
  const rest = await createRestTenant(app);
  const createConnection = (credentials: object) => {
    const consumer = { provider: 'sandbox', consumerRef: 'ann' };
    return rest.post(`${rest.base}/connections:generate`, { ...consumer, ...credentials });
  };
  const keyed = await createConnection({ groupRef: 'keyed', apiKey: 'sandbox-key' });
  const importedConnection = await createConnection({
    groupRef: 'imported',
    oauth2AuthorizationCode: { accessToken: { token: 'at' } },
  });
  const getUpdateRefusal = async ({ id }: { id: string }, body: object = {}) =>
    rest.expectRefusal('PATCH', `${rest.base}/connections/${id}:oauth-update`, body);
  expect(await getUpdateRefusal(keyed)).toMatchObject({
    status: 422,
    detail: expect.stringContaining('apiKey'),
  });
  expect(await getUpdateRefusal(importedConnection)).toMatchObject({
    status: 422,
    detail: expect.stringContaining('the project has no provider app for sandbox'),
  });
  await createProviderApp(rest.tenant);
  const scopeRefusal = await getUpdateRefusal(importedConnection, {
    redirectUrl: 'https://evil.test/',
    scopes: [''],
  });
  expect(listIssuePositions(scopeRefusal)).toEqual(['body scopes[0]']);
  const urlRefusal = await getUpdateRefusal(importedConnection, {
    redirectUrl: 'https://evil.test/',
  });
  expect(urlRefusal).toMatchObject({ status: 400, issues: [{ in: 'body', name: 'redirectUrl' }] });
});

test('reports every invalid input of a start at its position', async () => {
  const rest = await createRestTenant(app);
  const listPositions = async (body: object) =>
    listIssuePositions(await rest.expectRefusal('POST', '/oauth-connect', body));
  expect(
    await listPositions({ provider: 'sandbox', groupRef: '', redirectUrl: 'nowhere' }),
  ).toEqual(['body groupRef', 'body consumerRef', 'body redirectUrl']);
  expect(
    await listPositions(createStartInput(rest, { redirectUrl: 'https://evil.test/' })),
  ).toEqual(['body providerAppId', 'body redirectUrl']);
});

test("returns 404 for another tenant's project and connection, and 403 without the scope", async () => {
  const [rest, otherTenant] = [await createRestTenant(app), await createRestTenant(app)];
  await createProviderApp(rest.tenant);
  const id = await consent(await rest.post('/oauth-connect', createStartInput(rest), 200));
  expect(
    await otherTenant.expectRefusal('POST', '/oauth-connect', createStartInput(rest)),
  ).toMatchObject({ status: 404 });
  for (const base of [rest.base, otherTenant.base]) {
    const path = `${base}/connections/${id}:oauth-update`;
    expect(await otherTenant.expectRefusal('PATCH', path, {})).toMatchObject({ status: 404 });
  }
  const reader = await rest.withScopes('read');
  for (const refusal of [
    await reader.expectRefusal('POST', '/oauth-connect', createStartInput(rest)),
    await reader.expectRefusal('PATCH', `${rest.base}/connections/${id}:oauth-update`, {}),
  ]) {
    expect(refusal.status).toBe(403);
    expect(refusal.detail).toContain('connections:write');
  }
});
