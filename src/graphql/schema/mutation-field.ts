/** A field of a declared mutation, with the argument, the description, the need and the function of the declaration. */
import type { ObjectRef } from '@pothos/core';
import type { z } from 'zod';
import type { Mutation } from '../../domain/declared-mutation.ts';
import { inputDescription, inputType } from './inputs.ts';
import { needing } from './needing.ts';
import type { Types } from './schema-builder.ts';

/**
 * The zod plugin validates `input` with the schema of the mutation, which gets what the schema returns. The field is
 * nullable: if it fails, the results of the fields before it stay in the response.
 */
export function mutationField<S extends z.ZodObject, R extends object>(
  t: PothosSchemaTypes.MutationFieldBuilder<Types, object>,
  declared: Mutation<S, R>,
  result: ObjectRef<Types, R>,
) {
  const mutation: Mutation<z.ZodObject, object> = declared;
  return t.field({
    ...needing(mutation),
    type: result as ObjectRef<Types, object>,
    nullable: true,
    args: {
      input: t.arg({
        type: inputType(mutation.input),
        required: true,
        description: inputDescription(mutation.input),
        validate: { schema: mutation.input },
      }),
    },
    resolve: (_root, { input }, { call }) =>
      mutation(call, input as z.output<typeof mutation.input>),
  });
}
