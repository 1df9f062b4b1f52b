/**
 * Stores the tokens of a consent. If the provider issued no refresh token, the stored one is kept for the same account and
 * person.
 */
import type { ConnectionWithCredentials } from '../../../database/hot/write-target.ts';
import type { Services } from '../../call.ts';
import { createCredentialColumns } from '../connection.ts';
import type { StoredToken } from '../credentials.ts';
import { type ConnectionRequest, putConnection } from '../put-connection.ts';
import { findIdentity } from '../session/identify-account.ts';
import { unsealCredentials } from '../session/stored-credentials.ts';
import { replayEntry } from '../token/token-commit.ts';
import { waitForLease } from '../token/token-lease.ts';

type AccountNames = Pick<ConnectionWithCredentials, 'providerWorkspaceRef' | 'providerConsumerRef'>;

interface Consent {
  request: ConnectionRequest;
  /** The account and person in the token response. The request may also name an account, which a caller entered. */
  names: AccountNames;
}

/**
 * Creates or renews the connection. The stored refresh token stays if the app is the same, and the token response or the
 * account request names the same account and person: otherwise the access token could be of one account, and its
 * successors of another.
 */
export async function storeConsent(
  services: Services,
  { request, names }: Consent,
): Promise<ConnectionWithCredentials> {
  if (request.input.oauth2AuthorizationCode?.refreshToken) return putConnection(services, request);
  const connection = await findConnection(services, request);
  if (!connection || !findRefreshToken(services, connection)) {
    return putConnection(services, request);
  }
  const account = await identify(services, connection, { request, names });
  // A concurrent refresh would replace the refresh token that is kept.
  const lease = await waitForLease(
    services,
    connection,
    async () => (await findConnection(services, request)) !== null,
  );
  try {
    if (lease) await replayEntry(services, connection.id);
    const current = await findConnection(services, request);
    const isKept = current !== null && isSameGrant(current, { request, account });
    const refreshToken = isKept ? findRefreshToken(services, current) : undefined;
    return await putConnection(services, withRefreshToken(request, refreshToken));
  } finally {
    // If the release fails, the lease expires.
    await lease?.release().catch(() => {});
  }
}

function findConnection(
  { database }: Services,
  { projectId, input: { provider, groupRef, consumerRef } }: ConnectionRequest,
): Promise<ConnectionWithCredentials | null> {
  return database.prisma.connection.findFirst({
    where: { projectId, provider, group: { groupRef }, consumer: { consumerRef } },
  });
}

function findRefreshToken(
  services: Services,
  connection: ConnectionWithCredentials,
): StoredToken | undefined {
  const { credentials } = unsealCredentials(services, connection);
  return 'refreshToken' in credentials ? credentials.refreshToken : undefined;
}

/** Returns the names of the new token's account. The account request replaces those in the token response. */
async function identify(
  services: Services,
  connection: ConnectionWithCredentials,
  { request: { scheme, input }, names }: Consent,
): Promise<AccountNames> {
  const { credentialsSealed } = createCredentialColumns(
    services,
    { ...connection, authScheme: scheme },
    input,
  );
  const candidate = {
    ...connection,
    authScheme: scheme,
    providerWorkspaceRef: input.providerWorkspaceRef ?? connection.providerWorkspaceRef,
    credentialsSealed,
  };
  const identity = await findIdentity(services, candidate);
  return {
    providerWorkspaceRef: identity.providerWorkspaceRef ?? names.providerWorkspaceRef,
    providerConsumerRef: identity.providerConsumerRef ?? names.providerConsumerRef,
  };
}

/** True if the consent and the connection have the same app, and the provider named the same account and person. */
function isSameGrant(
  connection: ConnectionWithCredentials,
  { request, account }: { request: ConnectionRequest; account: AccountNames },
): boolean {
  return (
    account.providerConsumerRef !== null &&
    account.providerConsumerRef === connection.providerConsumerRef &&
    account.providerWorkspaceRef === connection.providerWorkspaceRef &&
    request.input.providerAppId === connection.providerAppId
  );
}

function withRefreshToken(
  request: ConnectionRequest,
  refreshToken: StoredToken | undefined,
): ConnectionRequest {
  const { oauth2AuthorizationCode } = request.input;
  if (!refreshToken) return request;
  const credentials = { ...oauth2AuthorizationCode, refreshToken: { token: refreshToken.token } };
  return { ...request, input: { ...request.input, oauth2AuthorizationCode: credentials } };
}
