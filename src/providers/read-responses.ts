/** Parses provider responses, so that all connectors handle unexpected ones in the same way. */
import { z } from 'zod';
import { isTooDeep, LEVELS_MAX, parseBounded } from '../work/bounded-parse.ts';
import { DAY_MS, SECOND_MS } from '../work/durations.ts';
import type { MaskText } from '../work/secret-mask.ts';
import type { ProviderResponse } from './contract.ts';
import type { ProviderRecord } from './moving-records.ts';
import { ProviderError } from './provider-error.ts';

/** The purpose of a request. A read can be repeated; a write may have been executed. */
export type RequestPurpose = 'READ' | 'WRITE';

/** The number of problems that fit into a message. */
const PROBLEMS_MAX = 10;
/** The maximum length of a message. It fits any provider's explanation, and is stored with each failure. */
const MESSAGE_LENGTH_MAX = 500;
/** How much of a text is searched for secrets. Masks shorten it, so that it exceeds the length of a message. */
const SEARCHED_LENGTH_MAX = 16 * 1024;

export function isSuccess({ status }: Pick<ProviderResponse, 'status'>): boolean {
  return status >= 200 && status < 300;
}

/**
 * Parses the body of a successful response. Throws if the body does not have the documented format. After a read the
 * error is RETRYABLE, because an error page of a proxy or a truncated body is temporary. After a write it is
 * DISCONNECTED, because the outcome is unknown and the write must not be repeated blindly.
 */
export function parseResponse<Schema extends z.ZodType>(
  schema: Schema,
  response: ProviderResponse,
  purpose: RequestPurpose,
): z.output<Schema> {
  const result = parseBounded(schema, response.body);
  if (result.success) return result.data;
  const firstProblems = new z.ZodError(result.error.issues.slice(0, PROBLEMS_MAX));
  throw new ProviderError(
    purpose === 'READ' ? 'RETRYABLE' : 'DISCONNECTED',
    toMessage(
      `The response does not have the documented format: ${z.prettifyError(firstProblems)}`,
      response,
    ),
    { status: response.status },
  );
}

/** Returns the records. Throws BAD_REQUEST with the id of a record that is nested too deeply to be processed. */
export function requireShallow(records: ProviderRecord[]): ProviderRecord[] {
  const deepRecord = records.find(({ raw }) => isTooDeep(raw));
  if (!deepRecord) return records;
  const reason = `The record ${deepRecord.id} is nested deeper than ${LEVELS_MAX} levels.`;
  throw new ProviderError('BAD_REQUEST', truncateMessage(reason));
}

/** The longest wait that a response can request. Longer ones are errors, such as a time in another unit. */
const RETRY_AFTER_MS_MAX = DAY_MS;
/** Numbers from here on are times since 1970 and not durations: in seconds, and in milliseconds. */
const UNIX_SECONDS_MIN = 1_000_000_000;
const UNIX_MILLISECONDS_MIN = 1_000_000_000_000;

/**
 * Parses `Retry-After` into milliseconds, at most one day. HTTP permits whole seconds and HTTP dates. Vendors also send
 * fractions of seconds, ISO 8601 times, and times since 1970. A time is compared with the response's own `Date`, so that
 * clocks need not agree. Null if the header is absent or invalid.
 */
export function parseRetryAfterMs({ headers }: Pick<ProviderResponse, 'headers'>): number | null {
  const value = headers['retry-after']?.trim() ?? '';
  const number = /^\d+(\.\d+)?$/.test(value) ? Number(value) : null;
  if (number !== null && number < UNIX_SECONDS_MIN) return limitWaitMs(number * SECOND_MS);
  const unitMs = number !== null && number >= UNIX_MILLISECONDS_MIN ? 1 : SECOND_MS;
  const retryTime = number === null ? Date.parse(value) : number * unitMs;
  return toWaitMs(headers, retryTime);
}

/** Returns how long to wait until a time, by the response's own clock. Null if one of the times is absent or invalid. */
export function toWaitMs(headers: ProviderResponse['headers'], retryTime: number): number | null {
  const wait = retryTime - Date.parse(headers.date ?? '');
  return Number.isNaN(wait) ? null : limitWaitMs(wait);
}

/** Returns a wait of at least 0 and at most one day. */
export function limitWaitMs(waitMs: number): number {
  return Math.min(Math.max(0, waitMs), RETRY_AFTER_MS_MAX);
}

/** Returns a message with a text of the response. Secrets are masked before it is shortened, so that no part remains. */
export function toMessage(text: string, { mask }: { mask: MaskText }): string {
  const searchedText = text.slice(0, SEARCHED_LENGTH_MAX);
  return truncateMessage(mask(searchedText, { isCut: searchedText.length < text.length }));
}

export function truncateMessage(message: string): string {
  return message.length <= MESSAGE_LENGTH_MAX
    ? message
    : `${message.slice(0, MESSAGE_LENGTH_MAX - 1)}…`;
}
