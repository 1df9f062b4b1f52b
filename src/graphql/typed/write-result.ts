/** The result of a write, whose types all typed APIs share, like the types of `shared-types.ts`. */
import {
  GraphQLBoolean,
  GraphQLID,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql';
import type { ServedWrite } from '../../domain/operation/object-write.ts';
import { operationStatus, toOperationStatus } from '../../domain/operation/operation-status.ts';
import {
  createEnumType,
  JsonObjectType,
  RecordInstallationType,
  toRecordInstallation,
} from './shared-types.ts';

export const WriteResultType = new GraphQLObjectType<ServedWrite>({
  name: 'WriteResult',
  description: 'The outcome of a write of one record.',
  fields: {
    success: {
      type: new GraphQLNonNull(GraphQLBoolean),
      description: 'Whether the provider confirmed the write. If false, see `errors`.',
      resolve: ({ outcome: { result } }) => result?.success ?? false,
    },
    id: {
      type: GraphQLID,
      description: 'The id that the provider assigned to the record. Null if unknown.',
      resolve: ({ outcome: { result } }) => result?.recordId,
    },
    errors: {
      type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(GraphQLString))),
      description: 'Human-readable reasons why the write failed. Empty on success.',
      resolve: ({ outcome: { result } }) => result?.errors ?? [],
    },
    raw: {
      type: JsonObjectType,
      description: 'The record as the provider returned it. Null if it returned none.',
      resolve: ({ outcome: { result } }) => result?.data,
    },
    operationId: {
      type: new GraphQLNonNull(GraphQLID),
      description: 'The id of the operation, which has the log of the write.',
      resolve: ({ outcome: { operation } }) => operation.id,
    },
    status: {
      type: new GraphQLNonNull(createEnumType(operationStatus)),
      description:
        'The status of the operation. If the write exceeds the wait time, the operation continues in the background.',
      resolve: ({ outcome: { operation } }) => toOperationStatus(operation.status),
    },
    installation: {
      type: new GraphQLNonNull(RecordInstallationType),
      description: 'The installation that serves the write.',
      resolve: ({ serving }) => toRecordInstallation(serving),
    },
  },
});
