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

test('the secret of a provider app is not sent to the host of an imported token', async () => {
  const tenant = await app.createTenant();
  const providerAppId = await createProviderApp(tenant, {
    provider: 'coupa',
    ...toAppHost('acme.coupahost.com'),
  });
  const { id } = await generateConnection(tenant, {
    provider: 'coupa',
    providerAppId,
    providerWorkspaceRef: 'evil.example',
    oauth2AuthorizationCode: { refreshToken: { token: 'refresh' } },
  });
  const session = await openProviderSessionOf(services, await getConnection(app, id));
  await expect(session.send({ method: 'GET', path: '/' })).rejects.toThrow(
    'is at evil.example, which is not the workspaceHost of the provider app.',
  );
  expect(send).not.toHaveBeenCalled();
});

test('a new host requires new credentials', async () => {
  const tenant = await app.createTenant();
  const keys = [
    ['emailBison', { apiKey: 'key' }],
    ['kaseyaVSAX', { basicAuth: { username: 'ann', password: 'secret' } }],
    ['discourse', { customAuth: { apiKey: 'key', username: 'ann' } }],
  ] as const;
  for (const [provider, credentials] of keys) {
    const account = { provider, providerWorkspaceRef: 'a.acme.example' };
    const { id } = await generateConnection(tenant, { ...account, ...credentials });
    const update = (changes: object) =>
      tenant.request(UPDATE_CONNECTION, {
        input: {
          projectIdOrName: tenant.projectId,
          connectionId: id,
          providerWorkspaceRef: 'b.acme.example',
          ...changes,
        },
      });
    expect(JSON.stringify((await update({})).errors)).toContain(
      'points to another origin, https://b.acme.example. Send new credentials with it',
    );
    expect((await update({ credentials })).data?.updateConnection.connection).toEqual({
      providerWorkspaceRef: 'b.acme.example',
    });
  }
});
