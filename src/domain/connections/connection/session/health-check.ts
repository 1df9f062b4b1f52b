/** Sends a provider's health check, which decides whether credentials are valid. */

import type { Row } from '../../../../database/statements/tables.ts';
import type { Provider, ProviderResponse } from '../../../../providers/contract.ts';
import { isSuccess } from '../../../../providers/read-responses.ts';
import { createMask, SecretMask } from '../../../../work/secret-mask.ts';
import type { ProviderServices, Services } from '../../../access/call.ts';
import { observeOutbound, type Sender } from '../../diagnosis/observed-outbound.ts';
import { type Credentials, listSecrets } from '../credentials.ts';
import { type AccountMetadata, fillAddress, fillHeaders } from './account-address.ts';
import { attachCredentials } from './attached-credentials.ts';
import { measureCall } from './measured-call.ts';
import { createRequestUrl, sendRequest } from './provider-request.ts';

/** The time limit of a check. A check that takes longer has no result. */
export const CHECK_TIMEOUT_MS = 3_000;
const UNAUTHORIZED = 401;

type CheckedProvider = Provider & { healthCheck: NonNullable<Provider['healthCheck']> };

/** True if the provider declares a health check. */
export function hasHealthCheck(provider: Provider): provider is CheckedProvider {
  return provider.healthCheck !== undefined;
}

/** The account and the credentials to check. */
interface AccountToCheck extends AccountMetadata {
  provider: CheckedProvider;
  credentials: Credentials;
}

/** Returns the response to the health check. Throws ProviderError if there is none. */
export async function sendHealthCheck(
  services: Pick<Services, 'now'>,
  outbound: Sender,
  { provider, credentials, ...metadata }: AccountToCheck,
): Promise<ProviderResponse> {
  const { baseUrl, healthCheck, limits } = provider;
  const request =
    typeof healthCheck === 'string' ? { method: 'GET' as const, path: healthCheck } : healthCheck;
  const url = createRequestUrl({ baseUrl: fillAddress(provider, baseUrl, metadata) }, request);
  const attached = attachCredentials(services, provider, credentials);
  const entryHeaders = fillHeaders(provider.headers ?? {}, metadata);
  return sendRequest(outbound, {
    provider: { ...provider, limits: { ...limits, timeoutMs: CHECK_TIMEOUT_MS } },
    url,
    request,
    attached: { ...attached, headers: { ...entryHeaders, ...attached.headers } },
    mask: createMask(listSecrets(credentials)),
  });
}

/** True if the response rejects the credentials. */
export function isRejection(
  { rejectsCredentials = ({ status }) => status === UNAUTHORIZED }: Provider,
  response: ProviderResponse,
): boolean {
  return rejectsCredentials(response);
}

/**
 * Returns whether the provider accepts stored credentials. Null if the check fails for another reason. Does not wait for a
 * slot of the provider's limits, because the response that caused the check may occupy the last one.
 */
export async function areCredentialsValid(
  services: ProviderServices,
  connection: Row<'Connection'>,
  { provider, credentials }: Pick<AccountToCheck, 'provider' | 'credentials'>,
): Promise<boolean | null> {
  const { meters, log } = services;
  const { id: connectionId, providerWorkspaceRef, providerMetadata } = connection;
  const account = { provider, credentials, providerWorkspaceRef, providerMetadata };
  const secrets = new SecretMask(listSecrets(credentials));
  const outbound = observeOutbound(services, { kind: 'API', connection, secrets });
  try {
    const response = await measureCall({ meters, provider, kind: 'api' }, () =>
      sendHealthCheck(services, outbound, account),
    );
    if (isRejection(provider, response)) return false;
    return isSuccess(response) ? true : null;
  } catch (error) {
    const fields = { connectionId, provider: provider.name, err: error };
    log.warn(fields, 'connection.check_failed');
    return null;
  }
}
