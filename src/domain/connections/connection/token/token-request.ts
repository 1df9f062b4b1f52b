/** Creates the request to a token endpoint for a new access token, which needs no person. */

import type { OAuth2Settings, Provider } from '../../../../providers/contract.ts';
import { ProviderError } from '../../../../providers/provider-error.ts';
import type { ProjectServices } from '../../../access/call.ts';
import { requireAppForProvider } from '../../provider/credential-targets.ts';
import { findWorkspaceHost, toClientSecretLocation } from '../../provider/provider-app.ts';
import { listSecrets } from '../credentials.ts';
import type { AccountMetadata } from '../session/account-address.ts';
import { createInputGrantRequest } from './input-grant.ts';
import type { Grant, RefreshableCredentials, TokenCredentials } from './token.ts';
import type { OAuthClient, TokenRequest } from './token-endpoint.ts';
import type { LeasedConnection } from './token-lease.ts';

type OAuthProvider = Provider & { oauth2: OAuth2Settings };

/** Returns a provider with OAuth. Throws BAD_REQUEST if it is not in the catalog or has no OAuth. */
export function getOAuthProvider(
  { catalog }: Pick<ProjectServices, 'catalog'>,
  name: string,
): OAuthProvider {
  const provider = catalog.find(name);
  if (provider?.oauth2) return provider as OAuthProvider;
  throw new ProviderError('BAD_REQUEST', `${name} is not an OAuth provider.`);
}

/** Returns the OAuth client of a provider app with its decrypted secret. Null if the app does not exist. */
export async function findAppClient(
  { database, vault, catalog }: Pick<ProjectServices, 'database' | 'vault' | 'catalog'>,
  { projectId, id, provider }: { projectId: string; id: string | null; provider: string },
): Promise<OAuthClient | null> {
  if (id === null) return null;
  const app = await database.prisma.providerApp.findUnique({
    where: { projectId_id: { projectId, id }, provider },
    select: { clientId: true, clientSecretSealed: true, credentialTargets: true, metadata: true },
  });
  if (!app) return null;
  requireAppForProvider(catalog.find(provider), app);
  const secret = vault.open(app.clientSecretSealed, toClientSecretLocation(id, projectId));
  return { id: app.clientId, secret, isApp: true, workspaceHost: findWorkspaceHost(app) };
}

/** The columns of a connection that the request needs. The connection may not be stored yet. */
type Account = AccountMetadata & Pick<LeasedConnection, 'projectId' | 'provider' | 'providerAppId'>;

export async function createRefreshRequest(
  services: Pick<ProjectServices, 'catalog' | 'database' | 'now' | 'vault'>,
  connection: Account,
  credentials: RefreshableCredentials,
): Promise<TokenRequest> {
  const secrets = listSecrets(credentials);
  if (credentials.scheme === 'SERVICE_ACCOUNT') {
    const request = await createInputGrantRequest(services, connection, credentials.custom);
    return { ...request, secrets };
  }
  const provider = getOAuthProvider(services, connection.provider);
  const client = await getClient(services, connection, credentials);
  const grant = { provider, account: connection, client, secrets };
  if (credentials.scheme === 'ADMIN_CONSENT') {
    return { ...grant, ...createAppGrant(provider, connection, credentials.workspaceRef) };
  }
  if (!('clientId' in credentials)) {
    const { token } = credentials.refreshToken;
    const { refreshUrl: tokenUrl = provider.oauth2.tokenUrl } = provider.oauth2;
    return {
      ...grant,
      provider: { ...provider, oauth2: { ...provider.oauth2, tokenUrl } },
      form: { grant_type: 'refresh_token', refresh_token: token },
    };
  }
  const scope = credentials.scopes.join(provider.oauth2.scopeSeparator ?? ' ');
  return { ...grant, form: { ...createGrant(credentials), ...(scope !== '' && { scope }) } };
}

/** Creates the request of the provider app's client for a token of an organization whose administrator has consented. */
function createAppGrant(
  provider: OAuthProvider,
  account: Account,
  providerWorkspaceRef: string,
): Pick<TokenRequest, 'provider' | 'account' | 'form'> {
  const { oauth2 } = provider;
  if (!oauth2.adminConsent) {
    const message = `${provider.name} does not support an administrator's consent.`;
    throw new ProviderError('BAD_REQUEST', message);
  }
  const { tokenUrl, scope } = oauth2.adminConsent;
  return {
    provider: { ...provider, oauth2: { ...oauth2, tokenUrl } },
    account: { ...account, providerWorkspaceRef },
    form: { grant_type: 'client_credentials', scope },
  };
}

/** Returns the OAuth client that obtained the connection's tokens. Throws BAD_REQUEST if its app was deleted. */
export async function getClient(
  services: Pick<ProjectServices, 'catalog' | 'database' | 'vault'>,
  { projectId, provider: name, providerAppId }: Account,
  credentials: TokenCredentials,
): Promise<OAuthClient> {
  if ('clientId' in credentials) {
    const client = { id: credentials.clientId, secret: credentials.clientSecret };
    return bindToAppHost(services, { projectId, provider: name, providerAppId }, client);
  }
  const client = await findAppClient(services, { projectId, id: providerAppId, provider: name });
  if (!client) throw createMissingAppError(getOAuthProvider(services, name));
  return client;
}

/**
 * If customers enter the host, and the client of the credentials is that of a provider app, its secret is the builder's.
 * Returns the client with the only host that may receive the secret.
 */
async function bindToAppHost(
  { catalog, database }: Pick<ProjectServices, 'catalog' | 'database'>,
  { projectId, provider, providerAppId }: Pick<Account, 'projectId' | 'provider' | 'providerAppId'>,
  client: OAuthClient,
): Promise<OAuthClient> {
  if (!catalog.find(provider)?.hasCustomerHost) return client;
  const app = await database.prisma.providerApp.findFirst({
    where: {
      projectId,
      provider,
      ...(providerAppId === null ? { clientId: client.id } : { id: providerAppId }),
    },
    select: { metadata: true },
    orderBy: { id: 'desc' },
  });
  return app ? { ...client, isApp: true, workspaceHost: findWorkspaceHost(app) } : client;
}

function createGrant(credentials: Extract<Grant, { clientId: string }>): Record<string, string> {
  if (credentials.scheme === 'OAUTH2_CLIENT_CREDENTIALS') {
    return { grant_type: 'client_credentials' };
  }
  const { username, password } = credentials;
  return { grant_type: 'password', username, password };
}

function createMissingAppError({ displayName }: Provider): ProviderError {
  return new ProviderError(
    'BAD_REQUEST',
    `The token can't be refreshed: the connection has no provider app for ${displayName}.`,
  );
}
