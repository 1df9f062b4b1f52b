/**
 * Requests tokens from a provider's token endpoint (RFC 6749). Its errors distinguish rejected credentials from
 * temporary failures.
 */

import { z } from 'zod';
import type { OutboundRequest } from '../../../../outbound/client.ts';
import { OutboundError } from '../../../../outbound/outbound-error.ts';
import type { OAuth2Settings, Provider, ProviderResponse } from '../../../../providers/contract.ts';
import { ProviderError, type ProviderErrorKind } from '../../../../providers/provider-error.ts';
import { isSuccess, parseRetryAfterMs, toMessage } from '../../../../providers/read-responses.ts';
import { parseBounded } from '../../../../work/bounded-parse.ts';
import {
  createMask,
  listBasicSecrets,
  listHeaderSecrets,
  SecretMask,
} from '../../../../work/secret-mask.ts';
import type { Services } from '../../../access/call.ts';
import { observeOutbound } from '../../diagnosis/observed-outbound.ts';
import type { ConnectionKey } from '../credentials.ts';
import { parseDate, type StoredToken } from '../credentials.ts';
import { type AccountMetadata, fillAddress } from '../session/account-address.ts';
import { createBasicAuthorization } from '../session/attached-credentials.ts';
import { measureCall } from '../session/measured-call.ts';
import { CONTENT_TYPES, toProviderResponse, USER_AGENT } from '../session/provider-request.ts';
import type { GrantedTokens } from './token.ts';

export const ENDPOINT_LIMITS = {
  /** Much shorter than the lease under which a token is refreshed. */
  timeoutMs: 15_000,
  /** Ten times the size of the longest tokens, which are JWTs with many claims. */
  responseBytesMax: 256 * 1024,
  requiresWholeBody: true,
} as const;

const tokensSchema = z.object({
  access_token: z.string().min(1),
  refresh_token: z.string().min(1).nullish().catch(null),
  // Some endpoints send the number as a string.
  expires_in: z.coerce.number().positive().max(1e9).nullish().catch(null),
  // Square names the time instead of the lifetime.
  expires_at: z.iso.datetime({ offset: true }).nullish().catch(null),
});

type EndpointServices = Pick<Services, 'providerAccess' | 'now' | 'meters'>;

export interface OAuthClient {
  id: string;
  secret: string;
  /** For the client of a provider app: the host that it may be sent to, if the customer enters the host. */
  workspaceHost?: string | undefined;
  /** True for the client of a provider app, which belongs to the builder and not to the customer. */
  isApp?: boolean;
}

export interface TokenRequest {
  provider: Provider & { oauth2: OAuth2Settings };
  account: AccountMetadata;
  /** Null for a grant that needs no client. */
  client: OAuthClient | null;
  /** `grant_type` and its parameters. */
  form: Record<string, string>;
  /** A GET with these credentials replaces the form. */
  login?: {
    authorization: string;
    /** Returns the token in the response. Null if there is none. */
    readToken(body: Record<string, unknown>): string | null;
  };
  /** The token, if the gateway signs it itself. No request is sent. */
  ownToken?: StoredToken;
  /** Further secrets of the account, which the endpoint may repeat. */
  secrets?: readonly string[];
  /** The connection for which the request is recorded. Absent if it is not stored yet, or if its tokens are revoked. */
  connection?: ConnectionKey;
  /** Default: `ENDPOINT_LIMITS.timeoutMs`. */
  timeoutMs?: number;
}

/** The tokens in a response. `body` is the whole response, which may identify the account. */
export type TokenResponse = GrantedTokens & { body: Record<string, unknown> };

/**
 * Requests tokens. Throws AUTH_INVALIDATED if the endpoint rejects the credentials, BAD_REQUEST if it refuses the
 * request, and RATE_LIMITED or RETRYABLE if it fails temporarily. No error leaves the outcome of the caller's own request
 * unknown, because that request was not sent.
 */
export async function requestTokens(
  services: EndpointServices,
  request: TokenRequest,
): Promise<TokenResponse> {
  const requestedAt = services.now();
  const { provider, account, login, ownToken } = request;
  const { oauth2 } = provider;
  const { meters } = services;
  if (ownToken) {
    const accessToken = { issuedAt: requestedAt.toISOString(), ...ownToken };
    return { accessToken, body: {} };
  }
  const url = fillAddress(provider, oauth2.tokenUrl, account);
  const response = await measureCall({ meters, provider, kind: 'token' }, () =>
    postForm(services, request, url),
  );
  const body = toRecord(response.body);
  // Some endpoints report errors with status 200.
  if (!isSuccess(response) || body.error !== undefined) {
    throw createEndpointRejection(request, response);
  }
  const tokens = parseBounded(tokensSchema, login ? { access_token: login.readToken(body) } : body);
  if (!tokens.success) {
    throw createEndpointFailure(request, 'RETRYABLE', 'responded without a token.');
  }
  const { access_token: token, refresh_token: refreshToken, ...lifetime } = tokens.data;
  const lifetimeSeconds = lifetime.expires_in ?? oauth2.defaultLifetimeSeconds;
  const expiresAt =
    lifetimeSeconds === undefined
      ? parseDate(lifetime.expires_at ?? undefined)
      : addSeconds(requestedAt, lifetimeSeconds);
  return {
    accessToken: {
      token,
      // The token was issued at some time between the request and the response. The earlier time is safe.
      issuedAt: requestedAt.toISOString(),
      expiresAt: expiresAt?.toISOString(),
    },
    refreshToken: refreshToken ?? undefined,
    scopes: parseScopes(findValue(body, oauth2.tokenFields?.scopes ?? 'scope')),
    body,
  };
}

