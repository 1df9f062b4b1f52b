/** Connections to the sandbox that hold tokens, and the sessions that use them. */
import { openSession } from '../../../src/domain/connection/connection-session.ts';
import { readCredentials } from '../../../src/domain/connection/session/stored-credentials.ts';
import type { Row } from '../../../src/domain/scope.ts';
import type { Tenant, TestApp } from '../app.ts';
import type { GraphqlClient } from '../graphql-client.ts';
import { generate } from '../scenes/connections.ts';

type Host = Pick<TestApp, 'app'>;
type Asker = Pick<Tenant, 'projectId'> & Pick<GraphqlClient, 'query'>;

export const CLIENT_ID = 'sandbox-client';
export const CLIENT_SECRET = 'sandbox-secret';
export const CLIENT = { clientId: CLIENT_ID, clientSecret: CLIENT_SECRET };

const CREATE_APP = `mutation ($input: CreateProviderAppInput!) {
  createProviderApp(input: $input) { providerApp { id } }
}`;

/** The OAuth client that tokens of the sandbox are refreshed as. */
export async function createProviderApp(tenant: Asker, given: object = {}): Promise<string> {
  const input = { projectIdOrName: tenant.projectId, provider: 'sandbox', ...CLIENT, ...given };
  return (await tenant.query(CREATE_APP, { input })).createProviderApp.providerApp.id;
}

export const PAST = new Date('2020-01-01T00:00:00Z');

/** A connection with tokens of the sandbox's own; the access token is at its end unless told otherwise. */
export async function connectWithTokens(
  { app }: Host,
  tenant: Asker,
  given: { accessToken?: string; expiresAt?: Date | null; refreshToken?: string | null } = {},
) {
  const granted = app.sandbox.oauth.grantToUser(CLIENT_ID, 'sandbox-user', '');
  const { expiresAt = PAST, refreshToken = granted.refresh_token } = given;
  const apps = { projectId: tenant.projectId, provider: 'sandbox' };
  if ((await app.services.database.prisma.providerApp.count({ where: apps })) === 0) {
    await createProviderApp(tenant);
  }
  const { id } = await generate(tenant, {
    oauth2AuthorizationCode: {
      accessToken: { token: given.accessToken ?? granted.access_token, expiresAt },
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

/** A request of the connection to the sandbox, in a session of its own. */
export function callSandbox({ app }: Host, connection: Row<'Connection'>) {
  return openSession(app.services, connection).send({ method: 'GET', path: '/objects' });
}

/** The credentials in clear, as they are stored. */
export async function storedCredentials({ app }: Host, connection: Row<'Connection'>) {
  return (await readCredentials(app.services, connection)).credentials;
}
