/** Adds fields for declared mutations: their argument, description, need, function and payload type. */
import type { ObjectRef } from '@pothos/core';
import { z } from 'zod';
import {
  type ExclusiveMembers,
  listExclusiveMembers,
  type Mutation,
} from '../../domain/declared-mutation.ts';
import { describeField } from './describe-field.ts';
import { describeInput, inputType } from './inputs.ts';
import { builder, type Types } from './schema-builder.ts';

type Mutations<R> = Record<string, Mutation<z.ZodObject, R>>;

/** Adds mutations that return one object: `addMutations('topic', Topic, { createTopic, updateTopic })`. */
export function addMutations<T extends object>(
  field: string,
  type: ObjectRef<Types, T>,
  mutations: Mutations<T>,
): void {
  for (const [name, mutation] of Object.entries(mutations)) {
    const payload = builder.objectRef<T>(namePayload(name)).implement({
      description: describeResult(name),
      fields: (t) => ({
        [field]: t.field({
          type: type as ObjectRef<Types, object>,
          description: `The ${type.name} after the mutation.`,
          resolve: (row) => row,
        }),
      }),
    });
    addMutation(name, mutation, payload);
  }
}

/** Adds mutations that delete one object. */
export function addDeletions(mutations: Mutations<{ deletedId: string }>): void {
  for (const [name, mutation] of Object.entries(mutations)) {
    addMutation(name, mutation, DeletePayload);
  }
}

const DeletePayload = builder.objectRef<{ deletedId: string }>('DeletePayload').implement({
  description: 'Result of a mutation that deletes.',
  fields: (t) => ({
    deletedId: t.exposeID('deletedId', { description: 'The id of the deleted object.' }),
  }),
});

/** `CreateTopicPayload` for `createTopic`. */
export function namePayload(mutation: string): string {
  return `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Payload`;
}

/** The description of a payload type. */
export function describeResult(mutation: string): string {
  return `Result of \`${mutation}\`.`;
}

/**
 * Adds a mutation with a payload type of its own. The plugin for exclusive members flattens `input`
 * (`records: { record }` becomes `record`). The zod plugin validates it, and the mutation receives the parsed value. The
 * field is nullable: if it fails, the results of the fields before it stay in the response.
 */
export function addMutation<R extends object>(
  name: string,
  mutation: Mutation<z.ZodObject, R>,
  payload: ObjectRef<Types, R>,
): void {
  const groups = listExclusiveMembers(mutation.input);
  const { extensions, ...options } = describeField(mutation);
  builder.mutationField(name, (t) =>
    t.field({
      ...options,
      extensions: { ...extensions, exclusiveMembers: groups },
      type: payload as ObjectRef<Types, object>,
      nullable: true,
      args: {
        input: t.arg({
          type: inputType(mutation.input),
          required: true,
          description: describeInput(mutation.input),
          validate: { schema: allowGroups(mutation.input, groups) },
        }),
      },
      resolve: (_root, { input }, { call }) =>
        mutation(call, removeGroups(input as Record<string, unknown>, groups)),
    }),
  );
}

/**
 * Returns a schema that keeps the groups in the parsed value. The zod plugin also checks that value against the GraphQL
 * type, in which a group may be required.
 */
function allowGroups(schema: z.ZodObject, groups: readonly ExclusiveMembers[]): z.ZodObject {
  if (groups.length === 0) return schema;
  const members = groups.map(({ name }) => [name, z.unknown().optional()]);
  return schema.safeExtend(Object.fromEntries(members)).meta({ ...schema.meta() });
}

/**
 * Removes the groups, whose members are in the input itself. Changes the input, which is a new object that the schema
 * created.
 */
function removeGroups(
  input: Record<string, unknown>,
  groups: readonly ExclusiveMembers[],
): Record<string, unknown> {
  for (const { name } of groups) delete input[name];
  return input;
}
