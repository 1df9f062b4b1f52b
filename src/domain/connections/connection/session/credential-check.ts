/** Checks that a provider accepts credentials before they are stored. Skipped for providers without an inexpensive check. */

import { DomainError, unprocessable } from '../../../../kernel/errors.ts';
import type { Provider, ProviderResponse } from '../../../../providers/contract.ts';
import { collectMessages } from '../../../../providers/declarative/failure.ts';
import { ProviderError } from '../../../../providers/provider-error.ts';
import { toMessage, truncateMessage } from '../../../../providers/read-responses.ts';
import { withDeadline } from '../../../../work/deadline.ts';
import type { ProviderServices } from '../../../access/call.ts';
import { inProject } from '../../../access/catalog.ts';
import { toDomainError } from '../../provider/provider-domain-errors.ts';
import { type Waiter, waitForProvider } from '../../provider/provider-wait.ts';
import type { Credentials, StoredToken } from '../credentials.ts';
import { type Grant, hasGrant, isTokenCredentials } from '../token/token.ts';
import { isCredentialRejection, requestTokens } from '../token/token-endpoint.ts';
import { createRefreshRequest } from '../token/token-request.ts';
import type { AccountMetadata } from './account-address.ts';
import { CHECK_TIMEOUT_MS, hasHealthCheck, isRejection, sendHealthCheck } from './health-check.ts';

/** An account with credentials that are not stored yet. */
export interface AccountToCheck extends AccountMetadata {
  projectId: string;
  provider: Provider | null;
  credentials: Credentials;
  /** Checks with the same key share the limits of one connection. */
  limitKey: string;
}

/** Matches a machine-readable message: `code: invalid_api_key` or `errors: code: invalid_api_key`. */
const ERROR_CODE = /^(\w+: )+\S+$/;

type ResolvedAccount = AccountToCheck & { provider: Provider };

/**
 * Throws UNPROCESSABLE with the provider's explanation if the provider rejects the credentials. Credentials that are
 * exchanged for a token are checked at the token endpoint, and the token is returned to be stored with them. API keys,
 * passwords and custom inputs are checked by the provider's `healthCheck`. Imported tokens are not checked. Credentials
 * pass if the provider has no check, fails, times out or responds in another way. Must not run inside a transaction,
 * because it sends a request.
 */
export async function requireAcceptedCredentials(
  services: Waiter,
  { provider, ...account }: AccountToCheck,
): Promise<StoredToken | undefined> {
  const { projectId, limitKey: connectionId } = account;
  const check = provider && createCheck({ ...account, provider });
  if (!check) return undefined;
  const { limits } = services.providerAccess;
  const checking = waitForProvider(services, { projectId, connectionId }, () => {
    const result = limits.run({ connectionId, projectId, provider }, () => check(services));
    return withDeadline(result, CHECK_TIMEOUT_MS, () => undefined);
  });
  const outcome = await checking.catch((error: unknown) => {
    // If too many requests wait for providers, the credentials are stored unchecked.
    const isExpected = error instanceof ProviderError || error instanceof DomainError;
    const fields = { err: error, projectId, provider: provider.name };
    if (!isExpected) services.log.warn(fields, 'connection.check_failed');
    return undefined;
  });
  if (outcome && 'rejection' in outcome) throw outcome.rejection;
  return outcome?.token;
}

/** The outcome of a check. Undefined if the credentials pass without a token. */
type Outcome = { rejection: DomainError } | { token: StoredToken } | undefined;

/** Returns a function that checks the credentials. Null if the provider has no inexpensive check. */
function createCheck(
  account: ResolvedAccount,
): ((services: ProviderServices) => Promise<Outcome>) | null {
  const { provider, credentials } = account;
  if (hasGrant(credentials)) return (services) => checkGrant(services, account, credentials);
  if (isTokenCredentials(credentials)) return null;
  // Without credentials, there is nothing to check.
  const isEmpty = credentials.scheme === 'NONE' && Object.keys(credentials.custom).length === 0;
  if (!hasHealthCheck(provider) || isEmpty) return null;
  return (services) => callHealthCheck(services, { ...account, provider });
}

/** Exchanges the credentials for a token. A token that the gateway has signed itself needs the health check too. */
async function checkGrant(
  services: ProviderServices,
  account: ResolvedAccount,
  credentials: Grant,
): Promise<Outcome> {
  const outcome = await exchangeCredentials(services, account, credentials);
  const { provider } = account;
  if (!outcome || !('token' in outcome)) return outcome;
  if (provider.custom?.grant?.type !== 'SIGNED_TOKEN' || !hasHealthCheck(provider)) return outcome;
  const withToken = { ...account, provider, credentials: { ...credentials, token: outcome.token } };
  return (await callHealthCheck(services, withToken)) ?? outcome;
}

async function exchangeCredentials(
  services: ProviderServices,
  { projectId, provider, providerWorkspaceRef, providerMetadata }: ResolvedAccount,
  credentials: Grant,
): Promise<Outcome> {
  const account = { providerAppId: null, providerWorkspaceRef, providerMetadata };
  const connection = { projectId, provider: provider.name, ...account };
  try {
    const projectServices = await inProject(services, projectId);
    const request = await createRefreshRequest(projectServices, connection, credentials);
    const tokens = await requestTokens(services, { ...request, timeoutMs: CHECK_TIMEOUT_MS });
    return { token: tokens.accessToken };
  } catch (error) {
    if (isCredentialRejection(error)) return { rejection: toDomainError(error) };
    throw error;
  }
}

async function callHealthCheck(
  services: ProviderServices,
  account: Parameters<typeof sendHealthCheck>[2],
): Promise<Outcome> {
  const { provider } = account;
  const response = await sendHealthCheck(services, services.providerAccess.outbound, account);
  if (!isRejection(provider, response)) return undefined;
  const providerMessage = findExplanation(response);
  const message = `${provider.displayName} rejected the credentials (${response.status}): ${providerMessage ?? 'no reason given.'}`;
  return { rejection: unprocessable(message, providerMessage === null ? {} : { providerMessage }) };
}

/** Returns the human-readable explanation in a response. Masks secrets that it repeats. Null if there is none. */
function findExplanation(response: ProviderResponse): string | null {
  const texts = collectMessages(response.body).filter((text) => !text.trimStart().startsWith('<'));
  const sentences = texts.filter((text) => !ERROR_CODE.test(text));
  const messages = dropRepetitions(sentences.length > 0 ? sentences : texts);
  // A short secret is masked only if it is a whole text, so messages are masked before they are joined.
  const explanation = messages.map((message) => toMessage(message, response)).join('; ');
  return explanation === '' ? null : truncateMessage(explanation);
}

/** Drops texts that end with an earlier text: providers repeat an error as `error` and in `errors`. */
function dropRepetitions(texts: readonly string[]): string[] {
  return texts.filter(
    (text, index) => !texts.slice(0, index).some((earlier) => text.endsWith(earlier)),
  );
}
