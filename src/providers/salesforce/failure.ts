/** Maps Salesforce's error responses to ProviderError. */

import { requireParsed } from '../../work/bounded-parse.ts';
import type { ProviderResponse } from '../contract.ts';
import { ProviderError, type ProviderErrorKind } from '../provider-error.ts';
import { isSuccess, parseRetryAfterMs, toMessage, truncateMessage } from '../read-responses.ts';
import { errorResponse, type SalesforceError } from './wire.ts';

/** Codes are more specific than the status. For example, REQUEST_LIMIT_EXCEEDED has status 403. */
const KIND_BY_CODE: Record<string, ProviderErrorKind> = {
  INVALID_SESSION_ID: 'AUTH_INVALIDATED',
  INVALID_GRANT: 'AUTH_INVALIDATED',
  INSUFFICIENT_ACCESS_OR_READONLY: 'FORBIDDEN',
  API_DISABLED_FOR_ORG: 'API_DISABLED',
  REQUEST_LIMIT_EXCEEDED: 'RATE_LIMITED',
  UNABLE_TO_LOCK_ROW: 'RETRYABLE',
  QUERY_TIMEOUT: 'RETRYABLE',
  INVALID_QUERY_LOCATOR: 'CURSOR_GONE',
  INVALID_TYPE: 'BAD_REQUEST',
  INVALID_FIELD: 'BAD_REQUEST',
  INVALID_FIELD_FOR_INSERT_UPDATE: 'BAD_REQUEST',
  MALFORMED_QUERY: 'BAD_REQUEST',
  FIELD_INTEGRITY_EXCEPTION: 'BAD_REQUEST',
};
const KIND_BY_STATUS: Record<number, ProviderErrorKind> = {
  401: 'AUTH_INVALIDATED',
  403: 'FORBIDDEN',
  404: 'MISSING_OBJECT',
  429: 'RATE_LIMITED',
};
const MESSAGES_MAX = 20;

export function createFailure(response: ProviderResponse): ProviderError {
  const providerMessage = truncateMessage(listMessages(response).join('; '));
  const message = `Salesforce returned ${response.status}: ${providerMessage}`;
  return new ProviderError(toErrorKind(response), truncateMessage(message), {
    status: response.status,
    providerMessage,
    retryAfterMs: parseRetryAfterMs(response),
  });
}

/** Returns the response. Throws if it is not a success. */
export function requireSuccess(response: ProviderResponse): ProviderResponse {
  if (isSuccess(response)) return response;
  throw createFailure(response);
}

/** Returns why Salesforce refused the record's content. Null if it failed for another reason. */
export function findRefusal(response: ProviderResponse): string[] | null {
  const kind = toErrorKind(response);
  return kind === 'BAD_REQUEST' || kind === 'MISSING_FIELD' ? listMessages(response) : null;
}

export function listMessages(response: ProviderResponse): string[] {
  const errors = requireParsed(errorResponse, response.body).slice(0, MESSAGES_MAX);
  return (errors.length > 0 ? errors : [{ message: '', errorCode: '' }]).map((error) =>
    formatMessage(error, response),
  );
}

/** Adds the code to the message, because users search the documentation by code. */
export function formatMessage(
  { message, errorCode }: SalesforceError,
  response: ProviderResponse,
): string {
  const reason = message || 'no reason given';
  return toMessage(errorCode ? `${reason} (${errorCode})` : reason, response);
}

function toErrorKind({ status, body }: ProviderResponse): ProviderErrorKind {
  const errors = requireParsed(errorResponse, body);
  if (errors.some(({ message }) => /no such column/i.test(message))) return 'MISSING_FIELD';
  for (const { errorCode } of errors) {
    const kind = KIND_BY_CODE[errorCode];
    if (kind) return kind;
  }
  return KIND_BY_STATUS[status] ?? (status >= 500 ? 'SERVER_ERROR' : 'BAD_REQUEST');
}
