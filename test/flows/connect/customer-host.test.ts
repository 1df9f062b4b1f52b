/** Secrets go only to a customer's own host for which they were entered, or which the provider app names. */
import { beforeEach, expect, test, vi } from 'vitest';
import { openProviderSessionOf } from '../../../src/domain/connections/connection/connection-session.ts';
import { CATALOG } from '../../../src/providers/catalog/all-entries.ts';
import { getSharedApp, type Tenant } from '../../support/app.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import { createProviderApp, getConnection, START_CONNECT } from '../../support/providers/oauth.ts';

const app = await getSharedApp({ providers: [...CATALOG] });
const { services } = app.app;
const send = vi.fn();

beforeEach(() => {
  send.mockReset();
  vi.spyOn(services.providerAccess.outbound, 'send').mockImplementation(send);
});

const UPDATE_CONNECTION = `mutation UpdateConnection($input: UpdateConnectionInput!) {
  updateConnection(input: $input) { connection { providerWorkspaceRef } }
}`;

const PERSON = { username: 'ann', password: 'secret' };
const PERSON_AND_CLIENT = { ...PERSON, clientId: 'client', clientSecret: 'secret' };

const toAppHost = (workspaceHost: string) => ({ metadata: { providerParams: { workspaceHost } } });

function startConnect(tenant: Tenant, providerAppId: string, providerWorkspaceRef: string) {
  const parties = { projectIdOrName: tenant.projectId, groupRef: 'acme', consumerRef: 'ann' };
  const account = { provider: 'coupa', providerAppId, providerWorkspaceRef, scopes: ['read'] };
  return tenant.request(START_CONNECT, { input: { ...parties, ...account } });
}

test('a consent requires the host that the provider app names', async () => {
  const tenant = await app.createTenant();
  const withoutHost = await createProviderApp(tenant, { provider: 'coupa' });
  const withHost = await createProviderApp(tenant, {
    provider: 'coupa',
    ...toAppHost('Acme.coupahost.com'),
  });
  const findDetail = async (...parameters: [string, string]) => {
    const { errors } = await startConnect(tenant, ...parameters);
    return JSON.stringify(errors ?? null);
  };
  expect(await findDetail(withoutHost, 'acme.coupahost.com')).toContain(
    "can't be used: set providerParams.workspaceHost of the provider app",
  );
  expect(await findDetail(withHost, 'evil.example')).toContain(
    'must be acme.coupahost.com, the workspaceHost of the provider app.',
  );
  expect(await findDetail(withHost, 'acme.coupahost.com')).toBe('null');
});

test.each([
  ['coupa', 'evil.example', { oauth2AuthorizationCode: { refreshToken: { token: 'refresh' } } }],
  ['sugarCRM', 'https://evil.example', { oauth2PasswordCredentials: PERSON_AND_CLIENT }],
])('the secret of a provider app of %s is only sent to the host that the app names', async (provider, providerWorkspaceRef, credentials) => {
  const tenant = await app.createTenant();
  const providerAppId = await createProviderApp(tenant, {
    provider,
    ...toAppHost('acme.example.com'),
  });
  const { id } = await generateConnection(tenant, {
    provider,
    providerAppId,
    providerWorkspaceRef,
    ...credentials,
    skipCheck: true,
  });
  const session = await openProviderSessionOf(services, await getConnection(app, id));
  await expect(session.send({ method: 'GET', path: '/' })).rejects.toThrow(
    'is at evil.example, which is not the workspaceHost of the provider app.',
  );
  expect(send).not.toHaveBeenCalled();
});

test('the secret of a provider app is not sent with a password to a host that the app does not name', async () => {
  const tenant = await app.createTenant();
  await createProviderApp(tenant, {
    provider: 'sugarCRM',
    clientId: PERSON_AND_CLIENT.clientId,
    ...toAppHost('acme.example.com'),
  });
  send.mockResolvedValue({
    status: 200,
    headers: { 'content-type': 'application/json' },
    body: Buffer.from('{"access_token":"token"}'),
    truncated: false,
  });
  const request = async (providerWorkspaceRef: string, clientId: string) => {
    const { id } = await generateConnection(tenant, {
      provider: 'sugarCRM',
      providerWorkspaceRef,
      oauth2PasswordCredentials: { ...PERSON_AND_CLIENT, clientId },
      skipCheck: true,
    });
    const session = await openProviderSessionOf(services, await getConnection(app, id));
    return session.send({ method: 'GET', path: '/' });
  };
  await expect(request('https://evil.example', PERSON_AND_CLIENT.clientId)).rejects.toThrow(
    'is at evil.example, which is not the workspaceHost of the provider app.',
  );
  expect(send).not.toHaveBeenCalled();
  await request('https://acme.example.com', PERSON_AND_CLIENT.clientId);
  // The client of another app belongs to the customer.
  await request('https://other.example', 'client-of-customer');
});

const CUSTOMER_HOSTS = [
  ['coupa', { oauth2AuthorizationCode: { accessToken: { token: 'token' } } }],
  ['discourse', { customAuth: { apiKey: 'key', username: 'ann' } }],
  ['emailBison', { apiKey: 'key' }],
  ['kaseyaVSAX', { basicAuth: PERSON }],
  ['loxo', { apiKey: 'key' }],
  ['odoo', { apiKey: 'key' }],
  ['sugarCRM', { oauth2PasswordCredentials: PERSON_AND_CLIENT }],
  ['vtiger', { basicAuth: PERSON }],
] as const;

test('covers each provider whose customers enter the host', () => {
  const names = CATALOG.filter(({ hasCustomerHost }) => hasCustomerHost).map(({ name }) => name);
  expect(CUSTOMER_HOSTS.map(([name]) => name)).toEqual(names.toSorted());
});

test.each(
  CUSTOMER_HOSTS,
)('a new host of %s requires new credentials', async (provider, credentials) => {
  const tenant = await app.createTenant();
  const isAddress = CATALOG.find(({ name }) => name === provider)?.baseUrl.startsWith('{{');
  const toRef = (host: string) => (isAddress ? `https://${host}` : host);
  const { id } = await generateConnection(tenant, {
    provider,
    providerWorkspaceRef: toRef('a.acme.example'),
    providerMetadata: { agencySlug: 'acme' },
    ...credentials,
    skipCheck: true,
  });
  const update = (changes: object) =>
    tenant.request(UPDATE_CONNECTION, {
      input: {
        projectIdOrName: tenant.projectId,
        connectionId: id,
        providerWorkspaceRef: toRef('b.acme.example'),
        skipCheck: true,
        ...changes,
      },
    });
  expect(JSON.stringify((await update({})).errors)).toContain(
    'points to another origin, https://b.acme.example. Send new credentials with it',
  );
  expect((await update({ credentials })).data?.updateConnection.connection).toEqual({
    providerWorkspaceRef: toRef('b.acme.example'),
  });
  expect(send).not.toHaveBeenCalled();
});
