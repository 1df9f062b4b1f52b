import { type WriteOutcome, writeRecords } from '../../domain/operation/write-records.ts';
import { enumType } from '../schema/inputs.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { builder } from '../schema/schema-builder.ts';
import { Operation } from '../schema/types.ts';

enumType('WriteMode', 'Whether the answer to a write waits for its outcome.', {
  SYNCHRONOUS:
    'The answer has the outcome, if it is known 5 seconds before LIMIT_MUTATION_MS of the server (30 seconds by default). If not, the write goes on, and its operation tells the outcome.',
  ASYNCHRONOUS:
    'The answer comes at once. The operation tells the outcome, and so does the event WRITE_ASYNC_DONE.',
});

const WriteError = builder.objectRef<{ message: string }>('WriteError').implement({
  description: 'Why a record was not written.',
  fields: (t) => ({
    message: t.exposeString('message', { description: 'The reason, for people.' }),
  }),
});

const WriteResult = builder
  .objectRef<NonNullable<WriteOutcome['result']>>('WriteResult')
  .implement({
    description: 'The outcome of one record.',
    fields: (t) => ({
      success: t.exposeBoolean('success', {
        description: 'Whether the record is known to be written. If not, errors say why.',
      }),
      recordId: t.exposeString('recordId', {
        nullable: true,
        description: "The provider's id of the record.",
      }),
      data: t.expose('data', {
        type: 'JSONObject',
        nullable: true,
        description: 'The record as it is now; null if the provider does not answer with it.',
      }),
      errors: t.field({
        type: [WriteError],
        description: 'Why the record was not written; empty if it was.',
        resolve: ({ errors }) => errors.map((message) => ({ message })),
      }),
    }),
  });

const WriteRecordsPayload = builder.objectRef<WriteOutcome>('WriteRecordsPayload').implement({
  description:
    'The answer of writeRecords: the operation and, of a synchronous write, what became of each record.',
  fields: (t) => ({
    operationId: t.id({
      description: 'The id of the operation.',
      resolve: ({ operation }) => operation.id,
    }),
    operation: t.field({
      type: Operation,
      description: 'The operation that writes: in progress if its outcome is not known yet.',
      resolve: ({ operation }) => operation,
    }),
    result: t.field({
      type: WriteResult,
      nullable: true,
      description: 'The outcome of a synchronous write of a single record; null for any other.',
      resolve: ({ result }) => result,
    }),
    results: t.field({
      type: [WriteResult],
      nullable: true,
      description:
        'The outcomes of a synchronous batch, one for each record, in order; null for any other write.',
      resolve: ({ results }) => results,
    }),
    successCount: t.exposeInt('successCount', {
      nullable: true,
      description: 'How many records were written; null for an asynchronous write.',
    }),
    failureCount: t.exposeInt('failureCount', {
      nullable: true,
      description: 'How many records were not written; null for an asynchronous write.',
    }),
  }),
});

builder.mutationFields((t) => ({
  writeRecords: mutationField(t, writeRecords, WriteRecordsPayload),
}));
