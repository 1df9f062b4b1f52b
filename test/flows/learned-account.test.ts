/** The gateway learns the account's workspace and user after a consent. */
import { afterAll, expect, test } from 'vitest';
import type { OAuth2Settings } from '../../src/providers/contract.ts';
import { createHubspotProvider } from '../../src/providers/hubspot/hubspot-provider.ts';
import { createSalesforceProvider } from '../../src/providers/salesforce/salesforce-provider.ts';
import { createTestApp, getSharedApp, type Tenant } from '../support/app.ts';
import { createProviderApp } from '../support/providers/oauth.ts';
import { createOAuthBrowser } from '../support/providers/oauth-browser.ts';
import { type ServedResponse, startProviderServer } from '../support/providers/provider-server.ts';

/** The provider's responses by path. It returns 404 for other paths. */
const responseByPath: Record<string, ServedResponse> = {};
const provider = await startProviderServer(
  ({ path }) => responseByPath[path] ?? { status: 404, body: { message: 'Not found' } },
);
const app = await getSharedApp({
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  providers: [
    createHubspotProvider({ baseUrl: provider.url }),
    createSalesforceProvider({ baseUrl: provider.url }),
  ],
});
afterAll(() => provider[Symbol.asyncDispose]());

const START_CONNECT = `mutation StartOAuthConnect($input: StartOAuthConnectInput!) {
  startOAuthConnect(input: $input) { authorizeUrl packageInstallUrl }
}`;
const LIST_CONNECTIONS = `query Connections($id: String!) { project(idOrName: $id) { connections { nodes {
  status providerWorkspaceRef providerConsumerRef
} } } }`;

function respondWith(body: object): ServedResponse {
  return { status: 200, body };
}

async function startConnect(tenant: Tenant, overrides: object) {
  const consumer = { projectIdOrName: tenant.projectId, groupRef: 'acme', consumerRef: 'ann' };
  const { startOAuthConnect } = await tenant.query(START_CONNECT, {
    input: { ...consumer, ...overrides },
  });
  return startOAuthConnect;
}

/** Opens the link and returns from the provider. Returns the page that the person sees. */
async function openCallback(link: string, result = 'code=given'): Promise<string> {
  const browser = createOAuthBrowser(app);
  const consentUrl = await browser.open(link);
  const callback = new URL(consentUrl.searchParams.get('redirect_uri') as string);
  callback.search = `${result}&state=${consentUrl.searchParams.get('state')}`;
  return (await browser.send(callback)).text();
}

async function connect(tenant: Tenant, overrides: object) {
  await openCallback((await startConnect(tenant, overrides)).authorizeUrl);
  const { project } = await tenant.query(LIST_CONNECTIONS, { id: tenant.projectId });
  return project.connections.nodes[0];
}

async function createHubspotTenant(token: string) {
  const tenant = await app.createTenant();
  await createProviderApp(tenant, { provider: 'hubspot', scopes: ['crm.objects.contacts.read'] });
  responseByPath['/oauth/v1/token'] = respondWith({
    access_token: token,
    refresh_token: 'r',
    expires_in: 1_800,
  });
  return tenant;
}

test("stores HubSpot's portal and user, and ignores the workspace in the input", async () => {
  const tenant = await createHubspotTenant('token of ann');
  responseByPath['/account-info/2026-03/details'] = respondWith({ portalId: 4711, ownerId: 9 });
  responseByPath['/oauth/v1/access-tokens/token%20of%20ann'] = respondWith({
    hub_id: 4711,
    user_id: 12,
  });
  const input = { provider: 'hubspot', providerWorkspaceRef: 'guessed' };
  expect(await connect(tenant, input)).toEqual({
    status: 'WORKING',
    providerWorkspaceRef: '4711',
    providerConsumerRef: '12',
  });
});

test('shows whether the workspace comes from the token or from the input', async () => {
  const tenant = await createHubspotTenant('token of bob');
  responseByPath['/account-info/2026-03/details'] = respondWith({ portalId: 4712 });
  await connect(tenant, { provider: 'hubspot' });
  const headers = { 'x-api-key': tenant.apiKey, 'content-type': 'application/json' };
  const path = `/v1/projects/${tenant.projectId}/connections`;
  const readConnection = async () => (await (await app.fetch(path, { headers })).json())[0];
  const { id, providerMetadata } = await readConnection();
  expect(providerMetadata).toEqual({ workspace: { value: '4712', source: 'token' } });
  const body = {
    updateMask: ['providerWorkspaceRef'],
    connection: { providerWorkspaceRef: '4713' },
  };
  const change = { method: 'PATCH', headers, body: JSON.stringify(body) };
  expect((await app.fetch(`${path}/${id}`, change)).status).toBe(200);
  expect((await readConnection()).providerMetadata).toEqual({
    workspace: { value: '4713', source: 'input' },
  });
  await connect(tenant, { provider: 'hubspot' });
  expect((await readConnection()).providerMetadata.workspace.source).toBe('token');
});

