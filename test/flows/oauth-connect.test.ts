import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createHubspotProvider } from '../../src/providers/hubspot/hubspot-provider.ts';
import { createTestApp, getSharedApp, type Tenant } from '../support/app.ts';
import { recordEvents } from '../support/fixtures/connections.ts';
import {
  CLIENT_ID,
  callSandbox,
  createProviderApp,
  getConnection,
  readStoredCredentials,
} from '../support/providers/oauth.ts';
import { createOAuthBrowser, submitConsent } from '../support/providers/oauth-browser.ts';
import { startProviderServer } from '../support/providers/provider-server.ts';

/** A state: project id, connect token and browser token. */
const STATE = /^prj_\w{26}\.[\w-]{43}\.[\w-]{43}$/;
const RETURN_URL = 'https://builder.test/done?tab=crm';
const clock = { aheadMs: 0 };
const app = await getSharedApp({
  env: { REDIRECT_ORIGINS: 'https://builder.test', PUBLIC_URL: 'https://gateway.test/' },
  now: () => new Date(Date.now() + clock.aheadMs),
});
const { prisma } = app.app.services.database;
const browser = createOAuthBrowser(app);

const START_CONNECT = `mutation StartOAuthConnect($input: StartOAuthConnectInput!) {
  startOAuthConnect(input: $input) { authorizeUrl expireTime }
}`;

function createStartInput({ projectId }: Pick<Tenant, 'projectId'>, overrides: object = {}) {
  const consumer = { provider: 'sandbox', groupRef: 'acme', consumerRef: 'ann' };
  return { input: { projectIdOrName: projectId, ...consumer, ...overrides } };
}

async function startConnect(tenant: Tenant, overrides?: object): Promise<string> {
  const { startOAuthConnect } = await tenant.query(
    START_CONNECT,
    createStartInput(tenant, overrides),
  );
  return startOAuthConnect.authorizeUrl;
}

/** Starts an OAuth flow and opens its link. Returns the URL of the provider's consent page. */
async function openConsentPage(tenant: Tenant, overrides?: object): Promise<URL> {
  return browser.open(await startConnect(tenant, overrides));
}

const openCallback = browser.send;

test('creates a connection with usable tokens after a consent with PKCE', async () => {
  const tenant = await app.createTenant();
  const providerAppId = await createProviderApp(tenant, { scopes: ['records.read'] });
  const listEvents = await recordEvents(app, tenant);
  const url = await openConsentPage(tenant, {
    authScheme: 'OAUTH2_AUTHORIZATION_CODE_PKCE',
    redirectUrl: RETURN_URL,
    groupName: 'Acme Inc.',
    providerMetadata: { plan: 'gold' },
  });
  expect(Object.fromEntries(url.searchParams)).toEqual({
    response_type: 'code',
    client_id: CLIENT_ID,
    redirect_uri: 'https://gateway.test/oauth/callback',
    scope: 'records.read',
    state: expect.stringMatching(STATE),
    code_challenge: expect.stringMatching(/^[\w-]{43}$/),
    code_challenge_method: 'S256',
  });

  const redirect = await openCallback(await submitConsent(url));
  expect(redirect.status).toBe(303);
  expect(redirect.headers.get('cache-control')).toBe('no-store');
  expect(redirect.headers.get('referrer-policy')).toBe('no-referrer');
  const location = new URL(redirect.headers.get('location') as string);
  const connectionId = location.searchParams.get('connectionId') as string;
  expect(location.href).toBe(`${RETURN_URL}&connectionId=${connectionId}`);

  const connection = await getConnection(app, connectionId);
  expect(connection).toMatchObject({
    projectId: tenant.projectId,
    status: 'CREATED',
    authScheme: 'OAUTH2_AUTHORIZATION_CODE_PKCE',
    providerAppId,
    providerWorkspaceRef: 'sandbox',
    providerConsumerRef: 'sandbox-user',
    providerMetadata: { plan: 'gold' },
    tokenExpireTime: expect.any(Date),
  });
  expect(await readStoredCredentials(app, connection)).toMatchObject({ scopes: ['records.read'] });
  expect((await callSandbox(app, connection)).status).toBe(200);
  expect(await listEvents()).toMatchObject([
    { eventType: 'CONNECTION_CREATED', connectionId, data: { groupRef: 'acme' } },
  ]);
});

