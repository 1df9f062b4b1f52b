/** Accounts of the scene at the sandbox, and the app that they are connected by. */
import type { RestTenant } from '../rest/rest-client.ts';
import { once } from './once.ts';

const METADATA = {
  authQueryParams: { optional_scope: ['contacts.read', 'contacts.write'] },
  providerParams: {
    packageInstallURL: 'https://apps.example.com/install',
    gcpProjectId: 'project-1',
    gcpPubSubTopicName: 'topic-1',
  },
};

export const PROVIDER_APP = {
  provider: 'sandbox',
  clientId: 'client',
  clientSecret: 'planted-secret',
  externalRef: '42',
  scopes: ['contacts.read'],
  metadata: METADATA,
};

export const TOKENS = {
  accessToken: { token: 'at', issuedAt: '2026-01-01T00:00:00Z', expiresAt: '2099-01-01T00:00:00Z' },
  refreshToken: {
    token: 'rt',
    issuedAt: '2026-01-01T00:00:00Z',
    expiresAt: '2099-01-01T00:00:00Z',
  },
  scopes: ['contacts.read'],
};

export function ofConnecting({ base, ...rest }: RestTenant) {
  const providerApp = once(async () => {
    const { id } = await rest.post(`${base}/provider-apps`, PROVIDER_APP, 200);
    const changes = { updateMask: ['externalRef'], providerApp: { externalRef: '43' } };
    return rest.patch(`${base}/provider-apps/${id}`, changes);
  });
  const connect = (given: object) => rest.post(`${base}/connections:generate`, given);
  const account = { groupRef: 'whole', consumerRef: 'wendy', provider: 'sandbox' };
  return {
    providerApp,
    /** Of a provider that nothing connects to. */
    otherApp: once(() =>
      rest.post(`${base}/provider-apps`, { ...PROVIDER_APP, provider: 'salesforce' }, 200),
    ),
    /** With tokens, an app, and everything changed once. */
    connection: once(async () => {
      await providerApp();
      const given = {
        ...account,
        providerWorkspaceRef: 'workspace-1',
        providerMetadata: { region: { value: 'eu', source: 'input' } },
        oauth2AuthorizationCode: TOKENS,
      };
      await connect({ ...given, groupName: 'First', consumerName: 'First' });
      const { id } = await connect({ ...given, groupName: 'Whole', consumerName: 'Wendy' });
      const query = '?includeCreds=true&includeRefreshToken=true';
      return rest.get(`${base}/connections/${id}${query}`);
    }),
    keyConnection: once(async () => {
      const { id } = await connect({ ...account, consumerRef: 'kay', apiKey: 'sandbox-key' });
      return rest.get(`${base}/connections/${id}?includeCreds=true`);
    }),
  };
}
