/** A field for a declared mutation: its argument, its need and its function come from the declaration. */
import type { ArgBuilder, ObjectRef } from '@pothos/core';
import { z } from 'zod';
import type { Mutation } from '../../domain/declared-mutation.ts';
import { OpenedInput } from '../../domain/opened-input.ts';
import { inputDescription, inputType } from './inputs.ts';
import { needing } from './needing.ts';
import type { Types } from './schema-builder.ts';

export function mutationField<S extends z.ZodObject, R extends object>(
  t: PothosSchemaTypes.MutationFieldBuilder<Types, object>,
  declared: Mutation<S, R>,
  shown: { type: ObjectRef<Types, R>; description: string },
) {
  const mutation: Mutation<z.ZodObject, object> = declared;
  const type: ObjectRef<Types, object> = shown.type;
  return t.field({
    ...needing(mutation, shown.description),
    type,
    args: { input: openedArg(t.arg, mutation.input) },
    resolve: (_root, { input }, { call }) => mutation(call, input),
  });
}

/**
 * The `input` argument. The plugin opens it by the schema; the mutation reports the schema's findings together
 * with its own.
 */
function openedArg(arg: ArgBuilder<Types>, schema: z.ZodObject) {
  return arg({
    type: inputType(schema),
    required: true,
    description: inputDescription(schema),
    validate: { schema: opening(schema) },
  });
}

function opening(schema: z.ZodObject) {
  const opened = z.unknown().transform((given) => new OpenedInput(schema, given));
  // The plugin pipes the result through validators of nested inputs. There are none: all rules are here.
  return Object.assign(opened, { pipe: () => opened });
}
