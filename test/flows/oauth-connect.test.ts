import { setImmediate } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { hubspotProvider } from '../../src/providers/hubspot/hubspot-provider.ts';
import { sharedApp, type Tenant, testApp } from '../support/app.ts';
import {
  CLIENT_ID,
  callSandbox,
  createProviderApp,
  getConnection,
  storedCredentials,
} from '../support/providers/oauth.ts';
import { answerConsent as consent, oauthBrowser } from '../support/providers/oauth-browser.ts';
import { startProviderServer } from '../support/providers/provider-server.ts';
import { keepEvents } from '../support/scenes/connections.ts';

/** The project, the handle of the connect, and the proof of the browser. */
const STATE = /^prj_\w{26}\.[\w-]{43}\.[\w-]{43}$/;
const RETURN = 'https://builder.test/done?tab=crm';
const clock = { aheadMs: 0 };
const app = await sharedApp({
  env: { REDIRECT_ORIGINS: 'https://builder.test', PUBLIC_URL: 'https://gateway.test/' },
  now: () => new Date(Date.now() + clock.aheadMs),
});
const { prisma } = app.app.services.database;
const browser = oauthBrowser(app);

const START = `mutation ($input: StartOAuthConnectInput!) {
  startOAuthConnect(input: $input) { authorizeUrl expireTime }
}`;

function starting({ projectId }: Pick<Tenant, 'projectId'>, given: object = {}) {
  const who = { provider: 'sandbox', groupRef: 'acme', consumerRef: 'ann' };
  return { input: { projectIdOrName: projectId, ...who, ...given } };
}

async function startLink(tenant: Tenant, given?: object): Promise<string> {
  const { startOAuthConnect } = await tenant.query(START, starting(tenant, given));
  return startOAuthConnect.authorizeUrl;
}

/** Begins a connect and opens its link. Returns the provider's page of consent. */
async function start(tenant: Tenant, given?: object): Promise<URL> {
  return browser.open(await startLink(tenant, given));
}

const comeBack = browser.send;

