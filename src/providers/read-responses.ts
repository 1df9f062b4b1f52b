/** Parses provider responses, so that all connectors handle unexpected ones in the same way. */
import { z } from 'zod';
import type { ProviderResponse } from './contract.ts';
import { ProviderError } from './provider-error.ts';

/** The purpose of a request. A read can be repeated; a write may have been executed. */
export type RequestPurpose = 'READ' | 'WRITE';

/** The maximum length of a message. It fits any provider's explanation, and is stored with each failure. */
const MESSAGE_LENGTH_MAX = 500;

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
  const result = schema.safeParse(response.body);
  if (result.success) return result.data;
  throw new ProviderError(
    purpose === 'READ' ? 'RETRYABLE' : 'DISCONNECTED',
    truncateMessage(
      `The response does not have the documented format: ${z.prettifyError(result.error)}`,
    ),
    { status: response.status },
  );
}

/**
 * Parses `Retry-After`, which is in seconds or an HTTP date, into milliseconds. A date is compared with the response's
 * own `Date`, so that clocks need not agree. Null if the header is absent or invalid.
 */
export function parseRetryAfterMs({ headers }: Pick<ProviderResponse, 'headers'>): number | null {
  const value = headers['retry-after']?.trim() ?? '';
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  const retryTime = Date.parse(value);
  if (Number.isNaN(retryTime)) return null;
  const responseTime = Date.parse(headers.date ?? '');
  return Number.isNaN(responseTime) ? null : Math.max(0, retryTime - responseTime);
}

export function truncateMessage(message: string): string {
  return message.length <= MESSAGE_LENGTH_MAX
    ? message
    : `${message.slice(0, MESSAGE_LENGTH_MAX - 1)}…`;
}
