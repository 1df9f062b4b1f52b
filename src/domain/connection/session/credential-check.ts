/** Asks a provider whether it accepts a key or a password before that is stored, where this costs little. */

import { DomainError, unprocessable } from '../../../errors.ts';
import type { AuthScheme, Provider, ProviderRequest } from '../../../providers/contract.ts';
import { textsIn } from '../../../providers/declarative/failure.ts';
import { ProviderError } from '../../../providers/provider-error.ts';
import { bounded } from '../../../providers/reading-answers.ts';
import { withDeadline } from '../../../work/deadline.ts';
import type { Services } from '../../call.ts';
import { type Waiter, waitingForProvider } from '../../provider/provider-wait.ts';
import type { Credentials } from '../credentials.ts';
import { type AccountFacts, fillAddress, fillHeaders } from './account-address.ts';
import { attachedCredentials } from './attached-credentials.ts';
import { requestUrl, sendRequest } from './provider-request.ts';

/** An account as it would be stored. */
export interface AccountToCheck extends AccountFacts {
  projectId: string;
  provider: Provider | null;
  authScheme: AuthScheme;
  credentials: Credentials;
  /** Checks with the same key share the rate limit of one connection. */
  limitKey: string;
}

/** A slower provider is not waited for: the caller gets an unchecked connection. */
const CHECK_MS = 3_000;
const UNAUTHORIZED = 401;
/** The schemes whose credentials people type in; tokens come from the provider itself. */
const CHECKED: readonly AuthScheme[] = ['API_KEY', 'BASIC'];

/**
 * Throws UNPROCESSABLE with the provider's words if the provider refuses the credentials. A provider that fails, times
 * out or answers anything else refuses nothing. Makes a request: never call it inside a transaction.
 */
export async function requireAcceptedCredentials(
  services: Waiter,
  { provider, ...account }: AccountToCheck,
): Promise<void> {
  if (!provider?.healthCheck || !CHECKED.includes(account.authScheme)) return;
  const { projectId, limitKey: connectionId } = account;
  const check = waitingForProvider(services, { projectId, connectionId }, () =>
    withDeadline(findRefusal(services, provider, account), CHECK_MS, () => null),
  );
  const refusal = await check.catch((error: unknown) => {
    // If too many requests wait for providers, the credentials are stored unchecked.
    const isExpected = error instanceof ProviderError || error instanceof DomainError;
    const about = { err: error, projectId, provider: provider.name };
    if (!isExpected) services.log.warn(about, 'connection.check_failed');
    return null;
  });
  if (refusal !== null) throw unprocessable(refusal);
}

/** Null if the provider does not refuse the credentials. */
async function findRefusal(
  { providerAccess: { limits, outbound } }: Services,
  provider: Provider,
  { projectId, limitKey: connectionId, credentials, ...facts }: Omit<AccountToCheck, 'provider'>,
): Promise<string | null> {
  const request: ProviderRequest = { method: 'GET', path: provider.healthCheck ?? '' };
  const baseUrl = fillAddress(provider, provider.baseUrl, facts);
  const url = requestUrl({ baseUrl }, request);
  const { headers, query } = attachedCredentials(provider, credentials);
  const attached = {
    headers: { ...fillHeaders(provider.headers ?? {}, facts), ...headers },
    query,
  };
  const hurried = { ...provider, limits: { ...provider.limits, timeoutMs: CHECK_MS } };
  const { status, body } = await limits.run({ connectionId, projectId, provider }, () =>
    sendRequest(outbound, { provider: hurried, url, request, attached }),
  );
  if (status !== UNAUTHORIZED) return null;
  const secrets = [...Object.values(headers), ...Object.values(query), ...secretsOf(credentials)];
  return `${provider.displayName} refused the credentials (${status}): ${wordsIn(body, secrets)}`;
}

/** The provider's explanation for people, without secrets that it repeats. */
function wordsIn(body: unknown, secrets: readonly string[]): string {
  const texts = textsIn(body).filter((text) => !text.trimStart().startsWith('<'));
  const sentences = texts.filter((text) => !CODE.test(text));
  const words = (sentences.length > 0 ? sentences : texts).join('; ');
  const shown = secrets
    .filter(({ length }) => length >= SECRET_LENGTH_MIN)
    .reduce((rest, secret) => rest.replaceAll(secret, '***'), words);
  return shown === '' ? 'no reason given.' : bounded(shown);
}

/** A member with a value for programs: `code: invalid_api_key`. */
const CODE = /^\w+: \S+$/;
/** Shorter texts occur in any sentence. */
const SECRET_LENGTH_MIN = 4;

function secretsOf(credentials: Credentials): string[] {
  if (credentials.scheme === 'API_KEY') return [credentials.apiKey];
  return credentials.scheme === 'BASIC' ? [credentials.password] : [];
}
