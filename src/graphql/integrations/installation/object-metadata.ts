import {
  type ObjectMetadata as ObjectMetadataShape,
  objectMetadataInput,
  objectMetadataResource,
  readObjectMetadata,
} from '../../../domain/integrations/installation/object-metadata.ts';
import { describeField } from '../../schema/fields.ts';
import { createArgs } from '../../schema/inputs.ts';
import { objectType } from '../../schema/object-type.ts';
import { builder } from '../../schema/schema-builder.ts';

export const ObjectMetadata = objectType(
  builder.objectRef<ObjectMetadataShape>('ObjectMetadata'),
  objectMetadataResource,
);

builder.queryField('objectMetadata', (t) =>
  t.field({
    ...describeField(readObjectMetadata),
    type: ObjectMetadata,
    nullable: true,
    args: createArgs(t.arg, objectMetadataInput),
    resolve: (_root, input, { call }) => readObjectMetadata(call, input),
  }),
);
