/** An installation's config in the reference API's form: objects and fields are members by name. */
import { z } from 'zod';

import { fields, mappings, objectName, readObjectShape, text } from './config-read-shape.ts';
import { subscribeObjectInput, subscribeObjectOutput } from './config-subscribe.ts';

const onCreate = z.enum(['always', 'never']);
const onUpdate = z.enum(['always', 'never', 'ifEmpty']);

/** A value names its type. Exactly one type must be given. */
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

const valueDefaults = z.record(
  text,
  z.strictObject({
    value: z.union([z.string(), z.number(), z.boolean()]).describe('The default.'),
    applyOnUpdate: onCreate
      .optional()
      .describe('`never`: updates do not write the default. Default: `always`.'),
  }),
);

const writeObjectShape = {
  selectedValueDefaults: valueDefaults
    .optional()
    .describe('Defaults of fields, as they were given before there were selectedFieldSettings.'),
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

/** A name inside an object must equal the name of the member that holds it. */
const haveTheirNames = z.superRefine<Record<string, unknown>>((objects, context) => {
  for (const [name, object] of Object.entries(objects)) {
    const { objectName: inside = name } = object as { objectName?: string };
    if (inside === name) continue;
    const message = 'must be the name of the member that holds the object.';
    context.addIssue({ code: 'custom', path: [name, 'objectName'], message });
  }
});

/** The schema of `read.objects` and the like: objects of that schema by name. */
const createObjects = <S extends z.ZodType>(object: S, what: string) =>
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

/** The schema of requests, in which all optional members may be omitted. */
export const configInput = z
  .strictObject({
    provider: provider.optional(),
    read: createObjects(
      z.strictObject({
        objectName: objectName.optional(),
        selectedFields: fields.optional(),
        selectedFieldMappings: mappings.optional(),
        ...readObjectShape,
      }),
      'The objects to read. Objects that are not named are not read.',
    ),
    write: createObjects(
      z.strictObject({ objectName: objectName.optional(), ...writeObjectShape }),
      'The objects to write.',
    ),
    subscribe: createObjects(
      subscribeObjectInput,
      "The objects whose events differ from the integration's choice.",
    ),
    proxy,
  })
  .describe('The choices of the customer.');

/** The schema of responses. */
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
  subscribe: z
    .object({
      objects: z.record(z.string(), subscribeObjectOutput).describe('The objects, by their names.'),
    })
    .optional()
    .describe("The objects whose events differ from the integration's choice."),
  proxy,
};

export type WireConfig = z.output<typeof configInput>;
type Objects<P extends 'read' | 'write'> = NonNullable<NonNullable<WireConfig[P]>['objects']>;
export type WireReadObject = Objects<'read'>[string];
export type WireWriteObject = Objects<'write'>[string];
