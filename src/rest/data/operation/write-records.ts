import { z } from 'zod';
import type { Call } from '../../../domain/access/call.ts';
import { resource } from '../../../domain/base/resource.ts';
import { printTexts } from '../../../domain/base/stored-text.ts';
import { OMITTED_FIELDS } from '../../../domain/data/operation/operation.ts';
import {
  recordResultResource,
  type WriteOutcome,
  writeErrorResource,
  writeKnownFields,
} from '../../../domain/data/operation/write-records.ts';
import { createProblem } from '../../../kernel/errors.ts';
import { problem } from '../../../kernel/problem-schema.ts';
import type { Parts, RestRequest } from '../../endpoint/endpoint.ts';
import { refuseRead } from '../../endpoint/reference-hosts.ts';
import { integrationInPath } from '../../endpoint/request-form.ts';
import { mutationEndpoint } from '../../endpoint/resource-endpoints.ts';
import { setWarnings } from '../../endpoint/warning-header.ts';
import { extendResource } from '../../openapi/response-form.ts';

export const recordResult = extendResource(recordResultResource, { omittedFields: null });

const resultShape = {
  operationId: z.string().describe('The id of the write operation.'),
  result: recordResult.nullable(),
  results: z
    .array(recordResult)
    .nullable()
    .describe('Only for a synchronous batch: the outcomes, one for each record, in order.'),
  successCount: z
    .int()
    .nullable()
    .describe('Only for a synchronous batch: how many records were written.'),
  failureCount: z
    .int()
    .nullable()
    .describe('Only for a synchronous batch: how many records were not written.'),
  errors: z
    .array(writeErrorResource)
    .nullable()
    .describe(
      'Only for a synchronous write in which records failed: the reasons, in order. In a batch, each begins with `Record` and the position of its record, from 1.',
    ),
  omittedFields: z
    .array(z.string())
    .nullable()
    .describe(`${OMITTED_FIELDS} Absent if there are none.`),
};

const writeResult = resource(
  'WriteResult',
  'The outcome of the write, or only its operation if the outcome is not known yet.',
  resultShape,
);

const writeProblem = resource(
  'WriteProblem',
  'The outcome of a write that failed, with the members of a problem.',
  { ...problem.shape, ...resultShape },
);

type RecordOutcome = NonNullable<WriteOutcome['result']>;

/**
 * Returns only members that the reference API has, because its clients expect no others. `omittedFields` is an exception:
 * it is present only if names were omitted.
 */
function toResult(
  { operation, result, results, omittedFields, ...counts }: WriteOutcome,
  request: RestRequest,
) {
  setWarnings(request, omittedFields.map(formatWarning));
  const { id: operationId, status } = operation;
  const members = { operationId, omittedFields: omittedFields.length > 0 ? omittedFields : null };
  if (results) {
    return { ...members, ...counts, results, errors: listBatchErrors(request.call, results) };
  }
  // While the operation is in progress, its outcome is unknown, so the response reports no failure.
  if (!result || status === 'IN_PROGRESS') return members;
  const messages = printTexts(request.call, result.errors);
  const errors = status === 'SUCCESS' ? null : messages.map((message) => ({ message }));
  return { ...members, result, errors };
}

function formatWarning(name: string): string {
  return `${name}: is omitted, because the integration does not name it, or the installation does not write it.`;
}

function listBatchErrors(call: Call, results: RecordOutcome[]) {
  const errors = results.flatMap(({ success, errors: messages }, index) =>
    success
      ? []
      : printTexts(call, messages).map((text) => ({ message: `Record ${index + 1}: ${text}` })),
  );
  return errors.length > 0 ? errors : null;
}

interface FormattedResult {
  result?: { success: boolean };
  results?: { success: boolean }[];
  errors?: { message: string }[];
}

/** True if the outcome is known and no record was written. */
function isFailed({ result, results }: FormattedResult): boolean {
  return result?.success === false || (results?.every(({ success }) => !success) ?? false);
}

/**
 * Adds the members of a problem. The reference API's schema of a failed write lacks them, so only clients that accept
 * problems get this response.
 */
function showProblem(formattedResult: FormattedResult) {
  const { errors: reasons = [], results } = formattedResult;
  const reason = results
    ? `None of the ${results.length} records was written.`
    : reasons.map(({ message }) => message).join(' ');
  return {
    ...createProblem('UNPROCESSABLE', reason || 'The write has failed.'),
    ...formattedResult,
  };
}

/** Converts bare records of a batch to items: `{ email }` becomes `{ record: { email } }`. */
function wrapBatchRecords(parts: Parts): Parts {
  const { batch, ...body } = (parts.body ?? {}) as Record<string, unknown>;
  if (!Array.isArray(batch)) return parts;
  const items = batch.map((item: unknown) => (isBareRecord(item) ? { record: item } : item));
  return { ...parts, body: { ...body, batch: items } };
}

function isBareRecord(item: unknown): boolean {
  if (typeof item !== 'object' || item === null || Array.isArray(item)) return false;
  return !('record' in item || 'associations' in item) && Object.keys(item).length > 0;
}

export const writeEndpoints = [
  mutationEndpoint({
    id: 'writeRecords',
    method: 'POST',
    path: '/projects/{projectIdOrName}/integrations/{integrationId}/objects/{objectName}',
    tag: 'Writes',
    description:
      "A synchronous write that has no outcome 5 seconds before the server's LIMIT_MUTATION_MS (30 seconds by default) continues in the background. Its operation then reports the outcome. If a record has names that the integration does not have, or that the installation does not write, the other fields are written. `omittedFields` and a `Warning` header list these names.",
    mutation: writeKnownFields,
    rewrite: (parts) => wrapBatchRecords(refuseRead(parts)),
    locations: {
      ...integrationInPath,
      idempotencyKey: { in: 'header', name: 'idempotency-key' },
    },
    status: 200,
    resource: writeResult,
    failure: { isFailed, problem: writeProblem, showProblem },
    show: toResult,
  }),
];
