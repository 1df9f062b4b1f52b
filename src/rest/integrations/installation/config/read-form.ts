/** The choices for an object to read, in the reference API's form. */
import { z } from 'zod';
import { boundedName } from '../../../../domain/base/names.ts';
import type { FieldFilter } from '../../../../domain/integrations/installation/choice/field-filter.ts';
import type {
  BackfillConfig,
  ParsedRead,
  ReadConfigInput,
} from '../../../../domain/integrations/installation/choice/installation-config-input.ts';
import type { BackfillPeriod } from '../../../../domain/integrations/integration/backfill-period.ts';
import type { Path } from '../../../../kernel/text.ts';
import {
  byName,
  type Json,
  list,
  members,
  merge,
  nested,
  only,
  optional,
  same,
  unlessEmpty,
  word,
} from '../../../endpoint/form.ts';

const fieldFilters = list(
  members<FieldFilter>({
    fieldName: boundedName.describe("The provider's name of the field."),
    operator: word(z.enum(['eq']).describe('Always `eq`: equal.')),
    value: z.union([z.string(), z.number(), z.boolean()]).describe('The value of the field.'),
  }),
);

const period = members<BackfillPeriod>({
  days: z.int().min(0).optional().describe('The days before now that the first read covers.'),
  fullHistory: z.boolean().optional().describe('If true, the first read covers all records.'),
});

/** Accepts `fullHistory: false` next to the days, because clients send it. */
function decodePeriod(wire: unknown): Json {
  const { days, fullHistory } = wire as { days?: number; fullHistory?: boolean };
  return { days, fullHistory: fullHistory === false && days !== undefined ? null : fullHistory };
}

const backfill = merge(
  nested('defaultPeriod', { ...period, decode: decodePeriod }, (schema) =>
    schema.describe('Exactly one of days and fullHistory.'),
  ),
  members<Pick<BackfillConfig, 'fieldFilters'>>({
    fieldFilters: optional(
      fieldFilters,
      "Conditions on fields, for the first read. Default: the object's fieldFilters.",
    ),
  }),
);

/** Only the period has problems of its own. */
const locateInBackfill = (wire: unknown, path: Path) =>
  path.length === 0 ? ['defaultPeriod'] : backfill.locate(wire, path);

const dynamicMapping = members<ParsedRead['dynamicMappings'][number]>({
  mapToName: boundedName.describe("The builder's name of the field."),
  mapToDisplayName: boundedName.optional().describe('The name that people see.'),
  prompt: z.string().optional().describe('The prompt that people see when they map the name.'),
  fieldName: boundedName
    .optional()
    .describe("The provider's field, unless selectedFieldMappings has another."),
  mappedValues: optional(
    list(
      same(
        z.strictObject({
          mappedValue: boundedName.describe("The builder's value."),
          mappedDisplayValue: boundedName.describe('The value as people see it.'),
        }),
      ),
    ),
    'The values that pages offer for mapping.',
  ),
});

/** The names of the fields, each with true. */
const selectedFields = {
  schema: z.record(boundedName, z.boolean()),
  decode: listSelectedFields,
  encode: (names: unknown) => Object.fromEntries((names as string[]).map((name) => [name, true])),
  locate: (wire: unknown, [index]: Path) =>
    index === undefined ? [] : [listSelectedFields(wire)[Number(index)] ?? index],
};

function listSelectedFields(wire: unknown = {}): string[] {
  const fields = wire as Json;
  return Object.keys(fields).filter((name) => fields[name]);
}

/** Pages send a value without a mapping as an empty string. */
const mappedValues = byName(
  'deliveredValue',
  only('providerValue', same(z.string().max(256))),
  (providerValue) => providerValue !== '',
);

export const readForm = members<Omit<ReadConfigInput, 'objectName'>>({
  selectedFields: optional(
    selectedFields,
    'The fields to read, each with true. Default: the fields that are read without a config.',
  ),
  fieldMappings: [
    'selectedFieldMappings',
    optional(
      byName('mapToName', only('fieldName', same(boundedName))),
      "The provider's field for each name that the integration lets people map.",
    ),
  ],
  selectedFieldsAuto: word(
    z
      .enum(['all'])
      .optional()
      .describe('`all`: every field that may be selected is read. Default: only selectedFields.'),
  ),
  schedule: z
    .string()
    .max(256)
    .optional()
    .describe(
      "A cron expression of five fields, in UTC, that replaces the integration's schedule. If empty, the integration's schedule applies.",
    ),
  destination: boundedName
    .optional()
    .describe("The name of a destination of the project that replaces the integration's."),
  disabled: z.boolean().optional().describe('If true, the object is not read. Default: false.'),
  backfill: optional(
    { ...backfill, locate: locateInBackfill },
    "How far back the first read goes. Default: the integration's setting.",
  ),
  valueMappings: [
    'selectedValueMappings',
    optional(
      unlessEmpty(byName('fieldName', only('values', mappedValues))),
      "Maps, for each field, each delivered value to the provider's value that it replaces. Other values are unchanged.",
    ),
  ],
  dynamicMappings: [
    'dynamicMappingsInput',
    optional(list(dynamicMapping), "Names to map in addition to the integration's names."),
  ],
  fieldFilters: optional(
    fieldFilters,
    'Only records that meet all conditions are read. Default: all records.',
  ),
});
