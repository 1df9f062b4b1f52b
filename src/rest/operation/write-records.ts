import { z } from 'zod';
import { type WriteAnswer, writeRecords } from '../../domain/operation/write-records.ts';
import { mutationEndpoint } from '../endpoint/mutation-endpoint.ts';
import { resource } from '../openapi/schemas.ts';
import { refuseRead } from './read-host.ts';

const errors = z
  .array(z.object({ message: z.string().describe('The reason, for people.') }))
  .optional();

const recordResult = resource('RecordResult', 'The outcome of one record.', {
  success: z
    .boolean()
    .describe('Whether the record is known to be written. If not, errors say why.'),
  recordId: z.string().optional().describe("The provider's id of the record."),
  data: z
    .record(z.string(), z.unknown())
    .optional()
    .describe('The record as it is now; left out if the provider does not answer with it.'),
  errors: errors.describe('Why the record was not written; left out if it was.'),
});

const writeResult = resource(
  'WriteResult',
  'The outcome of the write, or only its operation if the outcome is not known yet.',
  {
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
      'Only for a synchronous write of a single record that has failed: why.',
    ),
  },
);

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
      'If a synchronous write has no outcome 5 seconds before LIMIT_MUTATION_MS of the server (30 seconds by default), it goes on, and its operation tells the outcome.',
    mutation: writeRecords,
    rewrite: refuseRead,
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
