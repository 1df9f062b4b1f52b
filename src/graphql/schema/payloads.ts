/** The payload types of mutations. */
import type { ObjectRef } from '@pothos/core';
import { builder, type Types } from './schema-builder.ts';

/** Defines the payload type of a mutation whose result is one field: `payload('CreateTopicPayload', 'topic', Topic, 'The new topic.')`. */
export function payload<F extends string, T extends object>(
  name: string,
  field: F,
  type: ObjectRef<Types, T>,
  description: string,
): ObjectRef<Types, T> {
  return builder.objectRef<T>(name).implement({
    description: `The answer of ${mutationOf(name)}: \`${field}\` as it is after the mutation.`,
    fields: (t) => ({
      [field]: t.field({
        type: type as ObjectRef<Types, object>,
        description,
        resolve: (shown) => shown,
      }),
    }),
  });
}

/** Returns `createTopic` for `CreateTopicPayload`. */
export function mutationOf(payload: string): string {
  return payload.charAt(0).toLowerCase() + payload.slice(1, -'Payload'.length);
}

export const DeletePayload = builder.objectRef<{ deletedId: string }>('DeletePayload').implement({
  description: 'The answer of a mutation that deletes.',
  fields: (t) => ({
    deletedId: t.exposeID('deletedId', { description: 'The id of what was deleted.' }),
  }),
});
