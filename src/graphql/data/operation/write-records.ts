import { printTexts } from '../../../domain/base/stored-text.ts';
import { OMITTED_FIELDS } from '../../../domain/data/operation/operation.ts';
import {
  recordResultResource,
  type WriteOutcome,
  writeErrorResource,
  writeRecords,
} from '../../../domain/data/operation/write-records.ts';
import { addMutation } from '../../schema/mutations.ts';
import { objectType } from '../../schema/object-type.ts';
import { builder } from '../../schema/schema-builder.ts';
import { Operation } from '../../schema/types.ts';

const WriteError = objectType(
  builder.objectRef<{ message: string }>('WriteError'),
  writeErrorResource,
);

export const WriteResult = objectType(
  builder.objectRef<NonNullable<WriteOutcome['result']>>('WriteResult'),
  recordResultResource,
  (t) => ({
    errors: t.field({
      type: [WriteError],
      description: 'Why the record was not written. Empty if it was.',
      resolve: ({ errors }, _args, { call }) =>
        printTexts(call, errors).map((message) => ({ message })),
    }),
  }),
);

const WriteRecordsPayload = builder.objectRef<WriteOutcome>('WriteRecordsPayload').implement({
  description:
    'Result of `writeRecords`: the operation, and the outcomes of the records of a synchronous write.',
  fields: (t) => ({
    operationId: t.id({
      description: 'The id of the operation.',
      resolve: ({ operation }) => operation.id,
    }),
    operation: t.expose('operation', {
      type: Operation,
      description: 'The write operation. It is in progress if its outcome is not known yet.',
    }),
    result: t.expose('result', {
      type: WriteResult,
      nullable: true,
      description: 'The outcome of a synchronous write of a single record; null for any other.',
    }),
    results: t.expose('results', {
      type: [WriteResult],
      nullable: true,
      description:
        'The outcomes of a synchronous batch, one for each record, in order; null for any other write.',
    }),
    successCount: t.exposeInt('successCount', {
      nullable: true,
      description: 'How many records were written; null for an asynchronous write.',
    }),
    failureCount: t.exposeInt('failureCount', {
      nullable: true,
      description: 'How many records were not written; null for an asynchronous write.',
    }),
    omittedFields: t.exposeStringList('omittedFields', { description: OMITTED_FIELDS }),
  }),
});

addMutation('writeRecords', writeRecords, WriteRecordsPayload);
