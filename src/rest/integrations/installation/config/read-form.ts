/** The choices for an object to read, in the reference API's form. */
import { z } from 'zod';
import { boundedName } from '../../../../domain/base/names.ts';
import type { ReadConfigInput } from '../../../../domain/integrations/installation/choice/installation-config-input.ts';
import type { ReadConfig } from '../../../../domain/integrations/installation/installation-config.ts';
import type { Path } from '../../../../kernel/text.ts';
import type { ObjectForm } from './object-form.ts';

const fieldFilters = z.array(
  z.strictObject({
    fieldName: boundedName.describe("The provider's name of the field."),
    operator: z.enum(['eq']).describe('Always `eq`: equal.'),
    value: z.union([z.string(), z.number(), z.boolean()]).describe('The value of the field.'),
  }),
);

const period = z
  .strictObject({
    days: z.int().min(0).optional().describe('The days before now that the first read covers.'),
    fullHistory: z.boolean().optional().describe('If true, the first read covers all records.'),
  })
  .describe('Exactly one of days and fullHistory.');

const dynamicMapping = z.strictObject({
  mapToName: boundedName.describe("The builder's name of the field."),
  mapToDisplayName: boundedName.optional().describe('The name that people see.'),
  prompt: z.string().optional().describe('The prompt that people see when they map the name.'),
  fieldName: boundedName
    .optional()
    .describe("The provider's field, unless selectedFieldMappings has another."),
  mappedValues: z
    .array(
      z.strictObject({
        mappedValue: boundedName.describe("The builder's value."),
        mappedDisplayValue: boundedName.describe('The value as people see it.'),
      }),
    )
    .optional()
    .describe('The values that pages offer for mapping.'),
});

/** Pages send a value without a mapping as an empty string. */
const valueMappings = z.record(boundedName, z.record(boundedName, z.string().max(256)));

const selectedFields = z
  .record(boundedName, z.boolean())
  .describe(
    'The fields to read, each with true. Default: the fields that are read without a config.',
  );
const selectedFieldMappings = z
  .record(boundedName, boundedName)
  .describe("The provider's field for each name that the integration lets people map.");

const optionalMembers = {
  selectedFieldsAuto: z
    .enum(['all'])
    .optional()
    .describe('`all`: every field that may be selected is read. Default: only selectedFields.'),
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
  backfill: z
    .strictObject({
      defaultPeriod: period,
      fieldFilters: fieldFilters
        .optional()
        .describe("Conditions on fields, for the first read. Default: the object's fieldFilters."),
    })
    .optional()
    .describe("How far back the first read goes. Default: the integration's setting."),
  selectedValueMappings: valueMappings
    .optional()
    .describe(
      "Maps, for each field, each delivered value to the provider's value that it replaces. Other values are unchanged.",
    ),
  dynamicMappingsInput: z
    .array(dynamicMapping)
    .optional()
    .describe("Names to map in addition to the integration's names."),
  fieldFilters: fieldFilters
    .optional()
    .describe('Only records that meet all conditions are read. Default: all records.'),
};

const request = z.strictObject({
  selectedFields: selectedFields.optional(),
  selectedFieldMappings: selectedFieldMappings.optional(),
  ...optionalMembers,
});

type Wire = z.output<typeof request>;

