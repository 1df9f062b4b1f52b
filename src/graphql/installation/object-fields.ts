import {
  type DefinedObject,
  upsertInstalledObjectMetadata,
  upsertObjectMetadata,
} from '../../domain/installation/object-fields.ts';
import { enumType } from '../schema/inputs.ts';
import { mutationField } from '../schema/mutation-field.ts';
import { resultOf } from '../schema/payloads.ts';
import { builder } from '../schema/schema-builder.ts';

enumType('FieldCardinality', 'How many records may refer to one record.', {
  MANY_TO_ONE: 'Any number.',
  ONE_TO_ONE: 'One.',
});

enumType('FieldDeletionRule', 'What becomes of a record whose target is deleted.', {
  CASCADE: 'It is deleted too.',
  RESTRICT: 'It keeps its target from being deleted.',
  SET_NULL: 'It refers to none.',
});

const FieldAction = enumType('FieldAction', 'What was done to bring a field in line.', {
  CREATE: 'It was made.',
  UPDATE: 'It was changed.',
  NONE: 'Nothing: it is as defined already, or the provider refused.',
});

const FieldUpsert = builder.objectRef<DefinedObject['fields'][number]>('FieldUpsert').implement({
  description: 'What has become of one definition of a field.',
  fields: (t) => ({
    fieldName: t.exposeString('fieldName', { description: "The provider's name of the field." }),
    action: t.expose('action', {
      type: FieldAction,
      description: 'Whether it was made, changed or left.',
    }),
    error: t.exposeString('error', {
      nullable: true,
      description: 'Why the field is not as defined, for people; null if it is.',
    }),
    warnings: t.exposeStringList('warnings', {
      description: 'What people should know of a field that is as defined.',
    }),
    metadata: t.field({
      type: 'JSONObject',
      nullable: true,
      description: 'The field as the provider describes it; null if it is not there.',
      resolve: ({ metadata }) => metadata,
    }),
  }),
});

const ObjectUpsert = builder.objectRef<DefinedObject>('ObjectUpsert').implement({
  description: 'What has become of the definitions of fields of one object.',
  fields: (t) => ({
    objectName: t.exposeString('objectName', { description: "The provider's name of the object." }),
    fields: t.expose('fields', {
      type: [FieldUpsert],
      description: 'One for each definition, in the order given.',
    }),
  }),
});

function payload(mutation: string) {
  const name = `${mutation.charAt(0).toUpperCase()}${mutation.slice(1)}Payload`;
  return builder.objectRef<DefinedObject[]>(name).implement({
    description: resultOf(mutation),
    fields: (t) => ({
      success: t.boolean({
        description: 'Whether every field is as defined.',
        resolve: isDone,
      }),
      objects: t.field({
        type: [ObjectUpsert],
        description: 'One for each object, in the order given.',
        resolve: (objects) => objects,
      }),
    }),
  });
}

function isDone(objects: DefinedObject[]): boolean {
  return objects.every(({ fields }) => fields.every(({ error }) => error === null));
}

builder.mutationFields((t) => ({
  upsertObjectMetadata: mutationField(t, upsertObjectMetadata, payload('upsertObjectMetadata')),
  upsertInstalledObjectMetadata: mutationField(
    t,
    upsertInstalledObjectMetadata,
    payload('upsertInstalledObjectMetadata'),
  ),
}));
