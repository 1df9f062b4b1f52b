import { z } from 'zod';
import { type WriteOutcome, writeRecords } from '../../domain/operation/write-records.ts';
import { createProblem } from '../../errors.ts';
import { problem } from '../../problem-schema.ts';
import type { Parts } from '../endpoint/endpoint.ts';
import { mutationEndpoint } from '../endpoint/mutation-endpoint.ts';
import { resource } from '../openapi/schemas.ts';
import { refuseRead } from './read-host.ts';

const errors = z
  .array(z.object({ message: z.string().describe('The reason, for people.') }))
  .optional();

const recordResult = resource('RecordResult', 'The outcome of one record.', {
  success: z
    .boolean()
    .describe('Whether the record is known to be written. If not, `errors` of the answer say why.'),
  recordId: z.string().optional().describe("The provider's id of the record."),
  data: z
    .record(z.string(), z.unknown())
    .optional()
    .describe("The record as it is now. Absent if the provider's response does not contain it."),
});

const resultShape = {
  operationId: z.string().describe('The id of the operation that writes.'),
  result: recordResult.optional(),
  results: z
    .array(recordResult)
    .optional()
    .describe('Only for a synchronous batch: the outcomes, one for each record, in order.'),
  successCount: z
    .int()
    .optional()
    .describe('Only for a synchronous batch: how many records were written.'),
  failureCount: z
    .int()
    .optional()
    .describe('Only for a synchronous batch: how many records were not written.'),
  errors: errors.describe(
    'Only for a synchronous write in which records failed: why, in order; of a batch, each begins with `Record` and the place of its record, from 1.',
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

/** Clients of the reference API know no other members here. The reasons for failed records are next to the results. */
function showOutcome({ success, recordId, data }: RecordOutcome) {
  return { success, recordId: recordId ?? undefined, data: data ?? undefined };
}

function showResult(response: WriteOutcome) {
  const { operation, result, results } = response;
  const { id: operationId, status: outcome } = operation;
  if (results) return showBatch(response, results);
  // While the operation is in progress, its outcome is unknown, so the response reports no failure.
  if (!result || outcome === 'IN_PROGRESS') return { operationId };
  const shown = showOutcome(result);
  if (outcome === 'SUCCESS') return { operationId, result: shown };
  const told = result.errors.map((message) => ({ message }));
  return { operationId, result: shown, errors: told };
}

function showBatch(response: WriteOutcome, results: RecordOutcome[]) {
  const { operation, successCount, failureCount } = response;
  const failed = results.flatMap(({ success, errors: messages }, index) =>
    success ? [] : messages.map((message) => ({ message: `Record ${index + 1}: ${message}` })),
  );
  return {
    operationId: operation.id,
    successCount: successCount ?? undefined,
    failureCount: failureCount ?? undefined,
    results: results.map(showOutcome),
    errors: failed.length > 0 ? failed : undefined,
  };
}

type ShownResult = z.input<typeof writeResult>;

/** Whether no record was written, and that is known. */
function isFailed({ result, results }: ShownResult): boolean {
  return result?.success === false || (results?.every(({ success }) => !success) ?? false);
}

/** The official schema of a failed write is closed: only clients that accept problems get their members. */
function showProblem(shown: ShownResult) {
  const { errors: reasons = [], results } = shown;
  const reason = results
    ? `None of the ${results.length} records was written.`
    : reasons.map(({ message }) => message).join(' ');
  return { ...createProblem('UNPROCESSABLE', reason || 'The write has failed.'), ...shown };
}

/** An item of a batch is `{ "record": { … } }`, or the record itself if it has none of the members of an item. */
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
      'If a synchronous write has no outcome 5 seconds before LIMIT_MUTATION_MS of the server (30 seconds by default), it continues, and its operation has the outcome.',
    mutation: writeRecords,
    rewrite: (parts) => wrapBatchRecords(refuseRead(parts)),
    places: {
      integrationIdOrName: { in: 'path', name: 'integrationId' },
      idempotencyKey: { in: 'header', name: 'idempotency-key' },
    },
    status: 200,
    output: writeResult,
    failure: { status: 422, isFailed, problem: writeProblem, showProblem },
    show: showResult,
  }),
];
