/** Creates errors for failures of token endpoints. They distinguish rejected credentials from temporary failures. */
import type { ProviderResponse } from '../../../providers/contract.ts';
import { ProviderError, type ProviderErrorKind } from '../../../providers/provider-error.ts';
import { parseRetryAfterMs, truncateMessage } from '../../../providers/read-responses.ts';
import { maskValues } from '../../../secrets.ts';
import type { TokenRequest } from './token-endpoint.ts';

/** Error codes of RFC 6749 section 5.2, and equivalent codes of individual providers. */
const REJECTION_CODES = new Set([
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
/** Error codes about the OAuth client, which the builder has registered at the provider. */
const CLIENT_CODES = new Set([
  'invalid_client',
  'unauthorized_client',
  'incorrect_client_credentials',
]);
const TEMPORARY_CODES = new Set(['temporarily_unavailable', 'server_error', 'internal_error']);
const RATE_LIMIT_CODES = new Set(['slow_down', 'ratelimited', 'rate_limited']);
/** Statuses of responses with an error code. Some endpoints report errors with status 200. */
const REJECTION_STATUSES = [200, 400, 401, 403];
const TEMPORARY_STATUSES = [408, 425];
/** Fields of a request whose values are masked in messages. */
const SECRET_FIELDS = ['assertion', 'refresh_token', 'password', 'code', 'code_verifier'];

type Request = Pick<TokenRequest, 'provider' | 'client' | 'form'>;

/** An error response of an endpoint. */
class EndpointRejection extends ProviderError {
  /** Empty if the response contains no code. */
  code = '';
}

/** True if the endpoint rejected the request's credentials, and not merely the request. */
export function isCredentialRejection(error: unknown): error is ProviderError {
  if (!(error instanceof EndpointRejection)) return false;
  if (error.kind === 'AUTH_INVALIDATED') return true;
  // Responses of a proxy or a firewall in front of the endpoint have no OAuth error code.
  const hasCode = error.code !== '' && REJECTION_STATUSES.includes(error.status ?? 0);
  return error.kind === 'BAD_REQUEST' && hasCode;
}

/** True if the endpoint rejected the OAuth client itself. */
export function isClientRejection(error: ProviderError): boolean {
  return error instanceof EndpointRejection && CLIENT_CODES.has(error.code);
}

export function createEndpointRejection(
  request: Request,
  response: ProviderResponse,
): ProviderError {
  const { code, description } = parseReason(response.body);
  const reason = [code, description].filter(Boolean).join(': ') || 'no reason given';
  const { status } = response;
  const message = formatMessage(request, `responded with ${status}: ${reason}`);
  const details = { status, retryAfterMs: parseRetryAfterMs(response) };
  const rejection = new EndpointRejection(toErrorKind(response, code), message, details);
  rejection.code = code;
  return rejection;
}

export function createEndpointFailure(
  request: Request,
  kind: ProviderErrorKind,
  problem: string,
): ProviderError {
  return new ProviderError(kind, formatMessage(request, problem));
}

/** Formats the message of an error. Masks secrets of the request, which endpoints may repeat. */
function formatMessage({ provider, client, form }: Request, problem: string): string {
  const values = [client?.secret, ...SECRET_FIELDS.map((field) => form[field])];
  const secrets = values.flatMap((value) => value || []);
  return truncateMessage(
    `The token endpoint of ${provider.displayName} ${maskValues(problem, secrets)}`,
  );
}

function toErrorKind({ status }: ProviderResponse, code: string): ProviderErrorKind {
  if (status === 429 || RATE_LIMIT_CODES.has(code)) return 'RATE_LIMITED';
  if (status >= 500 || TEMPORARY_STATUSES.includes(status) || TEMPORARY_CODES.has(code)) {
    return 'RETRYABLE';
  }
  if (status === 401 || REJECTION_CODES.has(code)) return 'AUTH_INVALIDATED';
  return 'BAD_REQUEST';
}

/** Reads `error` and `error_description`, or `status` and `message` if a provider has its own format. */
function parseReason(body: unknown): { code: string; description: string } {
  const { error, error_description, status, message } = (body ?? {}) as Record<string, unknown>;
  const code = [error, status].find((text) => typeof text === 'string') ?? '';
  const description = [error_description, message].find((text) => typeof text === 'string') ?? '';
  return { code: String(code).toLowerCase(), description: String(description) };
}
