import { z } from 'zod';
import {
  recordResultResource,
  type WriteOutcome,
  writeErrorResource,
  writeRecords,
} from '../../domain/operation/write-records.ts';
import { resource } from '../../domain/resource.ts';
import { createProblem } from '../../errors.ts';
import { problem } from '../../problem-schema.ts';
import type { Parts } from '../endpoint/endpoint.ts';
import { integrationInPath } from '../endpoint/locations.ts';
import { mutationEndpoint } from '../endpoint/resource-endpoints.ts';
import { refuseRead } from './read-host.ts';

const resultShape = {
  operationId: z.string().describe('The id of the write operation.'),
  result: recordResultResource.nullable(),
  results: z
    .array(recordResultResource)
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

/** Returns only members that the reference API has, because its clients expect no others. */
function toResult({ operation, result, results, ...counts }: WriteOutcome) {
  const { id: operationId, status } = operation;
  if (results) return { operationId, ...counts, results, errors: listBatchErrors(results) };
  // While the operation is in progress, its outcome is unknown, so the response reports no failure.
  if (!result || status === 'IN_PROGRESS') return { operationId };
  const errors = status === 'SUCCESS' ? null : result.errors.map((message) => ({ message }));
  return { operationId, result, errors };
}

function listBatchErrors(results: RecordOutcome[]) {
  const errors = results.flatMap(({ success, errors: messages }, index) =>
    success ? [] : messages.map((message) => ({ message: `Record ${index + 1}: ${message}` })),
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
      "A synchronous write that has no outcome 5 seconds before the server's LIMIT_MUTATION_MS (30 seconds by default) continues in the background. Its operation then reports the outcome.",
    mutation: writeRecords,
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