test("accepts the gateway's connect page as redirectUrl, and refuses its other pages", async () => {
  const tenant = await app.createTenant();
  await createProviderApp(tenant);
  const connectPageUrl = 'https://gateway.test/connect?origin=https%3A%2F%2Fapp.test';
  const redirect = await openCallback(
    await submitConsent(await openConsentPage(tenant, { redirectUrl: connectPageUrl })),
  );
  const location = new URL(redirect.headers.get('location') ?? '');
  expect(location.pathname).toBe('/connect');
  expect(location.searchParams.get('origin')).toBe('https://app.test');
  expect(location.searchParams.get('connectionId')).toMatch(/^con_/);
  for (const redirectUrl of ['https://gateway.test/console', 'https://gateway.test/connect/a']) {
    expect(await expectIssueNames(tenant, { redirectUrl })).toEqual(['input.redirectUrl']);
  }
});

test('updates the connection after a second OAuth flow, and shows a page if redirectUrl is omitted', async () => {
  const tenant = await app.createTenant();
  await createProviderApp(tenant);
  const listEvents = await recordEvents(app, tenant);
  await openCallback(
    await submitConsent(await openConsentPage(tenant, { redirectUrl: RETURN_URL })),
  );
  const url = await openConsentPage(tenant);
  expect(url.searchParams.has('code_challenge')).toBe(true);
  const page = await openCallback(await submitConsent(url));
  expect(page.status).toBe(200);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; .*style-src 'sha256-/,
  );
  expect(page.headers.get('cache-control')).toBe('no-store');
  expect(page.headers.get('referrer-policy')).toBe('no-referrer');
  const html = await page.text();
  expect(html).toContain('Connected');
  expect(html.match(/<script/g)).toHaveLength(2);
  expect(await prisma.connection.count({ where: { projectId: tenant.projectId } })).toBe(1);
  expect((await listEvents()).map(({ eventType }) => eventType)).toEqual([
    'CONNECTION_CREATED',
    'CONNECTION_UPDATED',
  ]);
});