export const readForm: ObjectForm<Wire, ReadConfigInput, ReadConfig> = {
  request: request.shape,
  response: { selectedFields, selectedFieldMappings, ...optionalMembers },

  decode: ({ selectedFieldMappings: mappings, ...wire }) => ({
    selectedFields: wire.selectedFields && listSelectedFields(wire.selectedFields),
    selectedFieldsAuto: wire.selectedFieldsAuto && 'ALL',
    fieldMappings:
      mappings &&
      Object.entries(mappings).map(([mapToName, fieldName]) => ({ mapToName, fieldName })),
    dynamicMappings: wire.dynamicMappingsInput,
    valueMappings: Object.entries(wire.selectedValueMappings ?? {}).map(([fieldName, values]) => ({
      fieldName,
      values: listMappedValues(values).map(([deliveredValue, providerValue]) => ({
        deliveredValue,
        providerValue,
      })),
    })),
    fieldFilters: parseFilters(wire.fieldFilters),
    schedule: wire.schedule,
    destination: wire.destination,
    disabled: wire.disabled,
    backfill: parseBackfill(wire.backfill),
  }),

  /** Omits members that were not chosen, because the integration's values apply. */
  encode: ({ valueMappings = [], dynamicMappings = [], backfill, ...choice }) => ({
    selectedFields: Object.fromEntries(choice.selectedFields.map((name) => [name, true])),
    selectedFieldsAuto: choice.selectedFieldsAuto ? 'all' : undefined,
    selectedFieldMappings: Object.fromEntries(
      choice.fieldMappings.map(({ mapToName, fieldName }) => [mapToName ?? '', fieldName ?? '']),
    ),
    schedule: choice.schedule ?? undefined,
    destination: choice.destination ?? undefined,
    disabled: choice.disabled,
    backfill: backfill ? showBackfill(backfill) : undefined,
    selectedValueMappings: valueMappings.length > 0 ? showValues(valueMappings) : undefined,
    dynamicMappingsInput:
      dynamicMappings.length > 0 ? dynamicMappings.map(showDynamicMapping) : undefined,
    fieldFilters: showFilters(choice.fieldFilters),
  }),

  /** Maps the item of a list to the member with its name: `selectedFields[1]` to `selectedFields.phone`. */
  locate(wire, path) {
    const [member, index, ...inside] = path;
    if (member === 'valueMappings') return locateValue(wire, path);
    if (member === 'dynamicMappings') return ['dynamicMappingsInput', ...path.slice(1)];
    if (member === 'selectedFields' && typeof index === 'number') {
      return [member, listSelectedFields(wire.selectedFields ?? {})[index] ?? index];
    }
    if (member === 'fieldMappings') {
      const names = Object.keys(wire.selectedFieldMappings ?? {});
      return [
        'selectedFieldMappings',
        ...(typeof index === 'number' ? [names[index] ?? index] : []),
      ];
    }
    if (member !== 'backfill' || index === 'fieldFilters') return path;
    return ['backfill', 'defaultPeriod', ...(index === undefined ? [] : [index, ...inside])];
  },
};

function listSelectedFields(fields: Record<string, boolean>): string[] {
  return Object.keys(fields).filter((name) => fields[name]);
}

/** Omits values without a mapping, which have an empty string. */
function listMappedValues(values: Record<string, string>): [string, string][] {
  return Object.entries(values).filter(([, providerValue]) => providerValue !== '');
}

function showValues(mappings: NonNullable<ReadConfig['valueMappings']>) {
  return Object.fromEntries(
    mappings.map(({ fieldName, values }) => [
      fieldName,
      Object.fromEntries(values.map((value) => [value.deliveredValue, value.providerValue])),
    ]),
  );
}

/** Maps `valueMappings[0].values[1].providerValue` to `selectedValueMappings.stage.open`. */
function locateValue({ selectedValueMappings = {} }: Wire, path: Path): Path {
  const [, fieldIndex, , valueIndex] = path;
  const [name, values = {}] = Object.entries(selectedValueMappings)[Number(fieldIndex)] ?? [];
  if (name === undefined) return path;
  const [deliveredValue] = listMappedValues(values)[Number(valueIndex)] ?? [];
  return ['selectedValueMappings', name, ...(deliveredValue === undefined ? [] : [deliveredValue])];
}

type DynamicMapping = NonNullable<ReadConfig['dynamicMappings']>[number];

function showDynamicMapping(mapping: DynamicMapping): z.output<typeof dynamicMapping> {
  const { mapToName, mapToDisplayName, prompt, fieldName, mappedValues } = mapping;
  return {
    mapToName,
    mapToDisplayName: mapToDisplayName ?? undefined,
    prompt: prompt ?? undefined,
    fieldName: fieldName ?? undefined,
    mappedValues: mappedValues.length > 0 ? mappedValues : undefined,
  };
}

type Filters = z.output<typeof fieldFilters>;

function parseFilters(filters: Filters = []): ReadConfigInput['fieldFilters'] {
  return filters.map((filter) => ({ ...filter, operator: 'EQ' as const }));
}

function showFilters(filters: ReadConfig['fieldFilters'] = []): Filters | undefined {
  const wireFilters = filters.map((filter) => ({ ...filter, operator: 'eq' as const }));
  return wireFilters.length > 0 ? wireFilters : undefined;
}

/** Accepts `fullHistory: false` next to the days, because clients send it. */
function parseBackfill(backfill: Wire['backfill']): ReadConfigInput['backfill'] {
  if (!backfill) return null;
  const { days, fullHistory } = backfill.defaultPeriod;
  return {
    days,
    fullHistory: fullHistory === false && days !== undefined ? null : fullHistory,
    fieldFilters: parseFilters(backfill.fieldFilters),
  };
}

function showBackfill({ days, fullHistory, fieldFilters }: NonNullable<ReadConfig['backfill']>) {
  return {
    defaultPeriod: { days: days ?? undefined, fullHistory: fullHistory ?? undefined },
    fieldFilters: showFilters(fieldFilters),
  };
}
