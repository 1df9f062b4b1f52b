/** Creates a GraphQL field from a declared mutation: its argument, description, need and function. */
import type { ObjectRef } from '@pothos/core';
import { z } from 'zod';
import {
  type ExclusiveMembers,
  listExclusiveMembers,
  type Mutation,
} from '../../domain/declared-mutation.ts';
import { inputDescription, inputType } from './inputs.ts';
import { needing } from './needing.ts';
import type { Types } from './schema-builder.ts';

/**
 * The plugin for exclusive members flattens `input`, and the zod plugin validates it with the schema of the mutation,
 * which gets what the schema returns. The field is nullable: if it fails, the results of the fields before it stay in
 * the response.
 */
export function mutationField<S extends z.ZodObject, R extends object>(
  t: PothosSchemaTypes.MutationFieldBuilder<Types, object>,
  declared: Mutation<S, R>,
  result: ObjectRef<Types, R>,
) {
  const mutation: Mutation<z.ZodObject, object> = declared;
  const groups = listExclusiveMembers(mutation.input);
  const { extensions, ...described } = needing(mutation);
  return t.field({
    ...described,
    extensions: { ...extensions, exclusiveMembers: groups },
    type: result as ObjectRef<Types, object>,
    nullable: true,
    args: {
      input: t.arg({
        type: inputType(mutation.input),
        required: true,
        description: inputDescription(mutation.input),
        validate: { schema: withGroups(mutation.input, groups) },
      }),
    },
    resolve: (_root, { input }, { call }) =>
      mutation(call, withoutGroups(input as Record<string, unknown>, groups)),
  });
}

/** The zod plugin also checks the result of the schema against the GraphQL type, whose groups may be required. */
function withGroups(schema: z.ZodObject, groups: readonly ExclusiveMembers[]): z.ZodObject {
  if (groups.length === 0) return schema;
  const kept = groups.map(({ name }) => [name, z.unknown().optional()]);
  return schema.safeExtend(Object.fromEntries(kept)).meta({ ...schema.meta() });
}

/** Removes the groups from the input, which is a new object of the schema. Their members are in the input itself. */
function withoutGroups(
  input: Record<string, unknown>,
  groups: readonly ExclusiveMembers[],
): Record<string, unknown> {
  for (const { name } of groups) delete input[name];
  return input;
}