test('accepts a state once, for ten minutes, and refuses a forged one', async () => {
  const tenant = await app.createTenant();
  await createProviderApp(tenant);
  const callback = await submitConsent(await openConsentPage(tenant));
  const responses = await Promise.all([
    openCallback(callback),
    openCallback(callback),
    openCallback(callback),
  ]);
  expect(responses.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
  expect(await prisma.connection.count({ where: { projectId: tenant.projectId } })).toBe(1);

  const lateCallback = await submitConsent(await openConsentPage(tenant));
  clock.aheadMs += 10 * 60_000;
  expect((await openCallback(lateCallback)).status).toBe(400);
  for (const state of [
    '',
    'unknown',
    'A'.repeat(43),
    `prj_${'0'.repeat(26)}.${'A'.repeat(43)}`,
    `prj_${'0'.repeat(26)}.${'A'.repeat(43)}.${'A'.repeat(43)}`,
    "'; drop table",
    '\u0000'.repeat(43),
  ]) {
    const url = new URL(callback);
    url.searchParams.set('state', state);
    const response = await openCallback(url);
    expect(response.status).toBe(400);
    expect(await response.text()).toContain('connect again');
  }
  expect((await app.fetch('/oauth/callback')).status).toBe(400);
  expect((await openCallback(callback, { method: 'POST' })).status).toBe(405);
});

test('stores neither the ticket, the state nor the code verifier in plain text', async () => {
  const tenant = await app.createTenant();
  await createProviderApp(tenant);
  const link = await startConnect(tenant, { authScheme: 'OAUTH2_AUTHORIZATION_CODE_PKCE' });
  const state = (await browser.open(link)).searchParams.get('state') as string;
  const ticket = new URL(link).searchParams.get('ticket') as string;
  const [row] = await prisma.oAuthConnect.findMany({ where: { projectId: tenant.projectId } });
  for (const secret of [...ticket.split('.'), ...state.split('.')].filter(
    (statePart) => statePart.length > 30,
  )) {
    expect(JSON.stringify(row)).not.toContain(secret);
  }
  expect(row?.codeVerifierSealed).toMatch(/^v1\./);
  // The next start deletes expired OAuth flows.
  clock.aheadMs += 10 * 60_000;
  await openConsentPage(tenant);
  expect(await prisma.oAuthConnect.count({ where: { projectId: tenant.projectId } })).toBe(1);
});

test('reports a declined consent or a provider error to the page that started the OAuth flow', async () => {
  const tenant = await app.createTenant();
  await createProviderApp(tenant);
  const denied = await openCallback(
    await submitConsent(await openConsentPage(tenant, { redirectUrl: RETURN_URL }), false),
  );
  const location = new URL(denied.headers.get('location') as string);
  expect(location.searchParams.get('error')).toBe('access_denied');
  expect(location.searchParams.has('connectionId')).toBe(false);

  app.app.sandbox.faults.set({ pathPrefix: '/oauth/token', status: 503 });
  const failureResponse = await openCallback(
    await submitConsent(await openConsentPage(tenant, { redirectUrl: RETURN_URL })),
  );
  expect(failureResponse.headers.get('location')).toContain('error=temporarily_unavailable');

  const hostile = await submitConsent(await openConsentPage(tenant), false);
  hostile.searchParams.set('error_description', '<script>alert("1")</script>');
  const page = await openCallback(hostile);
  expect(page.status).toBe(400);
  expect((await page.text()).match(/<script/g)).toHaveLength(2);
  expect(await prisma.connection.count({ where: { projectId: tenant.projectId } })).toBe(0);
});

test('creates no connection with a wrong client secret or a forged code', async () => {
  const tenant = await app.createTenant();
  await createProviderApp(tenant, { clientSecret: 'wrong' });
  const refusal = await openCallback(
    await submitConsent(await openConsentPage(tenant, { redirectUrl: RETURN_URL })),
  );
  expect(refusal.headers.get('location')).toContain('error=invalid_request');
  await createProviderApp(tenant);
  const forged = await submitConsent(await openConsentPage(tenant, { redirectUrl: RETURN_URL }));
  forged.searchParams.set('code', 'sbx_code_forged');
  const response = await openCallback(forged);
  expect(response.headers.get('location')).toContain('invalid_grant');
  expect(response.headers.get('location')).not.toContain('sbx_code_forged');
  expect(await prisma.connection.count({ where: { projectId: tenant.projectId } })).toBe(0);
});

test('refuses the callback if the provider app is deleted before it', async () => {
  const tenant = await app.createTenant();
  const id = await createProviderApp(tenant);
  const callback = await submitConsent(await openConsentPage(tenant));
  await prisma.providerApp.deleteMany({ where: { id } });
  expect((await openCallback(callback)).status).toBe(400);
});

test("sends the parameters of the provider app, which replace none of the gateway's", async () => {
  const tenant = await app.createTenant();
  const authQueryParams = {
    prompt: 'login',
    resource: ['a', 'b'],
    state: 'evil',
    redirect_uri: 'x',
  };
  await createProviderApp(tenant, { metadata: { authQueryParams } });
  const { searchParams } = await openConsentPage(tenant, { scopes: ['one', 'two'] });
  expect(searchParams.get('prompt')).toBe('login');
  expect(searchParams.getAll('resource')).toEqual(['a', 'b']);
  expect(searchParams.getAll('redirect_uri')).toEqual(['https://gateway.test/oauth/callback']);
  expect(searchParams.getAll('state')).toEqual([expect.stringMatching(STATE)]);
  expect(searchParams.get('scope')).toBe('one two');
});

async function expectIssueNames(tenant: Tenant, overrides: object) {
  const { code, problem } = await tenant.expectRefusal(
    START_CONNECT,
    createStartInput(tenant, overrides),
  );
  expect(code).toBe('BAD_USER_INPUT');
  return problem.issues?.map(({ name }) => name);
}

test('reports every invalid input', async () => {
  const tenant = await app.createTenant();
  expect(await expectIssueNames(tenant, { provider: 'none' })).toEqual(['input.provider']);
  expect(await expectIssueNames(tenant, { provider: 'stripe' })).toEqual(['input.provider']);
  expect(await expectIssueNames(tenant, {})).toEqual(['input.providerAppId']);
  expect(await expectIssueNames(tenant, { groupRef: '', redirectUrl: 'nonsense' })).toEqual([
    'input.groupRef',
    'input.redirectUrl',
  ]);
  await createProviderApp(tenant, { provider: 'shopify', scopes: ['read_products'] });
  await createProviderApp(tenant, { provider: 'salesforce' });
  await createProviderApp(tenant, { provider: 'hubspot' });
  await createProviderApp(tenant, { provider: 'zoho', scopes: ['a', 'b'] });
  const invalidConnect = {
    provider: 'shopify',
    authScheme: 'OAUTH2_AUTHORIZATION_CODE_PKCE',
    redirectUrl: 'https://evil.test/',
  };
  expect(await expectIssueNames(tenant, invalidConnect)).toEqual([
    'input.authScheme',
    'input.providerWorkspaceRef',
    'input.redirectUrl',
  ]);
  const foreignHost = { provider: 'salesforce', providerWorkspaceRef: 'evil.test/' };
  expect(await expectIssueNames(tenant, foreignHost)).toEqual(['input.providerWorkspaceRef']);
  expect(await expectIssueNames(tenant, { provider: 'hubspot' })).toEqual(['input.scopes']);
  expect(await expectIssueNames(tenant, { provider: 'zoho' })).toEqual([
    'input.providerMetadata.zoho_token_domain',
  ]);
  const foreignDomain = { provider: 'zoho', providerMetadata: { zoho_token_domain: 'evil.test' } };
  expect(await expectIssueNames(tenant, foreignDomain)).toEqual([
    'input.providerMetadata.zoho_token_domain',
  ]);
  const domain = { zoho_token_domain: { value: 'accounts.zoho.eu', source: 'input' } };
  const url = await openConsentPage(tenant, { provider: 'zoho', providerMetadata: domain });
  expect(url.searchParams.get('scope')).toBe('a,b');
});

test("refuses another tenant's project and app, and a key without the scope", async () => {
  const [owner, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const providerAppId = await createProviderApp(owner);
  await createProviderApp(otherTenant);
  expect(await otherTenant.expectRefusal(START_CONNECT, createStartInput(owner))).toMatchObject({
    code: 'NOT_FOUND',
  });
  expect(await expectIssueNames(otherTenant, { providerAppId })).toEqual(['input.providerAppId']);
  const reader = await owner.withScopes('read');
  expect(await reader.expectRefusal(START_CONNECT, createStartInput(owner))).toMatchObject({
    code: 'FORBIDDEN',
  });
});

test('takes the workspace from the address in the token response', async () => {
  await using server = await startProviderServer(() => ({
    status: 200,
    body: { access_token: 't', instance_url: 'https://acme--dev.my.salesforce.com', id: 'person' },
  }));
  const template = 'https://{{workspace}}.my.salesforce.com';
  const provider = {
    ...createHubspotProvider(),
    name: 'salesforce',
    baseUrl: template,
    oauth2: {
      authorizeUrl: `${template}/authorize`,
      tokenUrl: `${server.url}/token`,
      tokenFields: { workspaceRef: 'instance_url', consumerRef: 'id' },
      defaultLifetimeSeconds: 7_200,
    },
  };
  await using otherApp = await createTestApp({
    providers: [provider],
    env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  });
  const tenant = await otherApp.createTenant();
  await createProviderApp(tenant, { provider: 'salesforce' });
  const input = { provider: 'salesforce', providerWorkspaceRef: 'acme' };
  const { startOAuthConnect } = await tenant.query(START_CONNECT, createStartInput(tenant, input));
  const person = createOAuthBrowser(otherApp);
  const url = await person.open(startOAuthConnect.authorizeUrl);
  expect(url.origin).toBe('https://acme.my.salesforce.com');
  const state = url.searchParams.get('state');
  const redirect = await person.send(`http://gateway.test/oauth/callback?code=c&state=${state}`);
  expect(redirect.status).toBe(200);
  const connections = await otherApp.app.services.database.prisma.connection.findMany();
  expect(connections).toMatchObject([
    {
      providerWorkspaceRef: 'acme--dev',
      providerConsumerRef: 'person',
      tokenExpireTime: expect.any(Date),
    },
  ]);
});

test('sends a client secret to no host that the provider does not list', async () => {
  await using server = await startProviderServer(() => ({ status: 200, body: {} }));
  const { hostname, port } = new URL(server.url);
  const tokenUrl = `http://{{domain}}:${port}/token`;
  const oauth2 = { authorizeUrl: 'https://crm.test/consent', tokenUrl };
  const inputs = [{ name: 'domain', displayName: 'Domain' }];
  const provider = { ...createHubspotProvider(), name: 'salesforce', oauth2, inputs };
  await using otherApp = await createTestApp({
    providers: [{ ...provider, hosts: { domain: ['accounts.crm.test'] } }],
    env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  });
  const tenant = await otherApp.createTenant();
  await createProviderApp(tenant, { provider: 'salesforce' });
  const input = { provider: 'salesforce', providerMetadata: { domain: 'accounts.crm.test' } };
  const { startOAuthConnect } = await tenant.query(START_CONNECT, createStartInput(tenant, input));
  const person = createOAuthBrowser(otherApp);
  const consentUrl = await person.open(startOAuthConnect.authorizeUrl);
  const state = consentUrl.searchParams.get('state');
  // Simulates an OAuth flow that began before the provider listed its hosts.
  const consumer = { groupRef: 'acme', consumerRef: 'ann', scopes: [] };
  await otherApp.app.services.database.prisma.oAuthConnect.updateMany({
    data: { input: { ...consumer, providerMetadata: { domain: hostname } } },
  });
  const redirect = await person.send(`http://gateway.test/oauth/callback?code=c&state=${state}`);
  const page = await redirect.text();
  expect(server.requests).toEqual([]);
  expect(page).toContain('providerMetadata.domain must be accounts.crm.test.');
});

test('runs one script on the final page of an OAuth flow, and posts to allowed origins only', async () => {
  const tenant = await app.createTenant();
  await createProviderApp(tenant);
  const response = await openCallback(await submitConsent(await openConsentPage(tenant)));
  expect(response.status).toBe(200);
  const policy = response.headers.get('content-security-policy') ?? '';
  expect(policy).toMatch(/^default-src 'none'; .*; script-src 'sha256-[\w+/=]+'$/);
  const text = await response.text();
  const [, data = ''] =
    /<script type="application\/json" id="data">(.*)<\/script><script>/.exec(text) ?? [];
  expect(JSON.parse(data)).toEqual({
    message: {
      eventType: 'AUTHORIZATION_SUCCEEDED',
      data: { connection: expect.stringMatching(/^con_/) },
    },
    origins: ['https://builder.test'],
  });
  const description = encodeURIComponent('</script><script>alert(1)</script>');
  const callbackUrl = new URL(
    `${await submitConsent(await openConsentPage(tenant), false)}&error_description=${description}`,
  );
  const failedPage = await (await openCallback(callbackUrl)).text();
  expect(failedPage.match(/<script/g)).toHaveLength(2);
  expect(failedPage).toContain('AUTHORIZATION_FAILED');
});

test('requires no workspace if no address of the provider contains it', async () => {
  const tenant = await app.createTenant();
  const listIssueNames = async (provider: string) => {
    const { errors } = await tenant.request(START_CONNECT, createStartInput(tenant, { provider }));
    return errors?.[0]?.extensions.problem.issues?.map(({ name }: { name: string }) => name);
  };
  expect(await listIssueNames('atlassian')).toEqual(['input.providerAppId']);
  expect(await listIssueNames('salesforce')).toEqual(['input.providerAppId']);
  expect(await listIssueNames('shopify')).toContain('input.providerWorkspaceRef');
  const input = { workspace: { value: 'acme', source: 'input' } };
  const { errors } = await tenant.request(
    START_CONNECT,
    createStartInput(tenant, { provider: 'shopify', providerMetadata: input }),
  );
  expect(JSON.stringify(errors)).not.toContain('providerWorkspaceRef');
});

test('starts an OAuth flow or reports the missing app if the app is deleted at the same time', async () => {
  const tenant = await app.createTenant();
  const codes = new Set<string | undefined>();
  // Each round deletes the app one turn of the event loop later.
  for (let turns = 0; turns < 60; turns += 1) {
    const providerAppId = await createProviderApp(tenant);
    const starting = tenant.request(START_CONNECT, createStartInput(tenant));
    for (let turn = 0; turn < turns; turn += 1) await setImmediate();
    await prisma.providerApp.deleteMany({ where: { id: providerAppId } });
    const { errors = [] } = await starting;
    codes.add(errors[0]?.extensions.code);
  }
  const permitted = [undefined, 'UNPROCESSABLE', 'BAD_USER_INPUT'];
  expect([...codes].filter((code) => !permitted.includes(code))).toEqual([]);
});
