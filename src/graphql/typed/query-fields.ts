/** The queries of a typed API: a list of the records of each object, and a record by its id. */
import { GraphQLID, GraphQLInt, GraphQLNonNull, GraphQLString } from 'graphql';
import { PAGE_DEFAULT, PAGE_MAX } from '../../domain/access/paging/page.ts';
import { toByIdQueryName, toMemberName } from '../../domain/data/contract/formats/safe-names.ts';
import {
  listArgumentIssues,
  listObjectRecords,
  readObjectRecord,
} from '../../domain/data/operation/object-records.ts';
import type { ShownRecord } from './object-types.ts';
import {
  type Args,
  describeRootField,
  GROUP_ARGUMENT,
  type RootFields,
  renameMembers,
  runSpelled,
  type TypedObject,
  toObjectOfGroup,
} from './root-field.ts';
import { toRecordInstallation } from './shared-types.ts';

/**
 * Creates the root fields of Query. If the by-id field of one object has the name of another object's list, the list takes
 * precedence, and the contract reports NAME_CLASH.
 */
export function createQueryFields(hash: string, typedObjects: readonly TypedObject[]): RootFields {
  const listableObjects = typedObjects.filter(({ object }) => object.verbs.includes('LIST'));
  const objectsById = listableObjects.filter(({ object }) => object.verbs.includes('READ_BY_ID'));
  return {
    _contract: {
      type: new GraphQLNonNull(GraphQLString),
      description: 'The hash of the contract behind this schema.',
      resolve: () => hash,
    },
    ...Object.fromEntries(
      objectsById.map((typedObject) => [
        toByIdQueryName(typedObject.object.name),
        createRecordField(typedObject),
      ]),
    ),
    ...Object.fromEntries(
      listableObjects.map((typedObject) => [
        toMemberName(typedObject.object.name),
        createListField(typedObject),
      ]),
    ),
  };
}

function createListField({ object, types }: TypedObject): RootFields[string] {
  const namesByMember = new Map(object.fields.map(({ name }) => [toMemberName(name), name]));
  const toListArgs = ({ where, first, after }: Args) => ({
    where: renameMembers(where ?? {}, namesByMember),
    first,
    after,
  });
  return {
    ...describeRootField(listObjectRecords, {
      providerCalls: 1,
      listIssues: (args) => listArgumentIssues(object.name, toListArgs(args)),
    }),
    // Nullable, so that a failure for one group leaves the records of other groups in the result.
    type: types.connection,
    args: {
      group: GROUP_ARGUMENT,
      ...(types.where && {
        where: {
          type: types.where,
          description: `Only records whose fields equal these values. At most ${object.filterable.conditionsMax} conditions.`,
        },
      }),
      first: {
        type: GraphQLInt,
        defaultValue: PAGE_DEFAULT,
        description: `How many records, 1 to ${PAGE_MAX}. A page may be shorter even if more records follow.`,
      },
      after: {
        type: GraphQLString,
        description: 'Only records after this cursor, with the same group and conditions.',
      },
    },
    resolve: (_root, args, context) =>
      runSpelled(() =>
        listObjectRecords(
          context.call,
          toObjectOfGroup(context, object, args.group),
          toListArgs(args),
        ),
      ),
  };
}

function createRecordField({ object, types }: TypedObject): RootFields[string] {
  return {
    ...describeRootField(readObjectRecord, { providerCalls: 1 }),
    type: types.record,
    args: {
      group: GROUP_ARGUMENT,
      id: { type: new GraphQLNonNull(GraphQLID), description: "The provider's id of the record." },
    },
    resolve: async (_root, { group, id }, context): Promise<ShownRecord | null> => {
      const result = await readObjectRecord(
        context.call,
        toObjectOfGroup(context, object, group),
        id,
      );
      return (
        result && { record: result.record, installation: toRecordInstallation(result.serving) }
      );
    },
  };
}
