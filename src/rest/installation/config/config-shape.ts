/** An installation's config as the platform writes it: objects by their names, fields as the members of objects. */
import { z } from 'zod';

const text = z.string().min(1).max(256);

const period = z
  .strictObject({
    days: z.int().min(0).optional().describe('The days before now that the first read covers.'),
    fullHistory: z.boolean().optional().describe('True: the first read covers all records.'),
  })
  .describe('Exactly one of days and fullHistory.');

const fields = z
  .record(text, z.boolean())
  .describe('The fields to read, each with true. Default: those that are read without a config.');
const mappings = z
  .record(text, text)
  .describe("The provider's fields for the names that the integration leaves to be mapped.");

const objectName = text.describe(
  'The name of the object: the same as that of the member that holds it.',
);

/** What is not there yet may be written, as long as it says nothing. */
const nothingIn = (what: string) =>
  z.refine<Record<string, unknown> | unknown[]>(
    (given) => Object.keys(given).length === 0,
    `must be empty: ${what} can't be chosen.`,
  );

const fieldFilter = z.strictObject({
  fieldName: text.describe("The provider's name of the field."),
  operator: z.enum(['eq']).describe('Always `eq`: equal.'),
  value: z.union([z.string(), z.number(), z.boolean()]).describe('What the field is to be.'),
});

const readObjectShape = {
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
  disabled: z.boolean().optional().describe('True: the object is not read. Default: false.'),
  backfill: z
    .strictObject({
      defaultPeriod: period,
      fieldFilters: z
        .array(fieldFilter)
        .check(nothingIn('filters'))
        .optional()
        .describe('Empty: the first read has no filters.'),
    })
    .optional()
    .describe('How far back the first read goes.'),
};

const takenEmpty = {
  selectedValueMappings: z
    .record(z.string(), z.unknown())
    .check(nothingIn('mappings of values'))
    .optional()
    .describe('Empty: values are delivered as the provider has them.'),
  dynamicMappingsInput: z
    .array(z.unknown())
    .check(nothingIn('further mappings'))
    .optional()
    .describe('Empty: the integration says what is mapped.'),
  fieldFilters: z
    .array(fieldFilter)
    .check(nothingIn('filters'))
    .optional()
    .describe('Empty: all records are read.'),
};

const onCreate = z.enum(['always', 'never']);
const onUpdate = z.enum(['always', 'never', 'ifEmpty']);

/** A value names its type; exactly one of them is given. */
const defaultValue = z
  .strictObject({
    stringValue: z.string().optional().describe('A text.'),
    integerValue: z.number().optional().describe('A number.'),
    booleanValue: z.boolean().optional().describe('A boolean.'),
  })
  .refine((given) => Object.keys(given).length === 1, 'must have exactly one value.');

const fieldSettings = z.record(
  text,
  z.strictObject({
    default: defaultValue
      .optional()
      .describe('Written if a record has no value for the field: exactly one of the three.'),
    writeOnCreate: onCreate
      .optional()
      .describe('Whether the field is written when a record is created. Default: `always`.'),
    writeOnUpdate: onUpdate
      .optional()
      .describe(
        'Whether it is written when a record is updated; `ifEmpty` reads the record first. Default: `always`.',
      ),
  }),
);

const writeObjectShape = {
  selectedFieldSettings: fieldSettings
    .optional()
    .describe('How fields are written, by their names. Others are written as they are given.'),
  deletionSettings: z
    .strictObject({ enabled: z.boolean().describe('Whether records may be deleted.') })
    .optional()
    .describe('Default: records may not be deleted.'),
};

const proxy = z
  .strictObject({
    enabled: z
      .boolean()
      .optional()
      .describe('False: no requests are forwarded. Default: as the integration says.'),
  })
  .optional()
  .describe('Whether requests are forwarded to the provider.');

const provider = text.describe("The name of the integration's provider.");

/** A name inside an object says the same as the member that holds it. */
const haveTheirNames = z.superRefine<Record<string, unknown>>((objects, context) => {
  for (const [name, object] of Object.entries(objects)) {
    const { objectName: inside = name } = object as { objectName?: string };
    if (inside === name) continue;
    const message = 'must be the name of the member that holds the object.';
    context.addIssue({ code: 'custom', path: [name, 'objectName'], message });
  }
});

/** `read.objects` and so on, with objects of that schema by their names. */
const objectsOf = <S extends z.ZodType>(object: S, what: string) =>
  z
    .strictObject({
      objects: z
        .record(text, object)
        .check(haveTheirNames)
        .optional()
        .describe('The objects, by their names.'),
    })
    .optional()
    .describe(what);

/** In requests: all that may be left out is left out. */
export const configInput = z
  .strictObject({
    provider: provider.optional(),
    read: objectsOf(
      z.strictObject({
        objectName: objectName.optional(),
        selectedFields: fields.optional(),
        selectedFieldMappings: mappings.optional(),
        ...readObjectShape,
        ...takenEmpty,
      }),
      'The objects to read. Objects that are not named are not read.',
    ),
    write: objectsOf(
      z.strictObject({ objectName: objectName.optional(), ...writeObjectShape }),
      'The objects to write.',
    ),
    subscribe: objectsOf(z.never(), 'Empty: the integration says what is subscribed to.'),
    proxy,
  })
  .describe('The choices of the customer.');

/** In answers. */
export const configOutput = {
  provider,
  read: z
    .object({
      objects: z
        .record(
          z.string(),
          z.object({
            objectName,
            selectedFields: fields,
            selectedFieldMappings: mappings,
            ...readObjectShape,
          }),
        )
        .describe('The objects, by their names.'),
    })
    .describe('The objects that are read.'),
  write: z
    .object({
      objects: z
        .record(z.string(), z.object({ objectName, ...writeObjectShape }))
        .describe('The objects, by their names.'),
    })
    .describe('The objects that may be written.'),
  proxy,
};

export type WireConfig = z.output<typeof configInput>;
type Objects<P extends 'read' | 'write'> = NonNullable<NonNullable<WireConfig[P]>['objects']>;
export type WireReadObject = Objects<'read'>[string];
export type WireWriteObject = Objects<'write'>[string];
