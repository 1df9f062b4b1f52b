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

const FieldValueType = enumType('FieldValueType', 'What kind of value a field holds.', {
  STRING: 'Text.',
  BOOLEAN: 'True or false.',
  SINGLE_SELECT: 'One of the values.',
  MULTI_SELECT: 'Any number of the values.',
  DATE: 'A day.',
  DATETIME: 'A point in time.',
  INT: 'A whole number.',
  FLOAT: 'A number.',
  REFERENCE: 'Another record.',
  OTHER: 'Anything else; providerType tells what.',
});

const FieldValue = builder
  .objectRef<NonNullable<FieldDescription['values']>[number]>('FieldValue')
  .implement({
    description: 'A value that a select field may have.',
    fields: (t) => ({
      value: t.exposeString('value', { description: 'As it is in records.' }),
      displayValue: t.exposeString('displayValue', { description: 'As people see it.' }),
    }),
  });

const FieldMetadata = builder.objectRef<FieldDescription>('FieldMetadata').implement({
  description: 'One field of an object.',
  fields: (t) => ({
    fieldName: t.exposeString('fieldName', { description: "The provider's name of the field." }),
    displayName: t.string({
      description: 'The name that people see; its own name where there is none.',
      resolve: ({ displayName, fieldName }) => displayName ?? fieldName,
    }),
    valueType: t.expose('valueType', {
      type: FieldValueType,
      description: 'What kind of value it holds.',
    }),
    providerType: t.exposeString('providerType', {
      nullable,
      description: "The provider's own name of the type.",
    }),
    readOnly: t.exposeBoolean('readOnly', { description: "It can't be written." }),
    isCustom: t.exposeBoolean('isCustom', { description: "The customer's account made it." }),
    isRequired: t.exposeBoolean('isRequired', { description: 'A new record must have it.' }),
    values: t.expose('values', {
      type: [FieldValue],
      nullable,
      description: 'Only for select types: what may be chosen.',
    }),
    referenceTo: t.exposeStringList('referenceTo', {
      nullable,
      description: 'Only for references: the objects that it may point to.',
    }),
  }),
});

export const ObjectMetadata = builder.objectRef<ObjectMetadataShape>('ObjectMetadata').implement({
  description: "The fields of a provider's object, as the provider tells them.",
  fields: (t) => ({
    name: t.exposeString('name', { description: "The provider's name of the object." }),
    displayName: t.exposeString('displayName', {
      nullable,
      description: 'The name that people see.',
    }),
    mappedObjectName: t.exposeString('mappedObjectName', {
      nullable,
      description: 'Only through an installation: the name that the integration maps it to.',
    }),
    fields: t.expose('fields', { type: [FieldMetadata], description: 'Its fields.' }),
  }),
});

builder.queryField('objectMetadata', (t) =>
  t.field({
    ...needing(
      readObjectMetadata,
      "Fields of a provider's object, read from the provider through the group's connection.",
    ),
    type: ObjectMetadata,
    args: parsedArgs(t.arg, objectMetadataInput),
    resolve: (_root, input, { call }) => readObjectMetadata(call, input),
  }),
);
