import {
  areDefined,
  type DefinedObject,
  objectUpsertResource,
  upsertInstalledObjectMetadata,
  upsertObjectMetadata,
} from '../../domain/installation/object-fields.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { objectType } from '../schema/object-type.ts';
import { describeResult } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';

const ObjectUpsert = objectType(
  builder.objectRef<DefinedObject>('ObjectUpsert'),
  objectUpsertResource,
);

function payload(mutation: string) {
  const name = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Payload`;
  return builder.objectRef<DefinedObject[]>(name).implement({
    description: describeResult(mutation),
    fields: (t) => ({
      success: t.boolean({
        description: 'Whether every field is as defined.',
        resolve: areDefined,
      }),
      objects: t.field({
        type: [ObjectUpsert],
        description: 'One for each object, in the order of the input.',
        resolve: (objects) => objects,
      }),
    }),
  });
}

builder.mutationFields((t) => ({
  upsertObjectMetadata: mutationField(t, upsertObjectMetadata, payload('upsertObjectMetadata')),
  upsertInstalledObjectMetadata: mutationField(
    t,
    upsertInstalledObjectMetadata,
    payload('upsertInstalledObjectMetadata'),
  ),
}));
