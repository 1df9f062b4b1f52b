/** Schemas of the sandbox's responses, and the mapping of its errors to ProviderError. */
import { z } from 'zod';
import { parseBounded } from '../../work/bounded-parse.ts';
import type { ProviderResponse } from '../contract.ts';
import { ProviderError, type ProviderErrorKind } from '../provider-error.ts';
import { isSuccess, parseRetryAfterMs, toMessage } from '../read-responses.ts';

export const fieldSchema = z.object({
  name: z.string(),
  displayName: z.string(),
  type: z.string(),
  required: z.boolean(),
  custom: z.boolean(),
  readOnly: z.boolean(),
  options: z.array(z.object({ value: z.string(), displayName: z.string() })).optional(),
  references: z.array(z.string()).optional(),
});
export const objectSchema = z.object({
  name: z.string(),
  displayName: z.string(),
  fields: z.array(fieldSchema),
});

const recordSchema = z.looseObject({ id: z.string() });
export const pageSchema = z.object({
  records: z.array(recordSchema),
  nextCursor: z.string().nullable(),
  total: z.int(),
});

export const recordsSchema = z.object({ records: z.array(recordSchema) });

export const subscriptionSchema = z.object({ id: z.string(), expiresAt: z.iso.datetime() });

const problemSchema = z.object({ code: z.string(), message: z.string() });
const echoedHeadersSchema = z.record(z.string(), z.string());
export const writtenSchema = z.object({
  record: recordSchema,
  echoedHeaders: echoedHeadersSchema,
});
export const batchSchema = z.object({
  results: z.array(
    z.discriminatedUnion('success', [
      z.object({ success: z.literal(true), record: recordSchema }),
      z.object({ success: z.literal(false), errors: z.array(problemSchema).min(1) }),
    ]),
  ),
  echoedHeaders: echoedHeadersSchema,
});
const refusalSchema = z.object({
  error: problemSchema,
  errors: z.array(problemSchema).optional(),
});

/** Returns a human-readable message for each problem of a refused request. */
export function listRefusalMessages(response: ProviderResponse): string[] {
  const { data } = parseBounded(refusalSchema, response.body);
  if (data === undefined) return [`The sandbox returned ${response.status}`];
  return listMessages(data.errors ?? [data.error], response);
}

export function listMessages(
  problems: z.output<typeof problemSchema>[],
  response: ProviderResponse,
): string[] {
  return problems.map(({ message }) => toMessage(message, response));
}

/** Creates the error for a refused request. Refusals of a record become its outcome instead. */
export function createRefusalError(response: ProviderResponse): ProviderError {
  return new ProviderError(toErrorKind(response), listRefusalMessages(response).join('; '), {
    status: response.status,
    retryAfterMs: parseRetryAfterMs(response),
  });
}

/** Returns the response. Throws if it is not a success. */
export function requireSuccess(response: ProviderResponse): ProviderResponse {
  if (isSuccess(response)) return response;
  throw createRefusalError(response);
}

/** Kinds of refusals that concern the record. They become the record's outcome, not an error. */
const RECORD_REFUSAL_KINDS = new Set<ProviderErrorKind>(['BAD_REQUEST', 'MISSING_FIELD']);

export function isRecordRefusal(response: ProviderResponse): boolean {
  return RECORD_REFUSAL_KINDS.has(toErrorKind(response));
}

const KIND_BY_CODE = new Map<string, ProviderErrorKind>([
  ['invalid_cursor', 'CURSOR_GONE'],
  ['cursor_gone', 'CURSOR_GONE'],
  ['unknown_field', 'MISSING_FIELD'],
  ['object_not_found', 'MISSING_OBJECT'],
]);
const KIND_BY_STATUS = new Map<number, ProviderErrorKind>([
  [401, 'AUTH_INVALIDATED'],
  [403, 'FORBIDDEN'],
  [408, 'RETRYABLE'],
  [429, 'RATE_LIMITED'],
]);

function toErrorKind(response: ProviderResponse): ProviderErrorKind {
  if (response.status >= 500) return 'SERVER_ERROR';
  return (
    KIND_BY_CODE.get(getCode(response)) ?? KIND_BY_STATUS.get(response.status) ?? 'BAD_REQUEST'
  );
}

function getCode({ body }: ProviderResponse): string {
  return parseBounded(refusalSchema, body).data?.error.code ?? '';
}
