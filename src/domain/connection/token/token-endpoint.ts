/** Asks a provider's token endpoint for tokens (RFC 6749). */
import { z } from 'zod';
import { OutboundError } from '../../../outbound/error.ts';
import type { OAuth2Facts, Provider, ProviderResponse } from '../../../providers/contract.ts';
import { isSuccess } from '../../../providers/read-responses.ts';
import type { Services } from '../../call.ts';
import { type AccountFacts, fillAddress } from '../session/account-address.ts';
import { basicAuthorization } from '../session/attached-credentials.ts';
import { measuredCall } from '../session/measured-call.ts';
import { providerResponse } from '../session/provider-response.ts';
import type { GrantedTokens } from './token.ts';
import { endpointFailure, endpointRefusal } from './token-endpoint-errors.ts';

export const ENDPOINT_LIMITS = {
  /** Well within the lease under which a token is refreshed. */
  timeoutMs: 15_000,
  /** The longest tokens, JWTs with many claims, are a tenth of this. */
  responseBytesMax: 256 * 1024,
  requiresWholeBody: true,
} as const;

type Reach = Pick<Services, 'providerAccess' | 'now' | 'meters'>;

export interface OAuthClient {
  id: string;
  secret: string;
}

export interface TokenRequest {
  provider: Provider & { oauth2: OAuth2Facts };
  account: AccountFacts;
  /** Null for a grant that needs none. */
  client: OAuthClient | null;
  /** `grant_type` and what belongs to it. */
  form: Record<string, string>;
  /** Default: that of ENDPOINT_LIMITS. */
  timeoutMs?: number;
}

/** `facts` is the whole answer: it may tell of the account. */
export type TokenResponse = GrantedTokens & { facts: Record<string, unknown> };

/**
 * Throws AUTH_INVALIDATED if the credentials are refused, BAD_REQUEST if the request is, and
 * RATE_LIMITED or RETRYABLE if the endpoint fails for now. Never a kind that leaves open whether the
 * call that needed the token was made: it was not.
 */
export async function requestTokens(reach: Reach, request: TokenRequest): Promise<TokenResponse> {
  const requestedAt = reach.now();
  const { provider, account } = request;
  const url = fillAddress(provider, provider.oauth2.tokenUrl, account);
  const { meters } = reach;
  const send = () => postForm(reach, request, url);
  const response = await measuredCall({ meters, provider, kind: 'token' }, send);
  const facts = factsOf(response.body);
  // Some refuse with a 200.
  if (!isSuccess(response) || facts.error !== undefined) throw endpointRefusal(request, response);
  const tokens = tokenFields.safeParse(facts);
  if (!tokens.success) throw endpointFailure(request, 'RETRYABLE', 'answered without a token.');
  const { oauth2 } = provider;
  const { access_token: token, refresh_token: refreshToken, expires_in } = tokens.data;
  const seconds = expires_in ?? oauth2.defaultLifetimeSeconds;
  return {
    accessToken: {
      token,
      // Counted from before the request: the answer took its time.
      issuedAt: requestedAt.toISOString(),
      expiresAt: seconds === undefined ? undefined : after(requestedAt, seconds).toISOString(),
    },
    refreshToken: refreshToken ?? undefined,
    scopes: listOf(valueAt(facts, oauth2.tokenFields?.scopes ?? 'scope')),
    facts,
  };
}

const tokenFields = z.object({
  access_token: z.string().min(1),
  refresh_token: z.string().min(1).nullish().catch(null),
  // Some write it as text.
  expires_in: z.coerce.number().positive().max(1e9).nullish().catch(null),
});

/** A value of a token answer by its dotted path, if it is text or a number. */
export function textAt(facts: Record<string, unknown>, path: string | undefined): string | null {
  const value = path === undefined ? undefined : valueAt(facts, path);
  return typeof value === 'string' || typeof value === 'number' ? String(value) : null;
}

/** Posts the form to an endpoint of the provider, with the client's proof. Throws ProviderError without an answer. */
export async function postForm(
  { providerAccess }: Pick<Reach, 'providerAccess'>,
  request: TokenRequest,
  url: string,
): Promise<ProviderResponse> {
  const { provider, client, form, timeoutMs = ENDPOINT_LIMITS.timeoutMs } = request;
  const inHeader = client !== null && provider.oauth2.clientAuthentication === 'basic';
  const inBody = client && { client_id: client.id, client_secret: client.secret };
  try {
    const response = await providerAccess.outbound.send({
      method: 'POST',
      url,
      headers: {
        accept: 'application/json',
        'content-type': 'application/x-www-form-urlencoded',
        'user-agent': 'integration-gateway',
        ...(inHeader && { authorization: clientAuthorization(client) }),
      },
      body: new URLSearchParams(inHeader ? form : { ...form, ...inBody }).toString(),
      ...ENDPOINT_LIMITS,
      timeoutMs,
    });
    return providerResponse(response);
  } catch (error) {
    if (!(error instanceof OutboundError)) throw error;
    const kind = error.kind === 'REFUSED_ADDRESS' ? 'BAD_REQUEST' : 'RETRYABLE';
    throw endpointFailure(request, kind, `could not be asked: ${error.message}`);
  }
}

/** RFC 6749 section 2.3.1 has both parts encoded as in a form. */
function clientAuthorization({ id, secret }: OAuthClient): string {
  const [encodedId, encodedSecret] = [id, secret].map((text) =>
    new URLSearchParams({ text }).toString().slice('text='.length),
  ) as [string, string];
  return basicAuthorization(encodedId, encodedSecret);
}

function factsOf(body: unknown): Record<string, unknown> {
  return typeof body === 'object' && body !== null ? (body as Record<string, unknown>) : {};
}

function valueAt(facts: Record<string, unknown>, path: string): unknown {
  return path.split('.').reduce<unknown>((value, name) => factsOf(value)[name], facts);
}

/** Scopes come as a list, or as text with spaces or commas between. */
function listOf(value: unknown): string[] | undefined {
  if (Array.isArray(value)) return value.filter((item) => typeof item === 'string');
  if (typeof value !== 'string') return undefined;
  return value.split(/[\s,]+/).filter((item) => item !== '');
}

function after(time: Date, seconds: number): Date {
  return new Date(time.getTime() + seconds * 1_000);
}
