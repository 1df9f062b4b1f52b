/** Connections to the sandbox, and the provider app that they use. */
import type { RestTenant } from '../rest/rest-client.ts';
import { lazy } from './lazy.ts';

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

/** A client that the sandbox accepts for client credentials. */
export const OAUTH_CLIENT = { clientId: 'client', clientSecret: 'sandbox-secret-planted' };

export const TOKENS = {
  accessToken: { token: 'at', issuedAt: '2026-01-01T00:00:00Z', expiresAt: '2099-01-01T00:00:00Z' },
  refreshToken: {
    token: 'rt',
    issuedAt: '2026-01-01T00:00:00Z',
    expiresAt: '2099-01-01T00:00:00Z',
  },
  scopes: ['contacts.read'],
};

export function createConnectionResources({ base, ...rest }: RestTenant) {
  const providerApp = lazy(async () => {
    const { id } = await rest.post(`${base}/provider-apps`, PROVIDER_APP, 200);
    const changes = { updateMask: ['externalRef'], providerApp: { externalRef: '43' } };
    return rest.patch(`${base}/provider-apps/${id}`, changes);
  });
  const connect = (body: object) => rest.post(`${base}/connections:generate`, body);
  const account = { groupRef: 'whole', consumerRef: 'wendy', provider: 'sandbox' };
  return {
    providerApp,
    /** Belongs to a provider without connections. */
    unusedProviderApp: lazy(() =>
      rest.post(`${base}/provider-apps`, { ...PROVIDER_APP, provider: 'salesforce' }, 200),
    ),
    /** Has tokens and a provider app, and was updated once. */
    connection: lazy(async () => {
      await providerApp();
      const body = {
        ...account,
        providerWorkspaceRef: 'workspace-1',
        providerMetadata: { region: { value: 'eu', source: 'input' } },
        oauth2AuthorizationCode: TOKENS,
      };
      await connect({ ...body, groupName: 'First', consumerName: 'First' });
      const { id } = await connect({ ...body, groupName: 'Whole', consumerName: 'Wendy' });
      const query = '?includeCreds=true&includeRefreshToken=true';
      return rest.get(`${base}/connections/${id}${query}`);
    }),
    keyConnection: lazy(async () => {
      const { id } = await connect({ ...account, consumerRef: 'kay', apiKey: 'sandbox-key' });
      return rest.get(`${base}/connections/${id}?includeCreds=true`);
    }),
  };
}
