/** Adds declared mutations to the schema. */

import type { ObjectRef } from '@pothos/core';
import type { FieldNode } from 'graphql';
import type { z } from 'zod';
import type { Mutation } from '../../domain/access/declared-mutation.ts';
import { spellError } from '../../kernel/errors.ts';
import { runSteps } from '../../work/steps.ts';
import { describeField } from './fields.ts';
import { createInputForm } from './input-form.ts';
import { describeInput, getInputType } from './inputs.ts';
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

/** Returns the name of a payload type: `CreateTopicPayload` for `createTopic`. */
export function namePayload(mutation: string): string {
  return `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Payload`;
}

/** Returns the description of a payload type. */
export function describeResult(mutation: string): string {
  return `Result of \`${mutation}\`.`;
}

/**
 * Adds a mutation with its payload type. The field is nullable, so that its failure leaves the results of the fields before
 * it in the response.
 */
export function addMutation<R extends object>(
  name: string,
  mutation: Mutation<z.ZodObject, R>,
  payload: ObjectRef<Types, R>,
): void {
  const { extensions, ...options } = describeField(mutation);
  const form = createInputForm(mutation.input);
  const decode = (args: object) => form.decode((args as { input: unknown }).input);
  builder.mutationField(name, (t) =>
    t.field({
      ...options,
      extensions: { ...extensions, input: mutation.input, parseArguments: decode },
      type: payload as ObjectRef<Types, object>,
      nullable: true,
      args: {
        input: t.arg({
          type: getInputType(mutation.input),
          required: true,
          description: describeInput(mutation.input),
          validate: { schema: form.schema },
        }),
      },
      async resolve(_root, args, { call, inputs }, info) {
        // A caller other than the pipeline, such as a test, has no decoded inputs.
        const input = inputs?.get(info.fieldNodes[0] as FieldNode) ?? runSteps(decode(args));
        try {
          return await mutation(call, input as Record<string, unknown>);
        } catch (error) {
          throw spellError(error, form.spelling);
        }
      },
    }),
  );
}
