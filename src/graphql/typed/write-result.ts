/** The result of a write in typed APIs. Its types are fixed, like those of `shared-types.ts`. */
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
      description: 'Whether the record is known to be written. If not, errors say why.',
      resolve: ({ outcome: { result } }) => result?.success ?? false,
    },
    id: {
      type: GraphQLID,
      description: "The provider's id of the record. Null if it is unknown.",
      resolve: ({ outcome: { result } }) => result?.recordId,
    },
    errors: {
      type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(GraphQLString))),
      description: 'Reasons why the record was not written, for people. Empty if it was.',
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
      description: 'How far the operation has come: it continues if the outcome takes too long.',
      resolve: ({ outcome: { operation } }) => toOperationStatus(operation.status),
    },
    installation: {
      type: new GraphQLNonNull(RecordInstallationType),
      description: 'The installation that serves the write.',
      resolve: ({ serving }) => toRecordInstallation(serving),
    },
  },
});
