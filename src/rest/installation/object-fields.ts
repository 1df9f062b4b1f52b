/** Fields that callers define, in the reference API's form: by object, and in responses by name. */
import { z } from 'zod';
import { objectFields } from '../../domain/installation/field-definition.ts';
import {
  type DefinedObject,
  upsertInstalledObjectMetadata,
  upsertObjectMetadata,
} from '../../domain/installation/object-fields.ts';
import { mutationEndpoint } from '../endpoint/mutation-endpoint.ts';
import type { Place } from '../endpoint/places.ts';
import { wireForm } from '../endpoint/wire-form.ts';
import { wordOf, words } from '../endpoint/words.ts';
import { resource } from '../openapi/schemas.ts';

const tag = 'Object metadata';

const wireFields = z
  .record(z.string(), objectFields.shape.fields)
  .describe('The fields to make or to bring in line, by the names of their objects.');

const fields: Place = {
  in: 'body',
  name: 'fields',
  form: wireForm<z.output<typeof wireFields>>({
    schema: wireFields,
    toDomain: (wire) =>
      Object.entries(wire).map(([objectName, defined]) => ({ objectName, fields: defined })),
    placeIn: (wire, place) => {
      const [, at, rest = ''] = /^\[(\d+)\](?:\.fields|\.objectName)?(.*)$/s.exec(place) ?? [];
      const name = Object.keys(wire ?? {})[Number(at)];
      return name === undefined ? place : `.${name}${rest}`;
    },
  }),
};

const fieldUpsert = z
  .object({
    fieldName: z.string().describe("The provider's name of the field."),
    action: words('FieldAction', ['CREATE', 'UPDATE', 'NONE']).describe(
      'What was done: `none` also if the provider refused, which `warnings` tell.',
    ),
    metadata: z
      .record(z.string(), z.unknown())
      .optional()
      .describe('The field as the provider describes it; left out if it is not there.'),
    warnings: z
      .array(z.string())
      .optional()
      .describe('Why the field is not as defined, or what is to be known of it.'),
  })
  .describe('What has become of one definition.');

const upsertResult = resource('ObjectMetadataUpsert', 'What has become of the definitions.', {
  success: z.boolean().describe('Whether every field is as defined.'),
  fields: z
    .record(z.string(), z.record(z.string(), fieldUpsert))
    .describe('By the names of the objects, and of the fields.'),
});

function showUpsert(objects: DefinedObject[]) {
  const all = objects.flatMap((object) => object.fields);
  return {
    success: all.every(({ error }) => error === null),
    fields: Object.fromEntries(
      objects.map((object) => [
        object.objectName,
        Object.fromEntries(object.fields.map((one) => [one.fieldName, showField(one)])),
      ]),
    ),
  };
}

function showField({
  fieldName,
  action,
  error,
  warnings,
  metadata,
}: DefinedObject['fields'][number]) {
  const told = error === null ? warnings : [error, ...warnings];
  return {
    fieldName,
    action: wordOf('FieldAction', action),
    metadata: metadata ?? undefined,
    warnings: told.length > 0 ? told : undefined,
  };
}

export const defineFieldsEndpoints = [
  mutationEndpoint({
    id: 'upsertObjectMetadata',
    method: 'PUT',
    path: '/projects/{projectIdOrName}/providers/{provider}/object-metadata',
    tag,
    mutation: upsertObjectMetadata,
    places: { objects: fields },
    status: 200,
    output: upsertResult,
    show: showUpsert,
  }),
  mutationEndpoint({
    id: 'upsertInstalledObjectMetadata',
    method: 'PUT',
    path: '/projects/{projectIdOrName}/integrations/{integrationId}/object-metadata',
    tag,
    description:
      "Objects may have the provider's names, or those that the integration maps them to.",
    mutation: upsertInstalledObjectMetadata,
    places: { integrationIdOrName: { in: 'path', name: 'integrationId' }, objects: fields },
    status: 200,
    output: upsertResult,
    show: showUpsert,
  }),
];
