/** Maps a vendor's error responses to ProviderError, by the rules of its declaration or by the status. */
import { cutValue } from '../../work/bounded-parse.ts';
import { SECOND_MS } from '../../work/durations.ts';
import { isObject } from '../../work/is-object.ts';
import type { Behavior, ErrorMatch, RateLimitMatch } from '../behavior.ts';
import type { ProviderResponse } from '../contract.ts';
import { ProviderError, type ProviderErrorKind } from '../provider-error.ts';
import {
  isSuccess,
  limitWaitMs,
  parseRetryAfterMs,
  toMessage,
  toWaitMs,
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

/** True if the response rejects the credentials, by the rules of the declaration or by the status. */
export function rejectsCredentials(vendor: Vendor, response: ProviderResponse): boolean {
  if (hasSucceeded(vendor, response)) return false;
  return classify(vendor, response).kind === 'AUTH_INVALIDATED';
}

export function createFailure(vendor: Vendor, response: ProviderResponse): ProviderError {
  const { status } = response;
  const { kind, waitMs } = classify(vendor, response);
  const providerMessage = truncateMessage(listMessages(vendor, response).join('; '));
  const message = `${vendor.displayName} returned ${status}: ${providerMessage}`;
  return new ProviderError(kind, truncateMessage(message), {
    status,
    providerMessage,
    retryAfterMs:
      parseRetryAfterMs(response) ??
      (kind === 'RATE_LIMITED' ? readWaitMs(vendor, response) : null) ??
      waitMs ??
      null,
  });
}

/** Returns how long to wait as the body or a header of the vendor says. Null if none does. */
function readWaitMs(
  { declaration: { errors } }: Vendor,
  response: ProviderResponse,
): number | null {
  const seconds =
    errors.retrySeconds === undefined ? undefined : findValue(response.body, errors.retrySeconds);
  if (typeof seconds === 'number' && seconds >= 0) return limitWaitMs(seconds * SECOND_MS);
  const headerWaits = errors.retryHeaders
    .filter(({ requires }) => requires === undefined || hasHeader(response.headers, requires))
    .map((header) => parseWaitMs(response, header));
  return headerWaits.find((waitMs) => waitMs !== null) ?? null;
}

/** Creates the error of a request for a page after the first one. It is CURSOR_GONE if the cursor has expired. */
export function createPageFailure(
  vendor: Vendor,
  response: ProviderResponse,
  { expiredCursor }: Pick<Behavior, 'expiredCursor'>,
): ProviderError {
  const failure = createFailure(vendor, response);
  if (!isExpiredCursor(expiredCursor, response, failure)) return failure;
  return new ProviderError('CURSOR_GONE', failure.message, { status: response.status });
}

/** If the vendor does not document the response to an expired cursor, any refusal of a later page may mean it. */
function isExpiredCursor(
  expiredCursor: Behavior['expiredCursor'],
  response: ProviderResponse,
  { kind }: ProviderError,
): boolean {
  if (expiredCursor === 'notDocumented') return kind === 'BAD_REQUEST' || kind === 'MISSING_OBJECT';
  return Array.isArray(expiredCursor) && expiredCursor.some((match) => isMatch(match, response));
}

/**
 * Parses how long to wait. Null if the header is absent or invalid. A time is compared with the response's own `Date`.
 */
function parseWaitMs({ headers }: ProviderResponse, { name, format }: RetryHeader): number | null {
  const value = headers[name.toLowerCase()]?.trim() ?? '';
  const number = value === '' ? Number.NaN : Number(value);
  if (format === 'seconds') return Number.isNaN(number) ? null : limitWaitMs(number * SECOND_MS);
  const retryTime =
    format === 'iso' ? Date.parse(value) : number * (format === 'unixSeconds' ? SECOND_MS : 1);
  return toWaitMs(headers, retryTime);
}

/** Returns why the vendor refused the record's content. Null if it failed for another reason. */
export function findRefusal(vendor: Vendor, response: ProviderResponse): string[] | null {
  return classify(vendor, response).kind === 'BAD_REQUEST' ? listMessages(vendor, response) : null;
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
  return toMessages(messages, response);
}

/** Returns different texts of a response as messages. */
export function toMessages(texts: readonly string[], response: ProviderResponse): string[] {
  return [...new Set(texts)].slice(0, MESSAGES_MAX).map((text) => toMessage(text, response));
}

/** Members of an error response that hold messages. All other names are taken for field names. */
const MESSAGE_MEMBERS = new Set(['message', 'detail', 'error', 'description', 'title', 'reason']);

/** Longer names of members are not those of fields. */
const NAME_LENGTH_MAX = 1_000;
/** The maximum number of strings that are collected. A refused record has far fewer messages. */
const COLLECTED_MAX = 100;

/**
 * Returns the strings of the first items and levels, each after the name of its field, because vendors nest messages by
 * field.
 */
export function collectMessages(value: unknown): string[] {
  return listTexts(cutValue(value)).slice(0, COLLECTED_MAX);
}

function listTexts(value: unknown): string[] {
  if (typeof value === 'string') return value.trim() === '' ? [] : [value];
  if (Array.isArray(value)) return value.flatMap(listTexts);
  if (!isObject(value)) return [];
  return Object.entries(value).flatMap(([name, member]) => {
    const isNamed = !MESSAGE_MEMBERS.has(name) && name.length <= NAME_LENGTH_MAX;
    return listTexts(member).map((text) => (isNamed ? `${name}: ${text}` : text));
  });
}

/** The failure of a response, and how long to wait if the response does not say. */
interface Failure {
  kind: ProviderErrorKind;
  waitMs?: number | undefined;
}

function classify({ declaration }: Vendor, response: ProviderResponse): Failure {
  const rateLimit = findRateLimit(declaration.behavior, response);
  if (rateLimit) return { kind: 'RATE_LIMITED', waitMs: rateLimit.waitMs };
  const rule = declaration.errors.rules.find((candidate) => isMatch(candidate, response));
  if (rule) return rule;
  const { status } = response;
  return {
    kind: KIND_BY_STATUS[status] ?? (status >= 500 ? 'SERVER_ERROR' : 'BAD_REQUEST'),
  };
}

/** Texts that mean a rate limit in responses of vendors that do not document theirs. */
const RATE_LIMIT_TEXTS = ['rate limit', 'ratelimit', 'rate_limit', 'too many requests'];
const CAUTIOUS_RATE_LIMITS: RateLimitMatch[] = [200, 400, 403, 503].flatMap((status) =>
  RATE_LIMIT_TEXTS.map((contains) => ({ status, contains })),
);

function findRateLimit(
  { rateLimits }: Behavior,
  response: ProviderResponse,
): RateLimitMatch | undefined {
  if (rateLimits === 'status429') return undefined;
  const matches = rateLimits === 'notDocumented' ? CAUTIOUS_RATE_LIMITS : rateLimits;
  return matches.find((match) => isMatch(match, response));
}

function isMatch(
  { status, header, contains }: ErrorMatch,
  { status: responseStatus, headers, body }: ProviderResponse,
): boolean {
  return (
    (status === undefined || status === responseStatus) &&
    (header === undefined || hasHeader(headers, header)) &&
    (contains === undefined || toSearchedText(body).includes(contains.toLowerCase()))
  );
}

/** How much of each string of a response is searched for the words of an error. */
const SEARCHED_LENGTH_MAX = 1_000;

/** Returns the beginning of a response as JSON in lower case. Each rule of a declaration searches it. */
function toSearchedText(body: unknown): string {
  const cutText = (_name: string, member: unknown) =>
    typeof member === 'string' ? member.slice(0, SEARCHED_LENGTH_MAX) : member;
  return JSON.stringify(cutValue(body ?? ''), cutText).toLowerCase();
}

function hasHeader(
  headers: ProviderResponse['headers'],
  { name, value }: { name: string; value?: string | undefined },
): boolean {
  const headerValue = headers[name.toLowerCase()];
  return headerValue !== undefined && (value === undefined || headerValue === value);
}
