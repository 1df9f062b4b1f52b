/** The choices for an object to read, in the reference API's form. */
import { z } from 'zod';

export const text = z.string().min(1).max(256);

const period = z
  .strictObject({
    days: z.int().min(0).optional().describe('The days before now that the first read covers.'),
    fullHistory: z.boolean().optional().describe('If true, the first read covers all records.'),
  })
  .describe('Exactly one of days and fullHistory.');

export const fields = z
  .record(text, z.boolean())
  .describe('The fields to read, each with true. Default: those that are read without a config.');
export const mappings = z
  .record(text, text)
  .describe("The provider's fields for the names that the integration leaves to be mapped.");

export const objectName = text.describe(
  'The name of the object: the same as that of the member that holds it.',
);

const fieldFilters = z.array(
  z.strictObject({
    fieldName: text.describe("The provider's name of the field."),
    operator: z.enum(['eq']).describe('Always `eq`: equal.'),
    value: z.union([z.string(), z.number(), z.boolean()]).describe('The value of the field.'),
  }),
);

/** Pages send a value without a mapping as an empty text. */
const valueMappings = z.record(text, z.record(text, z.string().max(256)));

const dynamicMappings = z.array(
  z.strictObject({
    mapToName: text.describe("The builder's name of the field."),
    mapToDisplayName: text.optional().describe('The name that people see.'),
    prompt: z.string().optional().describe('The prompt that people see when they map it.'),
    fieldName: text
      .optional()
      .describe("The provider's field, unless selectedFieldMappings has another."),
    mappedValues: z
      .array(
        z.strictObject({
          mappedValue: text.describe("A value of the builder's."),
          mappedDisplayValue: text.describe('The value as people see it.'),
        }),
      )
      .optional()
      .describe('The values that pages offer for mapping.'),
  }),
);

export const readObjectShape = {
  selectedFieldsAuto: z
    .enum(['all'])
    .optional()
    .describe('`all`: every field that may be selected is read. Default: only selectedFields.'),
  schedule: z
    .string()
    .max(256)
    .optional()
    .describe(
      "Replaces the integration's schedule: a cron expression of five fields, in UTC. Empty: the integration's.",
    ),
  destination: text
    .optional()
    .describe("Replaces the integration's destination: the name of a destination of the project."),
  disabled: z.boolean().optional().describe('If true, the object is not read. Default: false.'),
  backfill: z
    .strictObject({
      defaultPeriod: period,
      fieldFilters: fieldFilters
        .optional()
        .describe('Conditions on fields, for the first read. Default: those of the object.'),
    })
    .optional()
    .describe('How far back the first read goes. Default: as the integration defines.'),
  selectedValueMappings: valueMappings
    .optional()
    .describe(
      "By field, the provider's value for each value that is delivered instead, one for one. Other values stay.",
    ),
  dynamicMappingsInput: dynamicMappings
    .optional()
    .describe('Names to map, in addition to those of the integration.'),
  fieldFilters: fieldFilters
    .optional()
    .describe('Only records that meet all conditions are read. Default: all records.'),
};
