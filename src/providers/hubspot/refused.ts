/** What HubSpot's refusals mean. */
import type { ProviderResponse } from '../contract.ts';
import { ProviderError, type ProviderErrorKind } from '../provider-error.ts';
import { bounded, type RequestPurpose, retryAfterMs } from '../read-responses.ts';
import { type ErrorResponse, errorResponse } from './wire.ts';

const KIND_OF_STATUS: Record<number, ProviderErrorKind> = {
  401: 'AUTH_INVALIDATED',
  403: 'FORBIDDEN',
  404: 'MISSING_OBJECT',
  423: 'RETRYABLE',
  429: 'RATE_LIMITED',
  // The account is moving between data centres, for up to a day.
  477: 'MIGRATING',
  502: 'RATE_LIMITED',
  503: 'API_DISABLED',
  504: 'RATE_LIMITED',
};
/** HubSpot's own word for the length of a 423, which has no Retry-After. */
const LOCK_MS = 2_000;
const MESSAGES_MAX = 20;

export function failure(response: ProviderResponse, purpose: RequestPurpose): ProviderError {
  const { status } = response;
  const message = `HubSpot answered ${status}: ${messages(response).join('; ')}`;
  return new ProviderError(kindOf(response, purpose), bounded(message), {
    status,
    retryAfterMs: retryAfterMs(response) ?? (status === 423 ? LOCK_MS : null),
  });
}

/** Why a record was refused for what is in it; null if the cause is not the record. */
export function findRefusal(response: ProviderResponse): string[] | null {
  const kind = kindOf(response, 'WRITE');
  return kind === 'BAD_REQUEST' || kind === 'MISSING_FIELD' ? messages(response) : null;
}

export function messages(response: ProviderResponse): string[] {
  const { message, errors } = errorResponse.parse(response.body);
  // The details say the same as the message, without the JSON that it is often made of.
  const told = errors.map((error) => error.message).filter((text) => text !== '');
  const words = told.length > 0 ? told : [message || `no reason given (status ${response.status})`];
  return [...new Set(words)].slice(0, MESSAGES_MAX).map(bounded);
}

function kindOf(response: ProviderResponse, purpose: RequestPurpose): ProviderErrorKind {
  const { status } = response;
  if (status === 400) return kindOfBadRequest(errorResponse.parse(response.body), purpose);
  // A gateway gave up waiting: a write may be done all the same, and must not be repeated blindly.
  if (purpose === 'WRITE' && (status === 502 || status === 504)) return 'SERVER_ERROR';
  return KIND_OF_STATUS[status] ?? (status >= 500 ? 'SERVER_ERROR' : 'BAD_REQUEST');
}

function kindOfBadRequest(
  { message, errors }: ErrorResponse,
  purpose: RequestPurpose,
): ProviderErrorKind {
  // Of a write, those words are about a value in the record.
  if (purpose === 'READ' && /cannot deserialize/i.test(message)) return 'CURSOR_GONE';
  if (/unable to infer object type/i.test(message)) return 'MISSING_OBJECT';
  if (errors.some(({ code }) => code === 'PROPERTY_DOESNT_EXIST')) return 'MISSING_FIELD';
  return 'BAD_REQUEST';
}