/** Returns a member of a token response by its dotted path. Null if it is neither a string nor a number. */
export function findText(body: Record<string, unknown>, path: string | undefined): string | null {
  const value = path === undefined ? undefined : findValue(body, path);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}

/**
 * Posts the form to an endpoint of the provider, with the client's authentication. Throws ProviderError if there is no
 * response.
 */
export async function postForm(
  services: Pick<EndpointServices, 'providerAccess' | 'now'>,
  request: TokenRequest,
  url: string,
): Promise<ProviderResponse> {
  const { connection, timeoutMs = ENDPOINT_LIMITS.timeoutMs } = request;
  requireAppHost(request, url);
  const secrets = new SecretMask(listRequestSecrets(request));
  const outbound = connection
    ? observeOutbound(services, { kind: 'TOKEN', connection, secrets })
    : services.providerAccess.outbound;
  try {
    const response = await outbound.send({
      ...createEndpointRequest(request, url),
      ...ENDPOINT_LIMITS,
      timeoutMs,
    });
    return await toProviderResponse(response, secrets.mask);
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    const kind = error.kind === 'REFUSED_ADDRESS' ? 'BAD_REQUEST' : 'RETRYABLE';
    throw createEndpointFailure(request, kind, `could not be reached: ${error.message}`);
  }
}

/** Creates the HTTP request to the endpoint. */
function createEndpointRequest(
  { provider, client, form, login }: TokenRequest,
  url: string,
): Pick<OutboundRequest, 'method' | 'url' | 'headers' | 'body'> {
  const headers = { accept: 'application/json', 'user-agent': USER_AGENT };
  if (login) {
    const { authorization } = login;
    return { method: 'GET', url, headers: { ...headers, authorization }, body: undefined };
  }
  const { clientAuthentication, usesJson } = provider.oauth2;
  const usesHeader = client !== null && clientAuthentication === 'basic';
  const clientFields = client && { client_id: client.id, client_secret: client.secret };
  const fields = usesHeader ? form : { ...form, ...clientFields };
  return {
    method: 'POST',
    url,
    headers: {
      ...headers,
      'content-type': CONTENT_TYPES[usesJson ? 'json' : 'form'],
      ...(usesHeader && { authorization: createClientAuthorization(client) }),
    },
    body: usesJson ? JSON.stringify(fields) : new URLSearchParams(fields).toString(),
  };
}

/**
 * Throws BAD_REQUEST if the secret of a provider app would be sent to a host that a customer has entered and the app does
 * not name.
 */
function requireAppHost(request: TokenRequest, url: string): void {
  const { provider, client } = request;
  if (!provider.hasCustomerHost || !client?.isApp) return;
  if (client.workspaceHost === new URL(url).host) return;
  const problem = `is at ${new URL(url).host}, which is not the workspaceHost of the provider app.`;
  throw createEndpointFailure(request, 'BAD_REQUEST', problem);
}

/** Encodes the id and the secret as form values first, as RFC 6749 section 2.3.1 requires. */
function createClientAuthorization({ id, secret }: OAuthClient): string {
  const encode = (text: string) => new URLSearchParams({ text }).toString().slice('text='.length);
  return createBasicAuthorization(encode(id), encode(secret));
}

function toRecord(body: unknown): Record<string, unknown> {
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
}

function findValue(body: Record<string, unknown>, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => toRecord(value)[name], body);
}

/** Parses scopes, which are a list, or a string in which spaces or commas separate them. */
function parseScopes(value: unknown): string[] | undefined {
  if (Array.isArray(value)) return value.filter((scope) => typeof scope === 'string');
  if (typeof value !== 'string') return undefined;
  return value.split(/[\s,]+/).filter((scope) => scope !== '');
}

function addSeconds(time: Date, seconds: number): Date {
  return new Date(time.getTime() + seconds * 1_000);
}

/** OAuth's error codes for rejected credentials: RFC 6749 section 5.2, RFC 6750 section 3.1 and RFC 8628 section 3.5. */
const REJECTION_CODES = new Set([
  'invalid_grant',
  'invalid_client',
  'unauthorized_client',
  'invalid_token',
  'expired_token',
]);
/** OAuth's error codes for a request that can't succeed. Some providers respond with them to an invalid refresh token. */
const REQUEST_CODES = new Set(['invalid_request', 'invalid_scope', 'unsupported_grant_type']);
/** Error codes about the OAuth client, which the builder has registered at the provider. */
const CLIENT_CODES = new Set([
  'invalid_client',
  'unauthorized_client',
  'incorrect_client_credentials',
  'bad_client_id',
  'bad_client_secret',
  'invalid_client_secret',
]);
const TEMPORARY_CODES = new Set(['temporarily_unavailable', 'server_error', 'internal_error']);
const RATE_LIMIT_CODES = new Set(['slow_down', 'ratelimited', 'rate_limited']);
/** Statuses of responses with an error code. Some endpoints report errors with status 200. */
const REJECTION_STATUSES = [200, 400, 401, 403];
const TEMPORARY_STATUSES = [408, 425];
/** Fields of a request whose values are masked in messages. */
const SECRET_FIELDS = [
  'assertion',
  'client_assertion',
  'refresh_token',
  'password',
  'code',
  'code_verifier',
  'token',
];

