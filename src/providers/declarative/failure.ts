/** Maps a vendor's error responses to ProviderError, by the rules of its declaration or by the status. */
import { SECOND_MS } from '../../work/durations.ts';
import { isObject } from '../../work/is-object.ts';
import type { ProviderResponse } from '../contract.ts';
import { ProviderError, type ProviderErrorKind } from '../provider-error.ts';
import {
  isSuccess,
  parseRetryAfterMs,
  type RequestPurpose,
  truncateMessage,
} from '../read-responses.ts';
import type { RetryHeader } from './declaration/declaration.ts';
import { findValue } from './json.ts';
import type { Vendor } from './vendor.ts';

/** The maximum number of messages of one error response that are passed on. */
const MESSAGES_MAX = 20;

const KIND_BY_STATUS: Record<number, ProviderErrorKind> = {
  401: 'AUTH_INVALIDATED',
  402: 'FORBIDDEN',
  403: 'FORBIDDEN',
  404: 'MISSING_OBJECT',
  408: 'RETRYABLE',
  410: 'MISSING_OBJECT',
  423: 'RETRYABLE',
  429: 'RATE_LIMITED',
};

/** True if the response is a success. Some vendors return 200 with an error in the body. */
export function hasSucceeded({ declaration }: Vendor, response: ProviderResponse): boolean {
  if (!isSuccess(response)) return false;
  const { failureMember } = declaration.errors;
  if (failureMember === undefined) return true;
  const errorValue = findValue(response.body, failureMember);
  return (
    errorValue == null ||
    errorValue === false ||
    (Array.isArray(errorValue) && errorValue.length === 0)
  );
}

export function createFailure(
  vendor: Vendor,
  response: ProviderResponse,
  purpose: RequestPurpose,
): ProviderError {
  const { status } = response;
  const kind = toErrorKind(vendor, response, purpose);
  const message = `${vendor.displayName} returned ${status}: ${listMessages(vendor, response).join('; ')}`;
  const { retryHeaders, defaultRetryAfterMs } = vendor.declaration.errors;
  const headerWaitMs = retryHeaders
    .map((header) => parseWaitMs(response, header))
    .find((waitMs) => waitMs !== null);
  const rateLimitWaitMs = kind === 'RATE_LIMITED' ? (headerWaitMs ?? defaultRetryAfterMs) : null;
  return new ProviderError(kind, truncateMessage(message), {
    status,
    retryAfterMs: parseRetryAfterMs(response) ?? rateLimitWaitMs ?? null,
  });
}

/**
 * Parses how long to wait. Null if the header is absent or invalid. A time is compared with the response's own `Date`.
 */
function parseWaitMs({ headers }: ProviderResponse, { name, format }: RetryHeader): number | null {
  const value = headers[name.toLowerCase()]?.trim() ?? '';
  const number = value === '' ? Number.NaN : Number(value);
  if (format === 'seconds') return Number.isNaN(number) ? null : number * SECOND_MS;
  const retryTime =
    format === 'iso' ? Date.parse(value) : number * (format === 'unixSeconds' ? SECOND_MS : 1);
  const wait = retryTime - Date.parse(headers.date ?? '');
  return Number.isNaN(wait) ? null : Math.max(0, wait);
}

/** Returns why the vendor refused the record's content. Null if it failed for another reason. */
export function findRefusal(vendor: Vendor, response: ProviderResponse): string[] | null {
  return toErrorKind(vendor, response, 'WRITE') === 'BAD_REQUEST'
    ? listMessages(vendor, response)
    : null;
}

/** Returns the vendor's messages, at least one. */
export function listMessages({ declaration }: Vendor, response: ProviderResponse): string[] {
  const responseMessages = declaration.errors.messages.flatMap((pointer) =>
    collectMessages(findValue(response.body, pointer)),
  );
  const messages =
    responseMessages.length > 0
      ? responseMessages
      : [`no reason given (status ${response.status})`];
  return [...new Set(messages)].slice(0, MESSAGES_MAX).map(truncateMessage);
}

/** Members of an error response that hold messages. All other names are taken for field names. */
const MESSAGE_MEMBERS = new Set(['message', 'detail', 'error', 'description', 'title', 'reason']);

/** Returns the strings at any depth, each after the name of its field, because vendors nest messages by field. */
export function collectMessages(value: unknown): string[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : [value];
  if (Array.isArray(value)) return value.flatMap(collectMessages);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) =>
    collectMessages(member).map((message) =>
      MESSAGE_MEMBERS.has(name) ? message : `${name}: ${message}`,
    ),
  );
}

function toErrorKind(
  { declaration }: Vendor,
  { status, headers, body }: ProviderResponse,
  purpose: RequestPurpose,
): ProviderErrorKind {
  const rule = declaration.errors.rules.find(
    (candidate) =>
      (candidate.status === undefined || candidate.status === status) &&
      (candidate.header === undefined || hasHeader(headers, candidate.header)) &&
      (candidate.contains === undefined || JSON.stringify(body ?? '').includes(candidate.contains)),
  );
  // Only a read has a cursor that can expire.
  if (rule && (rule.kind !== 'CURSOR_GONE' || purpose === 'READ')) return rule.kind;
  return KIND_BY_STATUS[status] ?? (status >= 500 ? 'SERVER_ERROR' : 'BAD_REQUEST');
}

function hasHeader(
  headers: ProviderResponse['headers'],
  { name, value }: { name: string; value?: string | undefined },
): boolean {
  const headerValue = headers[name.toLowerCase()];
  return headerValue !== undefined && (value === undefined || headerValue === value);
}
