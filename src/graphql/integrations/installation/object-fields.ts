import {
  areDefined,
  type DefinedObject,
  objectUpsertResource,
  upsertInstalledObjectMetadata,
  upsertObjectMetadata,
} from '../../../domain/integrations/installation/object-fields.ts';
import { addMutation, describeResult, namePayload } from '../../schema/mutations.ts';
import { objectType } from '../../schema/object-type.ts';
import { builder } from '../../schema/schema-builder.ts';

const ObjectUpsert = objectType(
  builder.objectRef<DefinedObject>('ObjectUpsert'),
  objectUpsertResource,
);

function createPayload(mutation: string) {
  return builder.objectRef<DefinedObject[]>(namePayload(mutation)).implement({
    description: describeResult(mutation),
    fields: (t) => ({
      success: t.boolean({
        description: 'Whether every field is as defined.',
        resolve: areDefined,
      }),
      objects: t.field({
        type: [ObjectUpsert],
        description: 'The result for each object, in the order of the input.',
        resolve: (objects) => objects,
      }),
    }),
  });
}

addMutation('upsertObjectMetadata', upsertObjectMetadata, createPayload('upsertObjectMetadata'));
addMutation(
  'upsertInstalledObjectMetadata',
  upsertInstalledObjectMetadata,
  createPayload('upsertInstalledObjectMetadata'),
);
