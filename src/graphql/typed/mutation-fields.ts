/** The mutations of a typed API. Each writes one record and waits for the outcome. */

import {
  GraphQLBoolean,
  GraphQLID,
  type GraphQLInputObjectType,
  GraphQLList,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLString,
} from 'graphql';
import { createInputIssue } from '../../domain/base/issues.ts';
import { printTexts } from '../../domain/base/stored-text.ts';
import { OTHER_FIELDS } from '../../domain/data/contract/formats/graphql-names.ts';
import { toMemberName, toTypeName } from '../../domain/data/contract/formats/safe-names.ts';
import {
  listArgumentIssues,
  type ServedWrite,
  writeObjectRecord,
} from '../../domain/data/operation/object-write.ts';
import {
  OMITTED_FIELDS,
  operationStatus,
  toOperationStatus,
} from '../../domain/data/operation/operation.ts';
import { writeRecords } from '../../domain/data/operation/write-records.ts';
import type { Issue } from '../../kernel/errors.ts';
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
import {
  createEnumType,
  JsonObjectType,
  RecordInstallationType,
  toRecordInstallation,
} from './shared-types.ts';

export function createMutationFields(typedObjects: readonly TypedObject[]): RootFields {
  return Object.fromEntries(typedObjects.flatMap((typedObject) => [...listMutations(typedObject)]));
}

function* listMutations(typedObject: TypedObject): Generator<[string, RootFields[string]]> {
  const { object, types } = typedObject;
  const name = toTypeName(object.name);
  const { verbs } = object;
  if (verbs.includes('CREATE') && types.create) {
    yield [`create${name}`, createField(typedObject, 'CREATE', types.create)];
  }
  if (verbs.includes('UPDATE') && types.update) {
    yield [`update${name}`, createField(typedObject, 'UPDATE', types.update)];
  }
  if (verbs.includes('DELETE')) yield [`delete${name}`, createField(typedObject, 'DELETE', null)];
}

const DESCRIPTIONS = {
  CREATE: "Creates a record in the group's account.",
  UPDATE:
    "Changes a record in the group's account. Absent fields keep their values, and null clears one.",
  DELETE: "Deletes a record in the group's account.",
};

const ID_ARGUMENT = {
  type: new GraphQLNonNull(GraphQLID),
  description: "The provider's id of the record.",
};

/** The field is nullable: if it fails, the results of the fields before it stay in the response. */
function createField(
  { object }: TypedObject,
  type: keyof typeof DESCRIPTIONS,
  input: GraphQLInputObjectType | null,
): RootFields[string] {
  const namesByMember = new Map(object.fields.map(({ name }) => [toMemberName(name), name]));
  const toWrite = ({ id, input = {}, idempotencyKey }: Args) => {
    const values = toRecord(input, namesByMember);
    return { record: { ...values, ...(type !== 'CREATE' && { id }) }, idempotencyKey };
  };
  return {
    ...describeRootField(writeRecords, {
      providerCalls: 1,
      description: DESCRIPTIONS[type],
      listIssues: (args) => [
        ...listRepeatedNames(args.input ?? {}, namesByMember),
        ...listArgumentIssues(toWrite(args)),
      ],
    }),
    type: WriteResultType,
    args: {
      group: GROUP_ARGUMENT,
      ...(type !== 'CREATE' && { id: ID_ARGUMENT }),
      ...(input && {
        input: { type: new GraphQLNonNull(input), description: 'The values of the record.' },
      }),
      idempotencyKey: {
        type: GraphQLString,
        description:
          'A key of the caller, 1 to 255 characters. A write that is repeated with the same key and arguments within 24 hours is done once.',
      },
    },
    resolve: (_root, args, context) =>
      runSpelled(() =>
        writeObjectRecord(context.call, toObjectOfGroup(context, object, args.group), {
          type,
          ...toWrite(args),
        }),
      ),
  };
}

/** Returns the values under the names of the contract. */
function toRecord(
  { [OTHER_FIELDS]: otherFields, ...values }: Record<string, unknown>,
  namesByMember: ReadonlyMap<string, string>,
): Record<string, unknown> {
  if (namesByMember.has(OTHER_FIELDS))
    return renameMembers({ ...values, [OTHER_FIELDS]: otherFields }, namesByMember);
  return { ...renameMembers(values, namesByMember), ...(otherFields ?? {}) };
}

/** Lists issues of fields that are set both by their member and in `_otherFields`. */
function listRepeatedNames(
  { [OTHER_FIELDS]: otherFields, ...values }: Record<string, unknown>,
  namesByMember: ReadonlyMap<string, string>,
): Issue[] {
  if (namesByMember.has(OTHER_FIELDS)) return [];
  const record = renameMembers(values, namesByMember);
  const detail = 'names a field that is also set by its own member of the input.';
  return Object.keys(otherFields ?? {})
    .filter((name) => Object.hasOwn(record, name))
    .map((name) => createInputIssue(['record', OTHER_FIELDS, name], detail));
}

const WriteResultType = new GraphQLObjectType<ServedWrite>({
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
      resolve: ({ outcome: { result } }, _args, { call }) => printTexts(call, result?.errors ?? []),
    },
    omittedFields: {
      type: new GraphQLNonNull(new GraphQLList(new GraphQLNonNull(GraphQLString))),
      description: OMITTED_FIELDS,
      resolve: ({ outcome: { omittedFields } }) => omittedFields,
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
