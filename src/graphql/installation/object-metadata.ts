import {
  type FieldDescription,
  type ObjectMetadata as ObjectMetadataShape,
  objectMetadataInput,
  readObjectMetadata,
} from '../../domain/installation/object-metadata.ts';
import { enumType } from '../schema/inputs.ts';
import { needing } from '../schema/needing.ts';
import { parsedArgs } from '../schema/parsed-args.ts';
import { builder } from '../schema/schema-builder.ts';

const nullable = true;

export const FieldValueType = enumType('FieldValueType', 'The type of the values of a field.', {
  STRING: 'Text.',
  BOOLEAN: 'True or false.',
  SINGLE_SELECT: 'One of the values that the field lists.',
  MULTI_SELECT: 'Any number of the values that the field lists.',
  DATE: 'A date without a time.',
  DATETIME: 'A date with a time.',
  INT: 'A whole number.',
  FLOAT: 'A number.',
  REFERENCE: 'The id of another record.',
  OTHER: 'Any other type: providerType names it.',
});

export const FieldValue = builder
  .objectRef<NonNullable<FieldDescription['values']>[number]>('FieldValue')
  .implement({
    description: 'A value that a select field may have.',
    fields: (t) => ({
      value: t.exposeString('value', { description: 'The value as records hold it.' }),
      displayValue: t.exposeString('displayValue', { description: 'The value as people see it.' }),
    }),
  });

const FieldMetadata = builder.objectRef<FieldDescription>('FieldMetadata').implement({
  description: 'A field of an object at the provider.',
  fields: (t) => ({
    fieldName: t.exposeString('fieldName', { description: "The provider's name of the field." }),
    displayName: t.string({
      description: 'The name that people see; the name of the field if the provider has no other.',
      resolve: ({ displayName, fieldName }) => displayName ?? fieldName,
    }),
    valueType: t.expose('valueType', {
      type: FieldValueType,
      description: 'The type of its values.',
    }),
    providerType: t.exposeString('providerType', {
      nullable,
      description: "The provider's own name of the type.",
    }),
    readOnly: t.exposeBoolean('readOnly', { description: "Whether it can't be written." }),
    isCustom: t.exposeBoolean('isCustom', {
      description: "Whether it exists only in this customer's account.",
    }),
    isRequired: t.exposeBoolean('isRequired', {
      description: 'Whether a new record must have it.',
    }),
    values: t.expose('values', {
      type: [FieldValue],
      nullable,
      description: 'Only for select types: the values that may be chosen.',
    }),
    referenceTo: t.exposeStringList('referenceTo', {
      nullable,
      description: 'Only for references: the names of the objects that it may point to.',
    }),
  }),
});

export const ObjectMetadata = builder.objectRef<ObjectMetadataShape>('ObjectMetadata').implement({
  description: 'The fields of an object at a provider, as the provider describes them now.',
  fields: (t) => ({
    name: t.exposeString('name', {
      description: "The provider's name of the object, like `contacts`.",
    }),
    displayName: t.exposeString('displayName', {
      nullable,
      description: 'The name that people see.',
    }),
    mappedObjectName: t.exposeString('mappedObjectName', {
      nullable,
      description:
        'Only through an installation: the name that the integration maps the object to.',
    }),
    fields: t.expose('fields', { type: [FieldMetadata], description: 'The fields of the object.' }),
  }),
});

builder.queryField('objectMetadata', (t) =>
  t.field({
    ...needing(
      readObjectMetadata,
      'The fields of an object, read from the provider through a connection of the group.',
    ),
    type: ObjectMetadata,
    args: parsedArgs(t.arg, objectMetadataInput),
    resolve: (_root, input, { call }) => readObjectMetadata(call, input),
  }),
);
