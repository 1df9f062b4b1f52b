/**
 * Fields that callers define, in the reference API's form. Requests group fields by object. Responses group them by
 * object and by field name.
 */
import { z } from 'zod';
import { computed, resource } from '../../../domain/base/resource.ts';
import { objectFields } from '../../../domain/integrations/installation/field-definition.ts';
import {
  areDefined,
  type DefinedObject,
  fieldUpsertResource,
  upsertInstalledObjectMetadata,
  upsertObjectMetadata,
} from '../../../domain/integrations/installation/object-fields.ts';
import { byName, only, same } from '../../endpoint/form.ts';
import { integrationInPath, type Location } from '../../endpoint/request-form.ts';
import { mutationEndpoint } from '../../endpoint/resource-endpoints.ts';
import { extendResource } from '../../openapi/response-form.ts';

const tag = 'Object metadata';

const wireFields = z
  .record(z.string(), objectFields.shape.fields)
  .describe('The fields to create or update, by the names of their objects.');

const fields: Location = {
  in: 'body',
  name: 'fields',
  form: {
    ...byName('objectName', only('fields', same(objectFields.shape.fields))),
    schema: wireFields,
  },
};

type DefinedField = DefinedObject['fields'][number];

/** REST reports the error of a field as its first warning. */
const fieldUpsert = extendResource(fieldUpsertResource, {
  error: null,
  warnings: computed(
    z
      .array(z.string())
      .nullable()
      .describe(
        'Human-readable reasons why the field is not as defined, and notes about it. Absent if empty.',
      ),
    ({ error, warnings }: DefinedField) => {
      const allWarnings = error === null ? warnings : [error, ...warnings];
      return allWarnings.length > 0 ? allWarnings : null;
    },
  ),
});

const upsertResult = resource('ObjectMetadataUpsert', 'The outcomes of the definitions.', {
  success: computed(z.boolean().describe('Whether every field is as defined.'), areDefined),
  fields: computed(
    z
      .record(z.string(), z.record(z.string(), fieldUpsert))
      .describe('The outcomes, by the names of the objects and of the fields.'),
    (objects: readonly DefinedObject[]) =>
      Object.fromEntries(
        objects.map(({ objectName, fields }) => [
          objectName,
          Object.fromEntries(fields.map((field) => [field.fieldName, field])),
        ]),
      ),
  ),
});

export const objectFieldsEndpoints = [
  mutationEndpoint({
    id: 'upsertObjectMetadata',
    method: 'PUT',
    path: '/projects/{projectIdOrName}/providers/{provider}/object-metadata',
    tag,
    mutation: upsertObjectMetadata,
    locations: { objects: fields },
    status: 200,
    resource: upsertResult,
  }),
  mutationEndpoint({
    id: 'upsertInstalledObjectMetadata',
    method: 'PUT',
    path: '/projects/{projectIdOrName}/integrations/{integrationId}/object-metadata',
    tag,
    description:
      "Accepts the provider's names of objects, and the names that the integration maps them to.",
    mutation: upsertInstalledObjectMetadata,
    locations: { ...integrationInPath, objects: fields },
    status: 200,
    resource: upsertResult,
  }),
];
