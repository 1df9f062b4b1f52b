/** Revisions with the names and fields of one account, for pages on which people choose fields. */
import { z } from 'zod';
import { unnamedFields } from '../../domain/contract/contract-fields.ts';
import type { FieldDescription } from '../../domain/installation/object-metadata.ts';
import { fieldMetadataResource } from '../../domain/installation/shown-field.ts';
import {
  getHydratedRevision,
  type HydratedObject,
  type HydratedRevision,
  hydratedRevisionInput,
} from '../../domain/integration/hydrated-revision.ts';
import {
  type FieldMapping,
  fieldMappingResource,
  type ReadObject,
  readIntegrationContent,
  type WriteObject,
  writeObjectResource,
} from '../../domain/integration/integration-content.ts';
import type { RestRequest } from '../endpoint/endpoint.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { resource } from '../openapi/schemas.ts';
import { responseOf, showResource } from '../openapi/shown-resource.ts';
import { content, readObject, revision, showReadObject, showRevision } from './revision.ts';

const displayName = z.string().describe('The display name.');

const field = resource(
  'HydratedField',
  'A field that exists, with fieldName, or a name that an installation maps a field to.',
  {
    fieldName: z.string().optional().describe("The provider's name of the field."),
    displayName: displayName.optional().describe('Present with fieldName.'),
    mapToName: z.string().optional().describe("The builder's own name of the field."),
    mapToDisplayName: displayName.optional(),
    default: z
      .string()
      .optional()
      .describe("Only without fieldName: the provider's field until an installation maps another."),
    prompt: z
      .string()
      .optional()
      .describe('Only without fieldName: the prompt that people see when they map it.'),
  },
);

const error = z
  .string()
  .optional()
  .describe('Why the object could not be described. Absent if it could.');

const hydratedReadObject = readObject.extend({
  displayName,
  error,
  requiredFields: z.array(field).describe('The fields that every installation reads.'),
  optionalFields: z
    .array(field)
    .describe('The fields that an installation may select; with optionalFieldsAuto, all others.'),
  allFields: z.array(field).optional().describe('All fields that the account has.'),
  allFieldsMetadata: z
    .record(z.string(), responseOf(fieldMetadataResource))
    .optional()
    .describe('All fields that the account has, by name.'),
});

const hydratedContent = content
  .extend({
    read: z
      .object({ objects: z.array(hydratedReadObject).describe('The objects.') })
      .optional()
      .describe('The objects that are read.'),
    write: z
      .object({
        objects: z
          .array(responseOf(writeObjectResource).extend({ displayName, error }))
          .describe('The objects.'),
      })
      .optional()
      .describe('The objects that may be written.'),
  })
  .describe('The content, with the objects and fields of the account.');

const hydratedRevision = resource(
  'HydratedRevision',
  'The revision, with the names and fields that the account of a connection has.',
  { ...revision.shape, content: hydratedContent },
);

export const hydratedRevisionEndpoint = readEndpoint({
  id: 'getHydratedRevision',
  path: '/projects/{projectIdOrName}/integrations/{integrationId}/revisions/{revisionId}:hydrate',
  tag: 'Integrations',
  input: hydratedRevisionInput,
  places: { integrationIdOrName: { in: 'path', name: 'integrationId' } },
  read: getHydratedRevision,
  output: hydratedRevision,
  show: showHydrated,
});

function showHydrated({ revision: row, objects }: HydratedRevision, request: RestRequest) {
  const { read, write } = readIntegrationContent(row);
  const shown = showRevision(row, request);
  const found = (name: string) => objects.get(name) as HydratedObject;
  return {
    ...shown,
    content: {
      ...shown.content,
      read: read
        ? {
            objects: read.objects.map((one) =>
              showHydratedRead(one, found(one.objectName), request),
            ),
          }
        : undefined,
      write: write
        ? {
            objects: write.objects.map((one) => ({
              ...showResource(writeObjectResource, one, request),
              ...nameAndError(one, found(one.objectName)),
            })),
          }
        : undefined,
    },
  };
}

function showHydratedRead(spec: ReadObject, found: HydratedObject, request: RestRequest) {
  const fields = 'error' in found ? [] : found.fields;
  const names = new Map(fields.map((one) => [one.fieldName, one.displayName ?? one.fieldName]));
  const named = (mapping: FieldMapping) => showMapping(mapping, names, request);
  const others = unnamedFields(spec, fields);
  return {
    ...showReadObject(spec, request),
    ...nameAndError(spec, found),
    requiredFields: spec.requiredFields.map(named),
    optionalFields: [...spec.optionalFields.map(named), ...others.map(showExistent)],
    ...('error' in found
      ? {}
      : {
          allFields: fields.map(showExistent),
          allFieldsMetadata: Object.fromEntries(
            fields.map((one) => [one.fieldName, showResource(fieldMetadataResource, one, request)]),
          ),
        }),
  };
}

function showExistent({ fieldName, displayName: shown }: FieldDescription) {
  return { fieldName, displayName: shown ?? fieldName };
}

function showMapping(
  mapping: FieldMapping,
  names: ReadonlyMap<string, string>,
  request: RestRequest,
) {
  const { fieldName } = mapping;
  const shown = fieldName === null ? undefined : (names.get(fieldName) ?? fieldName);
  return { ...showResource(fieldMappingResource, mapping, request), displayName: shown };
}

function nameAndError(spec: ReadObject | WriteObject, found: HydratedObject) {
  const own = 'mapToDisplayName' in spec ? spec.mapToDisplayName : null;
  const shown = own ?? ('error' in found ? null : found.displayName) ?? spec.objectName;
  return { displayName: shown, error: 'error' in found ? found.error : undefined };
}
