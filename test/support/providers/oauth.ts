/** Creates connections to the sandbox that hold tokens, and calls the sandbox with them. */

import type { Row } from '../../../src/domain/access/scope.ts';
import { openProviderSessionOf } from '../../../src/domain/connections/connection/connection-session.ts';
import { readCredentials } from '../../../src/domain/connections/connection/session/stored-credentials.ts';
import type { Tenant, TestApp } from '../app.ts';
import { generateConnection } from '../fixtures/connections.ts';
import type { GraphqlClient } from '../graphql-client.ts';

type Host = Pick<TestApp, 'app'>;
type Caller = Pick<Tenant, 'projectId'> & Pick<GraphqlClient, 'query'>;

export const CLIENT_ID = 'sandbox-client';
export const CLIENT_SECRET = 'sandbox-secret';
export const CLIENT = { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET };

export const START_CONNECT = `mutation StartOAuthConnect($input: StartOAuthConnectInput!) {
  startOAuthConnect(input: $input) { authorizeUrl }
}`;

export const CREATE_PROVIDER_APP = `mutation CreateProviderApp($input: CreateProviderAppInput!) {
  createProviderApp(input: $input) { providerApp { id webhookUrl webhookInstructions } }
}`;

/** Creates a provider app with the OAuth client that the sandbox knows. Returns its ID. */
export async function createProviderApp(tenant: Caller, overrides: object = {}): Promise<string> {
  const input = { projectIdOrName: tenant.projectId, provider: 'sandbox', ...CLIENT, ...overrides };
  return (await tenant.query(CREATE_PROVIDER_APP, { input })).createProviderApp.providerApp.id;
}

const EXPIRED_TIME = new Date('2020-01-01T00:00:00Z');

/** Creates a connection with tokens that the sandbox issued. By default, the access token has expired. */
export async function connectWithTokens(
  { app }: Host,
  tenant: Caller,
  options: { accessToken?: string; expiresAt?: Date | null; refreshToken?: string | null } = {},
) {
  const grantedTokens = app.sandbox.oauth.issueToUser(CLIENT_ID, 'sandbox-user', '');
  const { expiresAt = EXPIRED_TIME, refreshToken = grantedTokens.refresh_token } = options;
  const apps = { projectId: tenant.projectId, provider: 'sandbox' };
  if ((await app.services.database.prisma.providerApp.count({ where: apps })) === 0) {
    await createProviderApp(tenant);
  }
  const { id } = await generateConnection(tenant, {
    oauth2AuthorizationCode: {
      accessToken: {
        token: options.accessToken ?? grantedTokens.access_token,
        expireTime: expiresAt,
      },
      ...(refreshToken !== null && { refreshToken: { token: refreshToken } }),
    },
  });
  return getConnection({ app }, id);
}

export async function getConnection({ app }: Host, id: string): Promise<Row<'Connection'>> {
  return app.services.database.prisma.connection.findFirstOrThrow({
    where: { id },
    omit: { credentialsSealed: true },
  });
}

/** Sends a request of the connection to the sandbox, in a new session. */
export async function callSandbox({ app }: Host, connection: Row<'Connection'>) {
  return (await openProviderSessionOf(app.services, connection)).send({
    method: 'GET',
    path: '/objects',
  });
}

/** Returns the stored credentials, decrypted. */
export async function readStoredCredentials({ app }: Host, connection: Row<'Connection'>) {
  return (await readCredentials(app.services, connection)).credentials;
}
