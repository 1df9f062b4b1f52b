/**
 * The schema of a project's typed API, made from a contract by graphql-js alone. Projects with equal contracts share it, so
 * resolvers take the project from the context. Each resolver calls one function of the domain.
 */
import {
  type GraphQLArgumentConfig,
  type GraphQLFieldConfig,
  GraphQLID,
  GraphQLInt,
  GraphQLNonNull,
  GraphQLObjectType,
  GraphQLSchema,
  GraphQLString,
} from 'graphql';
import { type GeneratedObject, generatedObjects } from '../../domain/contract/formats/generated.ts';
import { enumNames } from '../../domain/contract/formats/graphql-names.ts';
import { byIdName, memberName } from '../../domain/contract/formats/safe-names.ts';
import type { Contract } from '../../domain/contract/object-contract.ts';
import type { ObjectOfGroup } from '../../domain/operation/object-installation.ts';
import { listObjectRecords, readObjectRecord } from '../../domain/operation/object-records.ts';
import { PAGE_DEFAULT, PAGE_MAX } from '../../domain/paging/page.ts';
import { listUnstorable } from '../../domain/storable-input.ts';
import type { Need } from '../../domain/viewer/needs.ts';
import { ISSUES_MAX, invalidInput } from '../../errors.ts';
import type { OperationContext } from '../execution/operation-context.ts';
import { needing } from '../schema/needing.ts';
import { createObjectTypes, type ObjectTypes } from './object-types.ts';

type Field = GraphQLFieldConfig<unknown, OperationContext>;
type Fields = Record<string, Field>;
// biome-ignore lint/suspicious/noExplicitAny: graphql-js has checked the arguments against the schema
type Args = Record<string, any>;

interface Served {
  object: GeneratedObject;
  types: ObjectTypes;
}

export function createTypedSchema(contract: Contract): GraphQLSchema {
  const objects = generatedObjects(contract);
  const enums = enumNames(objects);
  const served = objects.map((object) => ({ object, types: createObjectTypes(object, enums) }));
  return new GraphQLSchema({
    query: new GraphQLObjectType({
      name: 'Query',
      description: 'Reads of records at the providers of customers.',
      fields: queryFields(contract, served),
    }),
    // Checking it takes longer than the first query. A test checks generated schemas.
    assumeValid: true,
  });
}

/** A field of an object precedes one that only begins with its name, as the findings of the contract say. */
function queryFields({ hash }: Contract, served: readonly Served[]): Fields {
  const readable = served.filter(({ object }) => object.verbs.includes('LIST'));
  const byId = readable.filter(({ object }) => object.verbs.includes('READ_BY_ID'));
  return {
    _contract: {
      type: new GraphQLNonNull(GraphQLString),
      description: 'The hash of the contract behind this schema.',
      resolve: () => hash,
    },
    ...Object.fromEntries(byId.map((one) => [byIdName(one.object.name), recordField(one)])),
    ...Object.fromEntries(readable.map((one) => [memberName(one.object.name), listField(one)])),
  };
}

const GROUP: GraphQLArgumentConfig = {
  type: GraphQLID,
  description:
    "The ref of the group. Default: the group of an end user's token; others must pass it.",
};

function listField({ object, types }: Served): Field {
  const members = new Map(object.fields.map(({ name }) => [memberName(name), name]));
  return {
    ...describe(listObjectRecords, 1),
    // Nullable, so that a failure for one group leaves the records of the others in the result.
    type: types.connection,
    args: {
      group: GROUP,
      ...(types.where && {
        where: {
          type: types.where,
          description: `Only records whose fields equal these values. At most ${object.filterable.conditionsMax}.`,
        },
      }),
      first: {
        type: GraphQLInt,
        defaultValue: PAGE_DEFAULT,
        description: `How many records, 1 to ${PAGE_MAX}. There may be fewer although more follow.`,
      },
      after: {
        type: GraphQLString,
        description: 'Only records after this cursor, with the same group and conditions.',
      },
    },
    resolve: withStorableArgs(({ group, where = {}, first, after }, context) =>
      listObjectRecords(context.call, toObjectOfGroup(context, object, group), {
        where: renameMembers(where ?? {}, members),
        first,
        after,
      }),
    ),
  };
}

function recordField({ object, types }: Served): Field {
  return {
    ...describe(readObjectRecord, 1),
    type: types.record,
    args: {
      group: GROUP,
      id: { type: new GraphQLNonNull(GraphQLID), description: "The provider's id of the record." },
    },
    resolve: withStorableArgs(({ group, id }, context) =>
      readObjectRecord(context.call, toObjectOfGroup(context, object, group), id),
    ),
  };
}

/** `providerCalls` is the most requests that the field sends to a provider. */
function describe(declared: { needs: Need; description: string }, providerCalls: number) {
  const { description, extensions } = needing(declared);
  return { description, extensions: { ...extensions, providerCalls } };
}

/** Refuses arguments with texts that the database can't store, as every surface does. */
function withStorableArgs<R>(resolve: (args: Args, context: OperationContext) => R) {
  return (_root: unknown, args: Args, context: OperationContext): R => {
    const issues = [...listUnstorable(args, []).take(ISSUES_MAX)];
    if (issues.length > 0) throw invalidInput(issues);
    return resolve(args, context);
  };
}

function toObjectOfGroup(
  { project }: OperationContext,
  { name: objectName }: GeneratedObject,
  groupRef: string | null | undefined,
): ObjectOfGroup {
  if (!project) throw new Error('Bug: a typed API without a project.');
  return { projectId: project.id, objectName, groupRef: groupRef ?? null };
}

/** Names of members in GraphQL become those of the contract. */
function renameMembers(values: Args, members: ReadonlyMap<string, string>): Args {
  return Object.fromEntries(
    Object.entries(values).map(([member, value]) => [members.get(member) ?? member, value]),
  );
}
