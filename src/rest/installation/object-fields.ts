/** Fields that callers define, in the reference API's form: by object, and in responses by name. */
import { z } from 'zod';
import { objectFields } from '../../domain/installation/field-definition.ts';
import {
  areDefined,
  type DefinedObject,
  fieldUpsertResource,
  upsertInstalledObjectMetadata,
  upsertObjectMetadata,
} from '../../domain/installation/object-fields.ts';
import type { RestRequest } from '../endpoint/endpoint.ts';
import { mutationEndpoint } from '../endpoint/mutation-endpoint.ts';
import type { Place } from '../endpoint/places.ts';
import { wireForm } from '../endpoint/wire-form.ts';
import { resource } from '../openapi/schemas.ts';
import { responseOf, showResource } from '../openapi/shown-resource.ts';

const tag = 'Object metadata';

const wireFields = z
  .record(z.string(), objectFields.shape.fields)
  .describe('The fields to create or update, by the names of their objects.');

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

/** The reason of a failure is the first of the warnings. */
const fieldUpsert = responseOf(fieldUpsertResource, ({ error, ...shape }) => ({
  ...shape,
  warnings: z
    .array(z.string())
    .optional()
    .describe('Why the field is not as defined, and notes for people about it. Absent if empty.'),
}));

const upsertResult = resource('ObjectMetadataUpsert', 'The outcomes of the definitions.', {
  success: z.boolean().describe('Whether every field is as defined.'),
  fields: z
    .record(z.string(), z.record(z.string(), fieldUpsert))
    .describe('The outcomes, by the names of the objects and of the fields.'),
});

function showUpsert(objects: DefinedObject[], request: RestRequest) {
  const byField = ({ fields: defined }: DefinedObject) =>
    defined.map((field) => [field.fieldName, showField(field, request)]);
  return {
    success: areDefined(objects),
    fields: Object.fromEntries(
      objects.map((object) => [object.objectName, Object.fromEntries(byField(object))]),
    ),
  };
}

function showField(field: DefinedObject['fields'][number], request: RestRequest) {
  const { error, warnings } = field;
  const all = error === null ? warnings : [error, ...warnings];
  return {
    ...showResource(fieldUpsertResource, field, request),
    warnings: all.length > 0 ? all : undefined,
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
