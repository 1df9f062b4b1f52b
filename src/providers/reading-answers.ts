/** How every connector reads a provider's answer, so that doubt is judged the same way everywhere. */
import { z } from 'zod';
import type { ProviderAnswer } from './contract.ts';
import { ProviderError } from './provider-error.ts';

/** What the request was for: a read can be asked again, a write may have been carried out. */
export type RequestPurpose = 'READ' | 'WRITE';

/** Long enough for any provider's explanation, short enough to store with each failure. */
const WORDS_LENGTH = 500;

export function isSuccess({ status }: Pick<ProviderAnswer, 'status'>): boolean {
  return status >= 200 && status < 300;
}

/**
 * The body of a successful answer. One that is not of the documented form throws: RETRYABLE after
 * a read, for a proxy's page or a truncated body passes; DISCONNECTED after a write, whose outcome
 * is as unknown as when no answer came, so that it is never silently repeated.
 */
export function answerBody<Schema extends z.ZodType>(
  schema: Schema,
  answer: ProviderAnswer,
  purpose: RequestPurpose,
): z.output<Schema> {
  const parsed = schema.safeParse(answer.body);
  if (parsed.success) return parsed.data;
  throw new ProviderError(
    purpose === 'READ' ? 'RETRYABLE' : 'DISCONNECTED',
    bounded(`The answer is not of the documented form: ${z.prettifyError(parsed.error)}`),
    { status: answer.status },
  );
}

/**
 * What `Retry-After` asks us to wait, in milliseconds: seconds, or an HTTP date, which is told
 * against the answer's own `Date` so that the two clocks need not agree. Null if it asks for nothing.
 */
export function retryAfterMs({ headers }: Pick<ProviderAnswer, 'headers'>): number | null {
  const value = headers['retry-after']?.trim() ?? '';
  if (/^\d{1,9}$/.test(value)) return Number(value) * 1_000;
  const until = Date.parse(value);
  if (Number.isNaN(until)) return null;
  const answeredAt = Date.parse(headers.date ?? '');
  return Number.isNaN(answeredAt) ? null : Math.max(0, until - answeredAt);
}

export function bounded(words: string): string {
  return words.length <= WORDS_LENGTH ? words : `${words.slice(0, WORDS_LENGTH - 1)}…`;
}
