import {
  type AccountRecord,
  accountRecordResource,
  listInstallationRecords,
  type RecordsPage,
  recordsInput,
} from '../../../domain/data/operation/record-search.ts';
import { describeField } from '../../schema/fields.ts';
import { createArgs } from '../../schema/inputs.ts';
import { objectType } from '../../schema/object-type.ts';
import { builder } from '../../schema/schema-builder.ts';
import { Installation } from '../../schema/types.ts';

const AccountRecordType = objectType(
  builder.objectRef<AccountRecord>('Record'),
  accountRecordResource,
);

const RecordEdge = builder.objectRef<RecordsPage['edges'][number]>('RecordEdge').implement({
  description: 'One of the records, with its position in the list.',
  fields: (t) => ({
    cursor: t.string({
      description:
        'The position of the record in the list. Pass it as `after` to continue after this record.',
      resolve: ({ cursor }) => cursor,
    }),
    node: t.expose('node', {
      type: AccountRecordType,
      description: 'The record at this position in the list.',
    }),
  }),
});

const RecordConnection = builder.objectRef<RecordsPage>('RecordConnection').implement({
  description: 'A page of records: at most one page of the provider. Pages are read forwards only.',
  fields: (t) => ({
    edges: t.expose('edges', {
      type: [RecordEdge],
      description: 'The records of this page with their cursors.',
    }),
    nodes: t.field({
      type: [AccountRecordType],
      description: 'The records of this page.',
      resolve: ({ edges }) => edges.map(({ node }) => node),
    }),
    pageInfo: t.expose('pageInfo', {
      type: builder.pageInfoRef(),
      description:
        'Whether there are records after this page, and the cursor to read them. A page may be empty even if others follow.',
    }),
  }),
});

builder.objectField(Installation, 'records', (t) =>
  t.field({
    ...describeField(listInstallationRecords),
    type: RecordConnection,
    nullable: true,
    args: createArgs(t.arg, recordsInput),
    resolve: (installation, input, { call }) => listInstallationRecords(call, installation, input),
  }),
);