type Request = Pick<TokenRequest, 'provider' | 'client' | 'form' | 'login' | 'secrets'>;

/** An error response of an endpoint. */
class EndpointRejection extends ProviderError {
  /** Empty if the response contains no code. */
  code = '';
}

/**
 * Returns when a failed refresh means that the connection's credentials are invalid. OAuth's own codes mean it immediately.
 * Codes of a provider, a 401 without a known code, and requests that OAuth calls invalid mean it if they repeat.
 * Endpoints also respond so during outages. Null for all other errors.
 */
export function findRejection(error: unknown): 'IMMEDIATE' | 'IF_REPEATED' | null {
  if (!(error instanceof EndpointRejection) || error.isTemporary) return null;
  if (REJECTION_CODES.has(error.code)) return 'IMMEDIATE';
  const isPossible = error.kind === 'AUTH_INVALIDATED' || REQUEST_CODES.has(error.code);
  return isPossible ? 'IF_REPEATED' : null;
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

function createEndpointRejection(request: Request, response: ProviderResponse): ProviderError {
  const failure = parseReason(response.body);
  // A short secret is masked only if it is a whole text, so the texts are masked before they are joined.
  const [code = '', description] = [failure.code, failure.description].map((text) =>
    toMessage(text, response),
  );
  const reason = [code, description].filter(Boolean).join(': ') || 'no reason given';
  const { status } = response;
  const message = formatMessage(request, `responded with ${status}: ${reason}`);
  const providerMessage = description || code;
  const details = { status, providerMessage, retryAfterMs: parseRetryAfterMs(response) };
  const kind = toErrorKind(request.provider, response, failure);
  const rejection = new EndpointRejection(kind, message, details);
  rejection.code = code;
  return rejection;
}

function createEndpointFailure(
  request: Request,
  kind: ProviderErrorKind,
  problem: string,
): ProviderError {
  return new ProviderError(kind, formatMessage(request, problem));
}

/** Formats the message of an error. Masks secrets of the request, which endpoints may repeat. */
function formatMessage(request: Request, problem: string): string {
  const message = `The token endpoint of ${request.provider.displayName} ${problem}`;
  return toMessage(message, { mask: createMask(listRequestSecrets(request)) });
}

function listRequestSecrets({ client, form, login, secrets = [] }: Request): string[] {
  const values = SECRET_FIELDS.map((field) => form[field]);
  return [
    ...secrets,
    ...values.filter((value) => value !== undefined),
    ...(login ? listHeaderSecrets(login.authorization) : []),
    ...(client
      ? [...listBasicSecrets(client.id, client.secret), createClientAuthorization(client)]
      : []),
  ];
}

function toErrorKind(
  { oauth2: { tokenErrors = [] } }: TokenRequest['provider'],
  { status }: ProviderResponse,
  { code, ownCode, description }: Reason,
): ProviderErrorKind {
  if (status === 429 || RATE_LIMIT_CODES.has(code)) return 'RATE_LIMITED';
  if (status >= 500 || TEMPORARY_STATUSES.includes(status)) return 'RETRYABLE';
  // A rejection in OAuth's terms is more specific than the provider's own code.
  const codes = REJECTION_CODES.has(code) ? [code] : [code, ownCode];
  const rule = tokenErrors.find(
    (candidate) =>
      codes.includes(candidate.code) &&
      (candidate.status ?? status) === status &&
      (candidate.description ?? description.toLowerCase()) === description.toLowerCase(),
  );
  if (rule) return rule.kind;
  if (TEMPORARY_CODES.has(code)) return 'RETRYABLE';
  // RFC 6749 defines `access_denied` for consent pages only.
  const isRejected = status === 401 || REJECTION_CODES.has(code) || code === 'access_denied';
  if (isRejected) return 'AUTH_INVALIDATED';
  return 'BAD_REQUEST';
}

interface Reason {
  code: string;
  /** The code in the provider's own format, which may accompany a code of OAuth. */
  ownCode: string;
  description: string;
}

/** Reads `error` and `error_description`, or `status` and `message` if a provider has its own format. */
function parseReason(body: unknown): Reason {
  const { error, error_description, status, message } = toRecord(body);
  const ownCode = toText(status).toLowerCase();
  return {
    code: toText(error).toLowerCase() || ownCode,
    ownCode,
    description: toText(error_description) || toText(message),
  };
}

function toText(value: unknown): string {
  return typeof value === 'string' ? value : '';
}
