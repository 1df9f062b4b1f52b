/** What a token endpoint's refusal means: credentials that don't work, or a failure that may pass. */
import type { ProviderResponse } from '../../../providers/contract.ts';
import { ProviderError, type ProviderErrorKind } from '../../../providers/provider-error.ts';
import { bounded, retryAfterMs } from '../../../providers/read-responses.ts';
import type { TokenRequest } from './token-endpoint.ts';

/** RFC 6749 section 5.2, and providers' own words for the same. */
const REFUSED_CREDENTIALS = new Set([
  'invalid_grant',
  'invalid_client',
  'unauthorized_client',
  'access_denied',
  'invalid_token',
  'expired_token',
  'token_expired',
  'token_revoked',
  'invalid_refresh_token',
  'bad_refresh_token',
  'invalid_auth',
  'invalid_code',
  'bad_verification_code',
  'incorrect_client_credentials',
]);
const PASSING = new Set(['temporarily_unavailable', 'server_error', 'internal_error']);
const TOO_MANY = new Set(['slow_down', 'ratelimited', 'rate_limited']);
const PASSING_STATUS = [408, 425];
const SECRET_FIELDS = ['assertion', 'refresh_token', 'password', 'code', 'code_verifier'];

type Request = Pick<TokenRequest, 'provider' | 'client' | 'form'>;

/** A refusal that may carry an error code of the endpoint. */
class EndpointRefusal extends ProviderError {
  /** Empty if the response names none. */
  code = '';
}

/** Some endpoints refuse with a 200. */
const REFUSING_STATUS = [200, 400, 401, 403];

/** True if the endpoint says that it does not accept the request's credentials, not merely that the request failed. */
export function isCredentialRefusal(error: unknown): error is ProviderError {
  if (!(error instanceof EndpointRefusal)) return false;
  if (error.kind === 'AUTH_INVALIDATED') return true;
  // A proxy or a firewall in front of the endpoint refuses without an OAuth error.
  const isNamed = error.code !== '' && REFUSING_STATUS.includes(error.status ?? 0);
  return error.kind === 'BAD_REQUEST' && isNamed;
}

export function endpointRefusal(request: Request, response: ProviderResponse): ProviderError {
  const { code, description } = reasonOf(response.body);
  const reason = [code, description].filter(Boolean).join(': ') || 'no reason given';
  const { status } = response;
  const message = messageOf(request, `answered ${status}: ${reason}`);
  const details = { status, retryAfterMs: retryAfterMs(response) };
  const refusal = new EndpointRefusal(kindOf(response, code), message, details);
  refusal.code = code;
  return refusal;
}

export function endpointFailure(
  request: Request,
  kind: ProviderErrorKind,
  happened: string,
): ProviderError {
  return new ProviderError(kind, messageOf(request, happened));
}

/** The message of the failure, without secrets of the request, which endpoints repeat. */
function messageOf({ provider, client, form }: Request, happened: string): string {
  const secrets = [client?.secret, ...SECRET_FIELDS.map((field) => form[field])];
  const said = secrets.reduce<string>(
    (text, secret) => (secret ? text.replaceAll(secret, '***') : text),
    happened,
  );
  return bounded(`The token endpoint of ${provider.displayName} ${said}`);
}

function kindOf({ status }: ProviderResponse, code: string): ProviderErrorKind {
  if (status === 429 || TOO_MANY.has(code)) return 'RATE_LIMITED';
  if (status >= 500 || PASSING_STATUS.includes(status) || PASSING.has(code)) return 'RETRYABLE';
  if (status === 401 || REFUSED_CREDENTIALS.has(code)) return 'AUTH_INVALIDATED';
  return 'BAD_REQUEST';
}

/** `error` and `error_description`, or `status` and `message` if a provider has its own form. */
function reasonOf(body: unknown): { code: string; description: string } {
  const { error, error_description, status, message } = (body ?? {}) as Record<string, unknown>;
  const code = [error, status].find((text) => typeof text === 'string') ?? '';
  const description = [error_description, message].find((text) => typeof text === 'string') ?? '';
  return { code: String(code).toLowerCase(), description: String(description) };
}
