/** Revokes the tokens of a connection at its provider, by RFC 7009 or by the provider's own method. */

import type { ProviderResponse, Revocation } from '../../../../providers/contract.ts';
import { ProviderError } from '../../../../providers/provider-error.ts';
import { isSuccess } from '../../../../providers/read-responses.ts';
import { createMask } from '../../../../work/secret-mask.ts';
import type { ProjectServices } from '../../../access/call.ts';
import { areForProvider } from '../../provider/credential-targets.ts';
import { fillAddress } from '../session/account-address.ts';
import { toProviderResponse, USER_AGENT } from '../session/provider-request.ts';
import { readCredentials } from '../session/stored-credentials.ts';
import { findStoredToken, isTokenCredentials, type TokenCredentials } from './token.ts';
import { ENDPOINT_LIMITS, postForm } from './token-endpoint.ts';
import type { LeasedConnection } from './token-lease.ts';
import { getClient, getOAuthProvider } from './token-request.ts';

/**
 * Revokes the tokens. Returns false if there is no token, or if the provider has no revocation endpoint. Throws
 * ProviderError if the endpoint refuses the request.
 */
export async function revokeTokens(
  services: ProjectServices,
  connection: LeasedConnection,
): Promise<boolean> {
  const provider = services.catalog.find(connection.provider);
  const { revocation } = provider?.oauth2 ?? {};
  if (!provider || !revocation) return false;
  const unsealed = await readCredentials(services, connection);
  const { credentials } = unsealed;
  if (!areForProvider(provider, unsealed)) return false;
  if (!isTokenCredentials(credentials)) return false;
  const token = selectTokenToRevoke(credentials);
  if (token === undefined) return false;
  const response = await requestRevocation(services, connection, {
    revocation,
    credentials,
    token,
  });
  if (isSuccess(response)) return true;
  throw new ProviderError(
    'BAD_REQUEST',
    `The revocation endpoint responded with ${response.status}.`,
  );
}

/** Prefers the refresh token, because its revocation also revokes the access tokens. */
function selectTokenToRevoke(credentials: TokenCredentials): string | undefined {
  const refreshToken = 'refreshToken' in credentials ? credentials.refreshToken : undefined;
  return (refreshToken ?? findStoredToken(credentials))?.token;
}

interface RevocationRequest {
  revocation: Revocation;
  credentials: TokenCredentials;
  token: string;
}

async function requestRevocation(
  services: ProjectServices,
  connection: LeasedConnection,
  { revocation: { url: template, method }, credentials, token }: RevocationRequest,
): Promise<ProviderResponse> {
  const provider = getOAuthProvider(services, connection.provider);
  const url = fillAddress(provider, template, connection);
  if (method === 'DELETE') {
    const { outbound } = services.providerAccess;
    return toProviderResponse(
      await outbound.send({
        method,
        url: `${url}/${encodeURIComponent(token)}`,
        headers: { accept: 'application/json', 'user-agent': USER_AGENT },
        ...ENDPOINT_LIMITS,
      }),
      createMask([token]),
    );
  }
  const client = await getClient(services, connection, credentials);
  return postForm(services, { provider, account: connection, client, form: { token } }, url);
}