test('PKCE: a person consents, comes back, and the connection works', async () => {
  const tenant = await app.tenant();
  const providerAppId = await createProviderApp(tenant, { scopes: ['records.read'] });
  const events = await keepEvents(app, tenant);
  const url = await start(tenant, {
    authScheme: 'OAUTH2_AUTHORIZATION_CODE_PKCE',
    redirectUrl: RETURN,
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

  const back = await comeBack(await consent(url));
  expect(back.status).toBe(303);
  expect(back.headers.get('cache-control')).toBe('no-store');
  expect(back.headers.get('referrer-policy')).toBe('no-referrer');
  const location = new URL(back.headers.get('location') as string);
  const connectionId = location.searchParams.get('connectionId') as string;
  expect(location.href).toBe(`${RETURN}&connectionId=${connectionId}`);

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
  expect(await storedCredentials(app, connection)).toMatchObject({ scopes: ['records.read'] });
  expect((await callSandbox(app, connection)).status).toBe(200);
  expect(await events()).toMatchObject([
    { eventType: 'CONNECTION_CREATED', connectionId, data: { groupRef: 'acme' } },
  ]);
});

test("a connect leads back to the gateway's own connect page, and to no other page of it", async () => {
  const tenant = await app.tenant();
  await createProviderApp(tenant);
  const own = 'https://gateway.test/connect?origin=https%3A%2F%2Fapp.test';
  const back = await comeBack(await consent(await start(tenant, { redirectUrl: own })));
  const location = new URL(back.headers.get('location') ?? '');
  expect(location.pathname).toBe('/connect');
  expect(location.searchParams.get('origin')).toBe('https://app.test');
  expect(location.searchParams.get('connectionId')).toMatch(/^con_/);
  for (const redirectUrl of ['https://gateway.test/console', 'https://gateway.test/connect/a']) {
    expect(await issueNames(tenant, { redirectUrl })).toEqual(['input.redirectUrl']);
  }
});

test('connecting again renews the connection; without a redirectUrl a page says so', async () => {
  const tenant = await app.tenant();
  await createProviderApp(tenant);
  const events = await keepEvents(app, tenant);
  await comeBack(await consent(await start(tenant, { redirectUrl: RETURN })));
  const url = await start(tenant);
  expect(url.searchParams.has('code_challenge')).toBe(true);
  const page = await comeBack(await consent(url));
  expect(page.status).toBe(200);
  expect(page.headers.get('content-type')).toBe('text/html; charset=utf-8');
  expect(page.headers.get('content-security-policy')).toMatch(
    /^default-src 'none'; style-src 'sha256-/,
  );
  expect(page.headers.get('cache-control')).toBe('no-store');
  expect(page.headers.get('referrer-policy')).toBe('no-referrer');
  const html = await page.text();
  expect(html).toContain('Connected');
  expect(html.match(/<script/g)).toHaveLength(2);
  expect(await prisma.connection.count({ where: { projectId: tenant.projectId } })).toBe(1);
  expect((await events()).map(({ eventType }) => eventType)).toEqual([
    'CONNECTION_CREATED',
    'CONNECTION_UPDATED',
  ]);
});

test('a state is good once, for ten minutes, and only if we made it', async () => {
  const tenant = await app.tenant();
  await createProviderApp(tenant);
  const callback = await consent(await start(tenant));
  const answers = await Promise.all([comeBack(callback), comeBack(callback), comeBack(callback)]);
  expect(answers.map(({ status }) => status).sort()).toEqual([200, 400, 400]);
  expect(await prisma.connection.count({ where: { projectId: tenant.projectId } })).toBe(1);

  const late = await consent(await start(tenant));
  clock.aheadMs += 10 * 60_000;
  expect((await comeBack(late)).status).toBe(400);
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
    const answer = await comeBack(url);
    expect(answer.status).toBe(400);
    expect(await answer.text()).toContain('connect again');
  }
  expect((await app.fetch('/oauth/callback')).status).toBe(400);
  expect((await comeBack(callback, { method: 'POST' })).status).toBe(405);
});

test('stores neither the ticket, the state nor the code verifier in clear', async () => {
  const tenant = await app.tenant();
  await createProviderApp(tenant);
  const link = await startLink(tenant, { authScheme: 'OAUTH2_AUTHORIZATION_CODE_PKCE' });
  const state = (await browser.open(link)).searchParams.get('state') as string;
  const ticket = new URL(link).searchParams.get('ticket') as string;
  const [row] = await prisma.oAuthConnect.findMany({ where: { projectId: tenant.projectId } });
  for (const secret of [...ticket.split('.'), ...state.split('.')].filter(
    (one) => one.length > 30,
  )) {
    expect(JSON.stringify(row)).not.toContain(secret);
  }
  expect(row?.codeVerifierSealed).toMatch(/^v1\./);
  // The next start deletes expired connects.
  clock.aheadMs += 10 * 60_000;
  await start(tenant);
  expect(await prisma.oAuthConnect.count({ where: { projectId: tenant.projectId } })).toBe(1);
});

test('a person who declines, or a provider that fails, is told to whoever sent them', async () => {
  const tenant = await app.tenant();
  await createProviderApp(tenant);
  const denied = await comeBack(await consent(await start(tenant, { redirectUrl: RETURN }), '0'));
  const location = new URL(denied.headers.get('location') as string);
  expect(location.searchParams.get('error')).toBe('access_denied');
  expect(location.searchParams.has('connectionId')).toBe(false);

  app.app.sandbox.faults.set({ pathPrefix: '/oauth/token', status: 503 });
  const failed = await comeBack(await consent(await start(tenant, { redirectUrl: RETURN })));
  expect(failed.headers.get('location')).toContain('error=temporarily_unavailable');

  const hostile = await consent(await start(tenant), '0');
  hostile.searchParams.set('error_description', '<script>alert("1")</script>');
  const page = await comeBack(hostile);
  expect(page.status).toBe(400);
  expect((await page.text()).match(/<script/g)).toHaveLength(2);
  expect(await prisma.connection.count({ where: { projectId: tenant.projectId } })).toBe(0);
});

test('a wrong client secret or a forged code makes no connection', async () => {
  const tenant = await app.tenant();
  await createProviderApp(tenant, { clientSecret: 'wrong' });
  const refused = await comeBack(await consent(await start(tenant, { redirectUrl: RETURN })));
  expect(refused.headers.get('location')).toContain('error=access_denied');
  await createProviderApp(tenant);
  const forged = await consent(await start(tenant, { redirectUrl: RETURN }));
  forged.searchParams.set('code', 'sbx_code_forged');
  const answer = await comeBack(forged);
  expect(answer.headers.get('location')).toContain('invalid_grant');
  expect(answer.headers.get('location')).not.toContain('sbx_code_forged');
  expect(await prisma.connection.count({ where: { projectId: tenant.projectId } })).toBe(0);
});

test('an app that is deleted meanwhile ends what was started with it', async () => {
  const tenant = await app.tenant();
  const id = await createProviderApp(tenant);
  const callback = await consent(await start(tenant));
  await prisma.providerApp.deleteMany({ where: { id } });
  expect((await comeBack(callback)).status).toBe(400);
});

test("the app's own parameters are sent along, and change nothing of ours", async () => {
  const tenant = await app.tenant();
  const authQueryParams = {
    prompt: 'login',
    resource: ['a', 'b'],
    state: 'evil',
    redirect_uri: 'x',
  };
  await createProviderApp(tenant, { metadata: { authQueryParams } });
  const { searchParams } = await start(tenant, { scopes: ['one', 'two'] });
  expect(searchParams.get('prompt')).toBe('login');
  expect(searchParams.getAll('resource')).toEqual(['a', 'b']);
  expect(searchParams.getAll('redirect_uri')).toEqual(['https://gateway.test/oauth/callback']);
  expect(searchParams.getAll('state')).toEqual([expect.stringMatching(STATE)]);
  expect(searchParams.get('scope')).toBe('one two');
});

async function issueNames(tenant: Tenant, given: object) {
  const { code, problem } = await tenant.refusal(START, starting(tenant, given));
  expect(code).toBe('BAD_USER_INPUT');
  return problem.issues?.map(({ name }) => name);
}

test('every offending input is named', async () => {
  const tenant = await app.tenant();
  expect(await issueNames(tenant, { provider: 'none' })).toEqual(['input.provider']);
  expect(await issueNames(tenant, { provider: 'stripe' })).toEqual(['input.provider']);
  expect(await issueNames(tenant, {})).toEqual(['input.providerAppId']);
  expect(await issueNames(tenant, { groupRef: '', redirectUrl: 'nonsense' })).toEqual([
    'input.groupRef',
    'input.redirectUrl',
  ]);
  await createProviderApp(tenant, { provider: 'salesforce' });
  await createProviderApp(tenant, { provider: 'hubspot' });
  await createProviderApp(tenant, { provider: 'zoho', scopes: ['a', 'b'] });
  const many = {
    provider: 'salesforce',
    authScheme: 'OAUTH2_AUTHORIZATION_CODE',
    redirectUrl: 'https://evil.test/',
  };
  expect(await issueNames(tenant, many)).toEqual([
    'input.authScheme',
    'input.providerWorkspaceRef',
    'input.redirectUrl',
  ]);
  const hosts = { provider: 'salesforce', providerWorkspaceRef: 'evil.test/' };
  expect(await issueNames(tenant, hosts)).toEqual(['input.providerWorkspaceRef']);
  expect(await issueNames(tenant, { provider: 'hubspot' })).toEqual(['input.scopes']);
  expect(await issueNames(tenant, { provider: 'zoho' })).toEqual([
    'input.providerMetadata.zoho_token_domain',
  ]);
  const evil = { provider: 'zoho', providerMetadata: { zoho_token_domain: 'evil.test' } };
  expect(await issueNames(tenant, evil)).toEqual(['input.providerMetadata.zoho_token_domain']);
  const domain = { zoho_token_domain: { value: 'accounts.zoho.eu', source: 'input' } };
  const url = await start(tenant, { provider: 'zoho', providerMetadata: domain });
  expect(url.searchParams.get('scope')).toBe('a,b');
});

test("another tenant's project and app, and a key without the scope, are refused", async () => {
  const [a, b] = [await app.tenant(), await app.tenant()];
  const providerAppId = await createProviderApp(a);
  await createProviderApp(b);
  expect(await b.refusal(START, starting(a))).toMatchObject({ code: 'NOT_FOUND' });
  expect(await issueNames(b, { providerAppId })).toEqual(['input.providerAppId']);
  const reader = await a.withScopes('read');
  expect(await reader.refusal(START, starting(a))).toMatchObject({ code: 'FORBIDDEN' });
});

test('the workspace of an account is told from the address that a token answer names', async () => {
  await using server = await startProviderServer(() => ({
    status: 200,
    body: { access_token: 't', instance_url: 'https://acme--dev.my.salesforce.com', id: 'person' },
  }));
  const template = 'https://{{workspace}}.my.salesforce.com';
  const provider = {
    ...hubspotProvider(),
    name: 'salesforce',
    baseUrl: template,
    oauth2: {
      authorizeUrl: `${template}/authorize`,
      tokenUrl: `${server.url}/token`,
      tokenFields: { workspaceRef: 'instance_url', consumerRef: 'id' },
      defaultLifetimeSeconds: 7_200,
    },
  };
  await using other = await testApp({
    providers: [provider],
    env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  });
  const tenant = await other.tenant();
  await createProviderApp(tenant, { provider: 'salesforce' });
  const given = { provider: 'salesforce', providerWorkspaceRef: 'acme' };
  const { startOAuthConnect } = await tenant.query(START, starting(tenant, given));
  const person = oauthBrowser(other);
  const url = await person.open(startOAuthConnect.authorizeUrl);
  expect(url.origin).toBe('https://acme.my.salesforce.com');
  const state = url.searchParams.get('state');
  const back = await person.send(`http://gateway.test/oauth/callback?code=c&state=${state}`);
  expect(back.status).toBe(200);
  const connections = await other.app.services.database.prisma.connection.findMany();
  expect(connections).toMatchObject([
    {
      providerWorkspaceRef: 'acme--dev',
      providerConsumerRef: 'person',
      tokenExpireTime: expect.any(Date),
    },
  ]);
});

test('a client secret goes to no host that the provider does not have', async () => {
  await using server = await startProviderServer(() => ({ status: 200, body: {} }));
  const { hostname, port } = new URL(server.url);
  const tokenUrl = `http://{{domain}}:${port}/token`;
  const oauth2 = { authorizeUrl: 'https://crm.test/consent', tokenUrl };
  const inputs = [{ name: 'domain', displayName: 'Domain' }];
  const provider = { ...hubspotProvider(), name: 'salesforce', oauth2, inputs };
  await using other = await testApp({
    providers: [{ ...provider, hosts: { domain: ['accounts.crm.test'] } }],
    env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  });
  const tenant = await other.tenant();
  await createProviderApp(tenant, { provider: 'salesforce' });
  const given = { provider: 'salesforce', providerMetadata: { domain: 'accounts.crm.test' } };
  const { startOAuthConnect } = await tenant.query(START, starting(tenant, given));
  const person = oauthBrowser(other);
  const consentUrl = await person.open(startOAuthConnect.authorizeUrl);
  const state = consentUrl.searchParams.get('state');
  // As if the connect had begun before the provider got its list of hosts.
  const who = { groupRef: 'acme', consumerRef: 'ann', scopes: [] };
  await other.app.services.database.prisma.oAuthConnect.updateMany({
    data: { input: { ...who, providerMetadata: { domain: hostname } } },
  });
  const back = await person.send(`http://gateway.test/oauth/callback?code=c&state=${state}`);
  const page = await back.text();
  expect(server.requests).toEqual([]);
  expect(page).toContain('providerMetadata.domain must be accounts.crm.test.');
});

test("the page of a connect's end runs one script, which tells the allowed origins alone", async () => {
  const tenant = await app.tenant();
  await createProviderApp(tenant);
  const answer = await comeBack(await consent(await start(tenant)));
  expect(answer.status).toBe(200);
  const policy = answer.headers.get('content-security-policy') ?? '';
  expect(policy).toMatch(/^default-src 'none'; .*; script-src 'sha256-[\w+/=]+'$/);
  const text = await answer.text();
  const [, data = ''] =
    /<script type="application\/json" id="data">(.*)<\/script><script>/.exec(text) ?? [];
  expect(JSON.parse(data)).toEqual({
    message: {
      eventType: 'AUTHORIZATION_SUCCEEDED',
      data: { connection: expect.stringMatching(/^con_/) },
    },
    origins: ['https://builder.test'],
  });
  const words = encodeURIComponent('</script><script>alert(1)</script>');
  const failed = new URL(`${await consent(await start(tenant), '0')}&error_description=${words}`);
  const said = await (await comeBack(failed)).text();
  expect(said.match(/<script/g)).toHaveLength(2);
  expect(said).toContain('AUTHORIZATION_FAILED');
});

test('a workspace that is in no address of a provider is not needed', async () => {
  const tenant = await app.tenant();
  const refusalOf = async (provider: string) => {
    const { errors } = await tenant.request(START, starting(tenant, { provider }));
    return errors?.[0]?.extensions.problem.issues?.map(({ name }: { name: string }) => name);
  };
  expect(await refusalOf('atlassian')).toEqual(['input.providerAppId']);
  expect(await refusalOf('salesforce')).toContain('input.providerWorkspaceRef');
  const given = { workspace: { value: 'acme', source: 'input' } };
  const { errors } = await tenant.request(
    START,
    starting(tenant, { provider: 'salesforce', providerMetadata: given }),
  );
  expect(JSON.stringify(errors)).not.toContain('providerWorkspaceRef');
});

test('an app that is deleted while somebody starts is told as such', async () => {
  const tenant = await app.tenant();
  const codes = new Set<string | undefined>();
  // At other moments of the start each time.
  for (let moment = 0; moment < 60; moment += 1) {
    const providerAppId = await createProviderApp(tenant);
    const begun = tenant.request(START, starting(tenant));
    for (let turn = 0; turn < moment; turn += 1) await setImmediate();
    await prisma.providerApp.deleteMany({ where: { id: providerAppId } });
    const { errors = [] } = await begun;
    codes.add(errors[0]?.extensions.code);
  }
  const permitted = [undefined, 'UNPROCESSABLE', 'BAD_USER_INPUT'];
  expect([...codes].filter((code) => !permitted.includes(code))).toEqual([]);
});