test('uses either account endpoint if the other fails', async () => {
  const tenant = await createHubspotTenant('other');
  responseByPath['/account-info/2026-03/details'] = { status: 500 };
  responseByPath['/oauth/v1/access-tokens/other'] = respondWith({ hub_id: 815, user_id: 3 });
  expect(await connect(tenant, { provider: 'hubspot' })).toMatchObject({
    providerWorkspaceRef: '815',
    providerConsumerRef: '3',
  });
  const ownedTenant = await createHubspotTenant('unknown');
  responseByPath['/account-info/2026-03/details'] = respondWith({ portalId: 816, ownerId: 4 });
  expect(await connect(ownedTenant, { provider: 'hubspot' })).toMatchObject({
    providerWorkspaceRef: '816',
    // The owner of the portal is not the person who consented.
    providerConsumerRef: null,
  });
});

test('keeps the input and creates the connection if the provider returns no account facts', async () => {
  const tenant = await createHubspotTenant('silent');
  responseByPath['/account-info/2026-03/details'] = respondWith({ portalId: { no: 'id' } });
  const input = { provider: 'hubspot', providerWorkspaceRef: 'given' };
  expect(await connect(tenant, input)).toEqual({
    status: 'WORKING',
    providerWorkspaceRef: 'given',
    providerConsumerRef: null,
  });
});

test("takes Salesforce's org and user from the token response, or from the user info endpoint if the response has neither", async () => {
  const tenant = await app.createTenant();
  await createProviderApp(tenant, { provider: 'salesforce' });
  const id = 'https://login.salesforce.com/id/00DA/005A';
  const token = { access_token: 'a', refresh_token: 'r', id, instance_url: provider.url };
  responseByPath['/services/oauth2/token'] = respondWith(token);
  responseByPath['/services/oauth2/userinfo'] = respondWith({ sub: id, organization_id: '00DA' });
  const input = { provider: 'salesforce', providerWorkspaceRef: 'acme' };
  const refs = { providerWorkspaceRef: provider.url, providerConsumerRef: id };
  expect(await connect(tenant, input)).toMatchObject(refs);
  const org = { ...token, instance_url: 'https://acme--dev.sandbox.my.salesforce.com' };
  responseByPath['/services/oauth2/token'] = respondWith(org);
  expect(await connect(tenant, { provider: 'salesforce' })).toMatchObject({
    providerWorkspaceRef: 'acme--dev.sandbox',
  });
  responseByPath['/services/oauth2/token'] = respondWith({ access_token: 'a' });
  expect(await connect(tenant, input)).toMatchObject({
    providerWorkspaceRef: 'acme',
    providerConsumerRef: id,
  });
});

test('fails an OAuth flow without a workspace if the token response names no org of Salesforce', async () => {
  const { sharedLogin } = createSalesforceProvider({ baseUrl: provider.url }).oauth2 ?? {};
  const salesforce = createSalesforceProvider();
  const oauth2 = { ...(salesforce.oauth2 as OAuth2Settings), sharedLogin };
  await using ownApp = await createTestApp({
    env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
    providers: [{ ...salesforce, oauth2 }],
  });
  const tenant = await ownApp.createTenant();
  await createProviderApp(tenant, { provider: 'salesforce' });
  const token = { access_token: 'a', refresh_token: 'r', instance_url: 'https://na1.example' };
  responseByPath['/services/oauth2/token'] = respondWith(token);
  const { authorizeUrl } = await startConnect(tenant, { provider: 'salesforce' });
  const browser = createOAuthBrowser(ownApp);
  const consentUrl = await browser.open(authorizeUrl);
  expect(consentUrl.origin).toBe(provider.url);
  const callback = new URL(consentUrl.searchParams.get('redirect_uri') as string);
  callback.search = `code=given&state=${consentUrl.searchParams.get('state')}`;
  const page = await browser.send(callback);
  expect(page.status).toBe(400);
  expect(await page.text()).toContain('Connect again, and enter the workspace.');
  const { project } = await tenant.query(LIST_CONNECTIONS, { id: tenant.projectId });
  expect(project.connections.nodes).toEqual([]);
});

test('shows the package link of the provider app on the pages of an OAuth flow', async () => {
  const tenant = await app.createTenant();
  const packageInstallURL = 'https://login.salesforce.com/packaging?p0=04t"&x=1';
  const metadata = { providerParams: { packageInstallURL } };
  await createProviderApp(tenant, { provider: 'salesforce', metadata });
  const input = { provider: 'salesforce', providerWorkspaceRef: 'acme' };
  const { authorizeUrl, packageInstallUrl } = await startConnect(tenant, input);
  expect(packageInstallUrl).toBe(packageInstallURL);
  const denied = await openCallback(authorizeUrl, 'error=OAUTH_APP_BLOCKED');
  const installLink = 'href="https://login.salesforce.com/packaging?p0=04t&#34;&#38;x=1"';
  expect(denied).toContain(installLink);
  expect(await openCallback((await startConnect(tenant, input)).authorizeUrl)).toContain(
    installLink,
  );
});
