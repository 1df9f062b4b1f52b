import { z } from 'zod';
import {
  FIELD_VALUE_TYPES,
  installedObjectMetadataInput,
  type ObjectMetadata,
  objectMetadataInput,
  readInstalledObjectMetadata,
  readObjectMetadata,
} from '../../domain/installation/object-metadata.ts';
import { showField } from '../../domain/installation/shown-field.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { words } from '../endpoint/words.ts';
import { resource } from '../openapi/schemas.ts';

const tag = 'Object metadata';

export const fieldValue = z.object({
  value: z.string().describe('The value as records hold it.'),
  displayValue: z.string().describe('The value as people see it.'),
});

export const fieldMetadata = resource('FieldMetadata', 'A field of an object at the provider.', {
  fieldName: z.string().describe("The provider's name of the field."),
  displayName: z
    .string()
    .describe('The name that people see; the name of the field if the provider has no other.'),
  valueType: words('FieldValueType', FIELD_VALUE_TYPES).describe('The type of its values.'),
  providerType: z.string().optional().describe("The provider's own name of the type."),
  readOnly: z.boolean().describe("Whether it can't be written."),
  isCustom: z.boolean().describe("Whether it exists only in this customer's account."),
  isRequired: z.boolean().describe('Whether a new record must have it.'),
  values: z
    .array(fieldValue)
    .optional()
    .describe('Only for select types: the values that may be chosen.'),
  referenceTo: z
    .array(z.string())
    .optional()
    .describe('Only for references: the names of the objects that it may point to.'),
});

const objectMetadata = resource(
  'ObjectMetadata',
  'The fields of an object at a provider, as the provider describes them now.',
  {
    name: z.string().describe("The provider's name of the object, like `contacts`."),
    displayName: z.string().optional().describe('The name that people see.'),
    fields: z.record(z.string(), fieldMetadata).describe('The fields of the object, by name.'),
    mappedObjectName: z
      .string()
      .optional()
      .describe('Only through an installation: the name that the integration maps the object to.'),
  },
);

function showObjectMetadata(metadata: ObjectMetadata) {
  return {
    ...metadata,
    displayName: metadata.displayName ?? undefined,
    fields: Object.fromEntries(metadata.fields.map((field) => [field.fieldName, showField(field)])),
    mappedObjectName: metadata.mappedObjectName ?? undefined,
  };
}

export const objectMetadataEndpoints = [
  readEndpoint({
    id: 'getObjectMetadata',
    path: '/projects/{projectIdOrName}/providers/{provider}/objects/{objectName}/metadata',
    tag,
    input: objectMetadataInput,
    read: readObjectMetadata,
    output: objectMetadata,
    show: showObjectMetadata,
  }),
  readEndpoint({
    id: 'getInstalledObjectMetadata',
    path: '/projects/{projectIdOrName}/integrations/{integrationId}/objects/{objectName}/metadata',
    tag,
    description:
      "Name the object by the provider's name, or by the one that the integration maps it to.",
    input: installedObjectMetadataInput,
    places: { integrationIdOrName: { in: 'path', name: 'integrationId' } },
    read: readInstalledObjectMetadata,
    output: objectMetadata,
    show: showObjectMetadata,
  }),
];
