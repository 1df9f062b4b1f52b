/** Revisions with the names and fields of one account, for pages on which people choose fields. */
import { z } from 'zod';
import { resource } from '../../../domain/base/resource.ts';
import { listUnnamedFields } from '../../../domain/data/contract/named-fields.ts';
import { fieldMetadataResource } from '../../../domain/integrations/installation/shown-field.ts';
import {
  getHydratedRevision,
  type HydratedObject,
  type HydratedRevision,
  hydratedRevisionInput,
} from '../../../domain/integrations/integration/hydrated-revision.ts';
import {
  type FieldMapping,
  integrationContentResource,
  type ReadObject,
  readIntegrationContent,
  readObjectResource,
  type WriteObject,
  writeObjectResource,
} from '../../../domain/integrations/integration/integration-content.ts';
import { revisionResource } from '../../../domain/integrations/integration/revision.ts';
import { integrationInPath } from '../../endpoint/request-form.ts';
import { readEndpoint } from '../../endpoint/resource-endpoints.ts';
import { schedule } from './revision.ts';

const displayName = z.string().describe('The display name.');

const field = resource(
  'HydratedField',
  'A field that exists, with fieldName, or a name that an installation maps a field to.',
  {
    fieldName: z.string().nullable().describe("The provider's name of the field."),
    displayName: displayName.nullable().describe('Present with fieldName.'),
    mapToName: z.string().nullable().describe("The builder's own name of the field."),
    mapToDisplayName: displayName.nullable(),
    default: z
      .string()
      .nullable()
      .describe("Only without fieldName: the provider's field until an installation maps another."),
    prompt: z
      .string()
      .nullable()
      .describe(
        'Only without fieldName: the prompt that people see when they map a field to mapToName.',
      ),
  },
);

const error = z
  .string()
  .nullable()
  .describe('Why the object could not be described. Absent if it was described.');

const readObject = z.object({
  ...readObjectResource.shape,
  schedule,
  displayName,
  error,
  requiredFields: z.array(field).describe('The fields that every installation reads.'),
  optionalFields: z
    .array(field)
    .describe(
      'The fields that an installation may select. With optionalFieldsAuto, includes all other fields of the account.',
    ),
  allFields: z.array(field).nullable().describe('All fields that the account has.'),
  allFieldsMetadata: z
    .record(z.string(), fieldMetadataResource)
    .nullable()
    .describe('All fields that the account has, by name.'),
});

const writeObject = z.object({ ...writeObjectResource.shape, displayName, error });

const hydratedRevision = resource(
  'HydratedRevision',
  'The revision, with the names and fields that the account of a connection has.',
  {
    ...revisionResource.shape,
    content: z
      .object({
        ...integrationContentResource.shape,
        read: z
          .object({ objects: z.array(readObject).describe('The objects.') })
          .nullable()
          .describe('The objects that are read.'),
        write: z
          .object({ objects: z.array(writeObject).describe('The objects.') })
          .nullable()
          .describe('The objects that may be written.'),
      })
      .describe('The content, with the objects and fields of the account.'),
  },
);

export const hydratedRevisionEndpoint = readEndpoint({
  id: 'getHydratedRevision',
  path: '/projects/{projectIdOrName}/integrations/{integrationId}/revisions/{revisionId}:hydrate',
  tag: 'Integrations',
  input: hydratedRevisionInput,
  locations: integrationInPath,
  read: getHydratedRevision,
  resource: hydratedRevision,
  show: hydrate,
});

function hydrate({ revision, objects }: HydratedRevision) {
  const content = readIntegrationContent(revision);
  const { read, write } = content;
  const getObject = (name: string) => objects.get(name) as HydratedObject;
  return {
    ...revision,
    content: {
      ...content,
      read: read && {
        objects: read.objects.map((spec) => hydrateReadObject(spec, getObject(spec.objectName))),
      },
      write: write && {
        objects: write.objects.map((spec) => ({
          ...spec,
          ...describeObject(spec, getObject(spec.objectName)),
        })),
      },
    },
  };
}

function hydrateReadObject(spec: ReadObject, object: HydratedObject) {
  const fields = 'error' in object ? [] : object.fields;
  const accountFields = fields.map(({ fieldName, displayName }) => ({
    fieldName,
    displayName: displayName ?? fieldName,
  }));
  const names = new Map(
    accountFields.map(({ fieldName, displayName }) => [fieldName, displayName]),
  );
  const addDisplayName = (mapping: FieldMapping) => {
    const { fieldName } = mapping;
    return { ...mapping, displayName: fieldName && (names.get(fieldName) ?? fieldName) };
  };
  const unnamedFieldNames = new Set(
    listUnnamedFields(spec, fields).map(({ fieldName }) => fieldName),
  );
  return {
    ...spec,
    ...describeObject(spec, object),
    requiredFields: spec.requiredFields.map(addDisplayName),
    optionalFields: [
      ...spec.optionalFields.map(addDisplayName),
      ...accountFields.filter(({ fieldName }) => unnamedFieldNames.has(fieldName)),
    ],
    ...(!('error' in object) && {
      allFields: accountFields,
      allFieldsMetadata: Object.fromEntries(fields.map((field) => [field.fieldName, field])),
    }),
  };
}

function describeObject(spec: ReadObject | WriteObject, object: HydratedObject) {
  const mappedDisplayName = 'mapToDisplayName' in spec ? spec.mapToDisplayName : null;
  const displayName =
    mappedDisplayName ?? ('error' in object ? null : object.displayName) ?? spec.objectName;
  return { displayName, error: 'error' in object ? object.error : null };
}
