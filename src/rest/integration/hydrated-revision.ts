/** Revisions with the names and fields of one account, for pages on which people choose fields. */
import { z } from 'zod';
import { unnamedFields } from '../../domain/contract/contract-fields.ts';
import type { FieldDescription } from '../../domain/installation/object-metadata.ts';
import { showField } from '../../domain/installation/shown-field.ts';
import {
  getHydratedRevision,
  type HydratedObject,
  type HydratedRevision,
  hydratedRevisionInput,
} from '../../domain/integration/hydrated-revision.ts';
import {
  contentOf,
  type FieldMapping,
  type ReadObject,
  type WriteObject,
} from '../../domain/integration/integration-content.ts';
import { readEndpoint } from '../endpoint/read-endpoint.ts';
import { fieldMetadata } from '../installation/object-metadata.ts';
import { withoutNulls } from '../openapi/response-schema.ts';
import { resource } from '../openapi/schemas.ts';
import { content, revision, showRevision } from './revision.ts';

const displayName = z.string().describe('The name that people see.');

const field = resource(
  'HydratedField',
  'A field that exists, with fieldName, or a name that an installation maps a field to.',
  {
    fieldName: z.string().optional().describe("The provider's name of the field."),
    displayName: displayName.optional().describe('Always there beside fieldName.'),
    mapToName: z.string().optional().describe("The builder's own name of the field."),
    mapToDisplayName: displayName.optional(),
    default: z
      .string()
      .optional()
      .describe("Only without fieldName: the provider's field until an installation maps another."),
    prompt: z
      .string()
      .optional()
      .describe('Only without fieldName: what people are told when they map it.'),
  },
);

const error = z
  .string()
  .optional()
  .describe('Why the object could not be described; left out if it could.');

const { read, write } = content.shape as Record<'read' | 'write', z.ZodOptional<z.ZodObject>>;
const objectOf = (part: typeof read) =>
  (part.unwrap().shape.objects as z.ZodArray<z.ZodObject>).element;

const readObject = objectOf(read).extend({
  displayName,
  error,
  requiredFields: z.array(field).describe('The fields that every installation reads.'),
  optionalFields: z
    .array(field)
    .describe('The fields that an installation may select; with optionalFieldsAuto, all others.'),
  allFields: z.array(field).optional().describe('All fields that the account has.'),
  allFieldsMetadata: z
    .record(z.string(), fieldMetadata)
    .optional()
    .describe('All fields that the account has, by name.'),
});

const hydratedContent = content
  .extend({
    read: z
      .object({ objects: z.array(readObject).describe('The objects.') })
      .optional()
      .describe('The objects that are read.'),
    write: z
      .object({
        objects: z.array(objectOf(write).extend({ displayName, error })).describe('The objects.'),
      })
      .optional()
      .describe('The objects that may be written.'),
  })
  .describe('The content, with what the account has.');

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

function showHydrated({ revision: row, objects }: HydratedRevision) {
  const { read: reads, write: writes } = contentOf(row);
  const shown = showRevision(row);
  const found = (name: string) => objects.get(name) as HydratedObject;
  return {
    ...shown,
    content: {
      ...shown.content,
      read: reads
        ? { objects: reads.objects.map((one) => showReadObject(one, found(one.objectName))) }
        : undefined,
      write: writes
        ? { objects: writes.objects.map((one) => showNamed(one, found(one.objectName))) }
        : undefined,
    },
  };
}

function showReadObject(spec: ReadObject, found: HydratedObject) {
  const fields = 'error' in found ? [] : found.fields;
  const names = new Map(fields.map((one) => [one.fieldName, one.displayName ?? one.fieldName]));
  const named = (mapping: FieldMapping) => showMapping(mapping, names);
  const others = unnamedFields(spec, fields);
  return {
    ...showNamed(spec, found),
    schedule: spec.schedule ?? '',
    requiredFields: spec.requiredFields.map(named),
    optionalFields: [...spec.optionalFields.map(named), ...others.map(showExistent)],
    ...('error' in found
      ? {}
      : {
          allFields: fields.map(showExistent),
          allFieldsMetadata: Object.fromEntries(
            fields.map((one) => [one.fieldName, showField(one)]),
          ),
        }),
  };
}

function showExistent({ fieldName, displayName: shown }: FieldDescription) {
  return { fieldName, displayName: shown ?? fieldName };
}

function showMapping(mapping: FieldMapping, names: ReadonlyMap<string, string>) {
  const { fieldName } = mapping;
  const shown = fieldName === null ? undefined : (names.get(fieldName) ?? fieldName);
  return { ...(withoutNulls(mapping) as z.input<typeof field>), displayName: shown };
}

function showNamed(spec: ReadObject | WriteObject, found: HydratedObject) {
  const own = 'mapToDisplayName' in spec ? spec.mapToDisplayName : null;
  const said = 'error' in found ? { error: found.error } : {};
  const shown = own ?? ('error' in found ? null : found.displayName) ?? spec.objectName;
  return { ...(withoutNulls(spec) as object), ...said, displayName: shown };
}
