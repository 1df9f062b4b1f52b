import { z } from 'zod';
import {
  FIELD_VALUE_TYPES,
  type FieldDescription,
  installedObjectMetadataInput,
  type ObjectMetadata,
  objectMetadataInput,
  readInstalledObjectMetadata,
  readObjectMetadata,
} from '../../domain/installation/object-metadata.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { wordOf, words } from '../endpoint/words.ts';
import { resource } from '../openapi/schemas.ts';

const tag = 'Object metadata';

const fieldValue = z.object({
  value: z.string().describe('As it is in records.'),
  displayValue: z.string().describe('As people see it.'),
});

const fieldMetadata = resource('FieldMetadata', 'One field of an object.', {
  fieldName: z.string().describe("The provider's name of the field."),
  displayName: z.string().describe('The name that people see; its own name where there is none.'),
  valueType: words('FieldValueType', FIELD_VALUE_TYPES).describe('What kind of value it holds.'),
  providerType: z.string().optional().describe("The provider's own name of the type."),
  readOnly: z.boolean().describe("It can't be written."),
  isCustom: z.boolean().describe("The customer's account made it."),
  isRequired: z.boolean().describe('A new record must have it.'),
  values: z.array(fieldValue).optional().describe('Only for select types: what may be chosen.'),
  referenceTo: z
    .array(z.string())
    .optional()
    .describe('Only for references: the objects that it may point to.'),
});

const objectMetadata = resource('ObjectMetadata', "The fields of a provider's object.", {
  name: z.string().describe("The provider's name of the object."),
  displayName: z.string().optional().describe('The name that people see.'),
  fields: z.record(z.string(), fieldMetadata).describe('Its fields, by name.'),
  mappedObjectName: z
    .string()
    .optional()
    .describe('Only through an installation: the name that the integration maps it to.'),
});

function showField(field: FieldDescription) {
  return {
    ...field,
    displayName: field.displayName ?? field.fieldName,
    valueType: wordOf('FieldValueType', field.valueType),
    providerType: field.providerType ?? undefined,
    values: field.values ?? undefined,
    referenceTo: field.referenceTo ?? undefined,
  };
}

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
    summary: "Reads the fields of a provider's object through a group's connection.",
    input: objectMetadataInput,
    read: readObjectMetadata,
    output: objectMetadata,
    show: showObjectMetadata,
  }),
  readEndpoint({
    id: 'getInstalledObjectMetadata',
    path: '/projects/{projectIdOrName}/integrations/{integrationId}/objects/{objectName}/metadata',
    tag,
    summary: "Reads the fields of a provider's object through a group's installation.",
    description: "The object's name is the provider's, or the one that the integration maps it to.",
    input: installedObjectMetadataInput,
    places: { integrationIdOrName: { in: 'path', name: 'integrationId' } },
    read: readInstalledObjectMetadata,
    output: objectMetadata,
    show: showObjectMetadata,
  }),
];
