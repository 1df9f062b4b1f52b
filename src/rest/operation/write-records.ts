import { z } from 'zod';
import { type WriteAnswer, writeRecords } from '../../domain/operation/write-records.ts';
import { mutationEndpoint } from '../endpoint/mutation-endpoint.ts';
import { resource } from '../openapi/schemas.ts';

const errors = z
  .array(z.object({ message: z.string().describe('The reason, for people.') }))
  .optional();

const recordResult = resource('RecordResult', 'What became of one record.', {
  success: z.boolean().describe('Whether it is known to be written.'),
  recordId: z.string().optional().describe("The provider's id of the record."),
  data: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('The record as it is now, where the provider answers with it.'),
  errors: errors.describe('Why it was not written; left out where it was.'),
});

const writeResult = resource('WriteResult', 'What came of a write.', {
  operationId: z.string().describe('The operation that writes.'),
  result: recordResult.optional(),
  results: z
    .array(recordResult)
    .optional()
    .describe('Of a synchronous batch: one for each record, in order.'),
  successCount: z.int().optional().describe('Of a synchronous batch: how many were written.'),
  failureCount: z.int().optional().describe('Of a synchronous batch: how many were not.'),
  errors: errors.describe('Of a synchronous single write that has failed: why.'),
});

type RecordOutcome = NonNullable<WriteAnswer['result']>;

function showOutcome({ success, recordId, data, errors: messages }: RecordOutcome) {
  return {
    success,
    recordId: recordId ?? undefined,
    data: data ?? undefined,
    errors: success ? undefined : messages.map((message) => ({ message })),
  };
}

function showAnswer({ operation, result, results, ...counts }: WriteAnswer) {
  const { id: operationId, status } = operation;
  if (results) {
    const { successCount, failureCount } = counts;
    return {
      operationId,
      successCount: successCount ?? undefined,
      failureCount: failureCount ?? undefined,
      results: results.map(showOutcome),
    };
  }
  if (!result) return { operationId };
  const shown = showOutcome(result);
  // While it is in progress, its outcome is not known: that is no failure yet.
  return { operationId, result: shown, errors: status === 'FAILURE' ? shown.errors : undefined };
}

export const writeEndpoints = [
  mutationEndpoint({
    id: 'writeRecords',
    method: 'POST',
    path: '/projects/{projectIdOrName}/integrations/{integrationId}/objects/{objectName}',
    tag: 'Writes',
    summary: "Creates, updates or deletes records in a group's account at the provider.",
    description:
      'A synchronous write that is not done within 25 seconds goes on: its operation tells the outcome.',
    mutation: writeRecords,
    places: {
      integrationIdOrName: { in: 'path', name: 'integrationId' },
      idempotencyKey: { in: 'header', name: 'idempotency-key' },
    },
    status: 200,
    output: writeResult,
    failure: {
      status: 422,
      isFailed: ({ errors: reasons, results, failureCount }) =>
        reasons !== undefined || (results !== undefined && failureCount === results.length),
    },
    show: showAnswer,
  }),
];
