/** Maps HubSpot's error responses to ProviderError. */

import { requireParsed } from '../../work/bounded-parse.ts';
import { HOUR_MS, SECOND_MS } from '../../work/durations.ts';
import type { ProviderResponse } from '../contract.ts';
import { ProviderError, type ProviderErrorKind } from '../provider-error.ts';
import {
  isSuccess,
  parseRetryAfterMs,
  type RequestPurpose,
  toMessage,
  truncateMessage,
} from '../read-responses.ts';
import { type ErrorResponse, errorResponse } from './wire.ts';

const KIND_BY_STATUS: Record<number, ProviderErrorKind> = {
  401: 'AUTH_INVALIDATED',
  403: 'FORBIDDEN',
  404: 'MISSING_OBJECT',
  423: 'RETRYABLE',
  429: 'RATE_LIMITED',
  // The account is moving between data centers, which takes up to a day.
  477: 'MIGRATING',
  // A timeout of HubSpot's gateway. Slower requests help, as after 429. For writes, see toErrorKind.
  502: 'RATE_LIMITED',
  // Permanent, as the reference API maps it, although HTTP defines 503 as temporary.
  503: 'API_DISABLED',
  504: 'RATE_LIMITED',
};
/** The documented duration of a lock (423), which has no Retry-After. */
const LOCK_MS = 2_000;
/** How long to wait after a limit was exceeded (429), which often has no Retry-After. A day ends at midnight. */
const WAIT_MS_BY_POLICY: Record<string, number> = {
  SECONDLY: SECOND_MS,
  TEN_SECONDLY_ROLLING: 10 * SECOND_MS,
  DAILY: HOUR_MS,
};
const MESSAGES_MAX = 20;

export function createFailure(response: ProviderResponse, purpose: RequestPurpose): ProviderError {
  const { status } = response;
  const providerMessage = truncateMessage(listMessages(response).join('; '));
  const message = `HubSpot returned ${status}: ${providerMessage}`;
  return new ProviderError(toErrorKind(response, purpose), truncateMessage(message), {
    status,
    providerMessage,
    retryAfterMs: parseRetryAfterMs(response) ?? findWaitMs(response),
  });
}

function findWaitMs({ status, body }: ProviderResponse): number | null {
  if (status === 423) return LOCK_MS;
  const { policyName } = requireParsed(errorResponse, body);
  return (policyName && WAIT_MS_BY_POLICY[policyName]) || null;
}

/** Returns why HubSpot refused the record's content. Null if it failed for another reason. */
export function findRefusal(response: ProviderResponse): string[] | null {
  const kind = toErrorKind(response, 'WRITE');
  return kind === 'BAD_REQUEST' || kind === 'MISSING_FIELD' ? listMessages(response) : null;
}

export function listMessages(response: ProviderResponse): string[] {
  const { message, errors } = requireParsed(errorResponse, response.body);
  // The details repeat the message, without the JSON that it often contains.
  const details = errors.map((error) => error.message).filter((text) => text !== '');
  const texts =
    details.length > 0 ? details : [message || `no reason given (status ${response.status})`];
  return [...new Set(texts)].slice(0, MESSAGES_MAX).map((text) => toMessage(text, response));
}

function toErrorKind(response: ProviderResponse, purpose: RequestPurpose): ProviderErrorKind {
  const { status } = response;
  if (status === 400)
    return classifyBadRequest(requireParsed(errorResponse, response.body), purpose);
  // HubSpot's own gateway timed out. A write may still be executed, so it must not be repeated blindly.
  if (purpose === 'WRITE' && (status === 502 || status === 504)) return 'SERVER_ERROR';
  return KIND_BY_STATUS[status] ?? (status >= 500 ? 'SERVER_ERROR' : 'BAD_REQUEST');
}

function classifyBadRequest(
  { message, errors }: ErrorResponse,
  purpose: RequestPurpose,
): ProviderErrorKind {
  // In the response to a write, these words are about a value of the record.
  if (purpose === 'READ' && /cannot deserialize/i.test(message)) return 'CURSOR_GONE';
  if (/unable to infer object type/i.test(message)) return 'MISSING_OBJECT';
  if (errors.some(({ code }) => code === 'PROPERTY_DOESNT_EXIST')) return 'MISSING_FIELD';
  return 'BAD_REQUEST';
}

/** Returns the response of a read. Throws if it is not a success. */
export function requireSuccess(response: ProviderResponse): ProviderResponse {
  if (isSuccess(response)) return response;
  throw createFailure(response, 'READ');
}
