/** The payload types of mutations. */
import type { ObjectRef } from '@pothos/core';
import { builder, type Types } from './schema-builder.ts';

/** Defines the payload type of a mutation that returns one object: `payload('createTopic', 'topic', Topic)`. */
export function payload<T extends object>(
  mutation: string,
  field: string,
  type: ObjectRef<Types, T>,
): ObjectRef<Types, T> {
  const name = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Payload`;
  return builder.objectRef<T>(name).implement({
    description: describeResult(mutation),
    fields: (t) => ({
      [field]: t.field({
        type: type as ObjectRef<Types, object>,
        description: `The ${type.name} after the mutation.`,
        resolve: (row) => row,
      }),
    }),
  });
}

/** The description of a payload type. */
export function describeResult(mutation: string): string {
  return `Result of \`${mutation}\`.`;
}

export const DeletePayload = builder.objectRef<{ deletedId: string }>('DeletePayload').implement({
  description: 'Result of a mutation that deletes.',
  fields: (t) => ({
    deletedId: t.exposeID('deletedId', { description: 'The id of the deleted object.' }),
  }),
});
