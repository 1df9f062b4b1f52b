import { type WriteAnswer, writeRecords } from '../../domain/operation/write-records.ts';
import { enumType } from '../schema/inputs.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { builder } from '../schema/schema-builder.ts';
import { Operation } from '../schema/types.ts';

enumType('WriteType', 'What a write does with its records.', {
  CREATE: 'Makes new ones.',
  UPDATE: 'Changes those of the ids that the records have.',
  DELETE: 'Deletes the one of the id.',
});

enumType('WriteMode', 'Whether a write is waited for.', {
  SYNCHRONOUS: 'The answer has the outcome.',
  ASYNCHRONOUS: 'The answer comes at once; the operation tells the outcome, and so does an event.',
});

const WriteError = builder.objectRef<{ message: string }>('WriteError').implement({
  description: 'Why a record was not written.',
  fields: (t) => ({
    message: t.exposeString('message', { description: 'The reason, for people.' }),
  }),
});

const WriteResult = builder.objectRef<NonNullable<WriteAnswer['result']>>('WriteResult').implement({
  description: 'What became of one record.',
  fields: (t) => ({
    success: t.exposeBoolean('success', {
      description: 'Whether it is known to be written. The errors say why it is not.',
    }),
    recordId: t.exposeString('recordId', {
      nullable: true,
      description: "The provider's id of the record.",
    }),
    data: t.expose('data', {
      type: 'JSONObject',
      nullable: true,
      description: 'The record as it is now, where the provider answers with it.',
    }),
    errors: t.field({
      type: [WriteError],
      description: 'Why it was not written; empty where it was.',
      resolve: ({ errors }) => errors.map((message) => ({ message })),
    }),
  }),
});

const WriteRecordsPayload = builder.objectRef<WriteAnswer>('WriteRecordsPayload').implement({
  description: 'The answer of writeRecords.',
  fields: (t) => ({
    operationId: t.id({
      description: 'The id of the operation.',
      resolve: ({ operation }) => operation.id,
    }),
    operation: t.field({
      type: Operation,
      description: 'The write as it stands: in progress where its outcome is not known yet.',
      resolve: ({ operation }) => operation,
    }),
    result: t.field({
      type: WriteResult,
      nullable: true,
      description: 'The outcome; only for a synchronous single write.',
      resolve: ({ result }) => result,
    }),
    results: t.field({
      type: [WriteResult],
      nullable: true,
      description: 'One for each record, in order; only for a synchronous batch.',
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
  writeRecords: mutationField(t, writeRecords, {
    type: WriteRecordsPayload,
    description: "Creates, updates or deletes records in a group's account at the provider.",
  }),
}));
