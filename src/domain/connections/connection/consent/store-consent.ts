/**
 * Stores the tokens of a consent. If the provider issued no refresh token, the stored one is kept for the same account and
 * person. Without one, the connection is reported.
 */
import type { Prisma } from '../../../../database/generated/client.ts';
import type { ConnectionWithCredentials } from '../../../../database/statements/hot/write-target.ts';
import { ProviderError } from '../../../../providers/provider-error.ts';
import type { CoreServices, ProjectServices, RowServices } from '../../../access/call.ts';
import { areForProvider } from '../../provider/credential-targets.ts';
import { createCredentialColumns } from '../connection.ts';
import { parseDate, type StoredToken } from '../credentials.ts';
import { type ConnectionRequest, putConnection } from '../put-connection.ts';
import { getIdentity } from '../session/identify-account.ts';
import { tryUnsealCredentials } from '../session/stored-credentials.ts';
import { replayEntry } from '../token/token-commit.ts';
import { type RefreshLease, waitForRefreshLease } from '../token/token-lease.ts';

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
  services: ProjectServices,
  { request, names }: Consent,
): Promise<ConnectionWithCredentials> {
  if (request.input.oauth2AuthorizationCode?.refreshToken) return putConnection(services, request);
  const connection = await findConnection(services, request);
  if (!connection || !findRefreshToken(services, connection)) {
    return putConnection(services, withRefreshToken(request, { isDropped: false }));
  }
  const account = await identify(services, connection, { request, names });
  const findCurrent = async () => {
    const current = await findConnection(services, request);
    return current?.id === connection.id ? current : null;
  };
  // A concurrent refresh would replace the refresh token that is kept.
  const lease = await claimLease(services, connection, async () => (await findCurrent()) !== null);
  try {
    if (lease) await replayEntry(services, connection.id);
    const current = lease && (await findCurrent());
    const isKept = current !== null && isSameGrant(current, { request, account });
    // A token that was issued for other addresses of the provider must not be sent to the present ones.
    const provider = services.catalog.find(request.input.provider);
    const refreshToken =
      isKept && areForProvider(provider, current) ? findRefreshToken(services, current) : undefined;
    return await putConnection(
      services,
      withRefreshToken(request, { refreshToken, isDropped: !refreshToken }),
    );
  } finally {
    // If the release fails, the lease expires.
    await lease?.release().catch(() => {});
  }
}

/** Waits for the lease. Null if another process keeps it: the consent is then stored without the refresh token. */
async function claimLease(
  ...parameters: Parameters<typeof waitForRefreshLease>
): Promise<RefreshLease | null> {
  try {
    return await waitForRefreshLease(...parameters);
  } catch (error) {
    if (error instanceof ProviderError && error.isTemporary) return null;
    throw error;
  }
}

function findConnection(
  { database }: RowServices,
  { projectId, input: { provider, groupRef, consumerRef } }: ConnectionRequest,
): Promise<ConnectionWithCredentials | null> {
  return database.prisma.connection.findFirst({
    where: { projectId, provider, group: { groupRef }, consumer: { consumerRef } },
  });
}

function findRefreshToken(
  services: CoreServices,
  connection: ConnectionWithCredentials,
): StoredToken | undefined {
  const credentials = tryUnsealCredentials(services, connection)?.credentials;
  return credentials && 'refreshToken' in credentials ? credentials.refreshToken : undefined;
}

/** Returns the names of the new token's account. The account request replaces those in the token response. */
async function identify(
  services: ProjectServices,
  connection: ConnectionWithCredentials,
  { request: { scheme, input }, names }: Consent,
): Promise<AccountNames> {
  const { credentialsSealed, credentialTargets } = createCredentialColumns(
    services,
    { ...connection, authScheme: scheme },
    input,
  );
  const candidate = {
    ...connection,
    authScheme: scheme,
    providerWorkspaceRef: input.providerWorkspaceRef ?? connection.providerWorkspaceRef,
    providerMetadata: (input.providerMetadata ?? connection.providerMetadata) as Prisma.JsonValue,
    credentialsSealed,
    credentialTargets,
  };
  const identity = await getIdentity(services, candidate);
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

interface StoredRefreshToken {
  /** The token to keep. */
  refreshToken?: StoredToken | undefined;
  /** True if the connection had a refresh token that is not kept. */
  isDropped: boolean;
}

/** Returns the request with the refresh token, or marks the connection as unrefreshable without one. */
function withRefreshToken(
  request: ConnectionRequest,
  { refreshToken, isDropped }: StoredRefreshToken,
): ConnectionRequest {
  const { oauth2AuthorizationCode } = request.input;
  if (!refreshToken) {
    const expires = oauth2AuthorizationCode?.accessToken?.expireTime != null;
    return { ...request, isUnrefreshable: isDropped || expires };
  }
  const { token, issuedAt, expiresAt } = refreshToken;
  const keptToken = { token, issueTime: parseDate(issuedAt), expireTime: parseDate(expiresAt) };
  const credentials = { ...oauth2AuthorizationCode, refreshToken: keptToken };
  return { ...request, input: { ...request.input, oauth2AuthorizationCode: credentials } };
}
