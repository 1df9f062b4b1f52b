/** The choices for an object to write, in the reference API's form. */
import { z } from 'zod';
import { boundedName } from '../../../../domain/base/names.ts';
import type { ConfigInput } from '../../../../domain/integrations/installation/choice/installation-config-input.ts';
import type { WriteFieldSetting } from '../../../../domain/integrations/installation/choice/write-field-setting.ts';
import type { ConfigContent } from '../../../../domain/integrations/installation/installation-config.ts';
import type { ObjectForm } from './object-form.ts';

const onCreate = z.enum(['always', 'never']);
const onUpdate = z.enum(['always', 'never', 'ifEmpty']);
const DOMAIN_NAMES = { always: 'ALWAYS', never: 'NEVER', ifEmpty: 'IF_EMPTY' } as const;
const WIRE_NAMES = { ALWAYS: 'always', NEVER: 'never', IF_EMPTY: 'ifEmpty' } as const;

/** Exactly one member must be set, according to the type of the value. */
const defaultValue = z
  .strictObject({
    stringValue: z.string().optional().describe('A string.'),
    integerValue: z.number().optional().describe('A number.'),
    booleanValue: z.boolean().optional().describe('A boolean.'),
  })
  .refine((values) => Object.keys(values).length === 1, 'must have exactly one value.');

const setting = z.strictObject({
  default: defaultValue
    .optional()
    .describe('Written if a record has no value for the field. Set exactly one of its members.'),
  writeOnCreate: onCreate
    .optional()
    .describe('Whether the field is written when a record is created. Default: `always`.'),
  writeOnUpdate: onUpdate
    .optional()
    .describe(
      'Whether it is written when a record is updated; `ifEmpty` reads the record first. Default: `always`.',
    ),
});

const olderDefault = z.strictObject({
  value: z.union([z.string(), z.number(), z.boolean()]).describe('The default.'),
  applyOnUpdate: onCreate
    .optional()
    .describe('`never`: updates do not write the default. Default: `always`.'),
});

const members = z.object({
  selectedValueDefaults: z
    .record(boundedName, olderDefault)
    .optional()
    .describe('Defaults of fields, in the older form. Use selectedFieldSettings instead.'),
  selectedFieldSettings: z
    .record(boundedName, setting)
    .optional()
    .describe(
      "Settings of fields, by name. A field without a setting is written with the record's value.",
    ),
  deletionSettings: z
    .strictObject({ enabled: z.boolean().describe('Whether records may be deleted.') })
    .optional()
    .describe('Default: records may not be deleted.'),
});

type Wire = z.output<typeof members>;
type Input = NonNullable<ConfigInput['write']>[number];
type Choice = ConfigContent['write'][number];

export const writeForm: ObjectForm<Wire, Input, Choice> = {
  request: members.shape,
  response: members.shape,

  /** Settings precede defaults in the older form. Locations of issues depend on this order. */
  decode: ({ deletionSettings, selectedFieldSettings = {}, selectedValueDefaults = {} }) => ({
    deletionEnabled: deletionSettings?.enabled,
    fields: [
      ...Object.entries(selectedFieldSettings).map(([fieldName, wire]) => ({
        fieldName,
        default: parseDefault(wire.default),
        defaultOnUpdate: true,
        writeOnCreate: DOMAIN_NAMES[wire.writeOnCreate ?? 'always'],
        writeOnUpdate: DOMAIN_NAMES[wire.writeOnUpdate ?? 'always'],
      })),
      ...Object.entries(selectedValueDefaults).map(([fieldName, { value, applyOnUpdate }]) => ({
        fieldName,
        default: value,
        defaultOnUpdate: applyOnUpdate !== 'never',
        writeOnCreate: DOMAIN_NAMES.always,
        writeOnUpdate: DOMAIN_NAMES.always,
      })),
    ],
  }),

  /** Only the older form has defaults that updates do not write. */
  encode({ deletionEnabled: enabled, fields = [] }) {
    const isOlder = ({ defaultOnUpdate }: WriteFieldSetting) => defaultOnUpdate === false;
    const settings = fields.filter((field) => !isOlder(field));
    const defaults = fields.filter(isOlder);
    return {
      deletionSettings: { enabled },
      selectedFieldSettings: showByName(settings, showSetting),
      selectedValueDefaults: showByName(defaults, ({ default: value }) => ({
        value: value ?? '',
        applyOnUpdate: 'never' as const,
      })),
    };
  },

  locate({ selectedFieldSettings = {}, selectedValueDefaults = {} }, path) {
    const [member, index, ...inside] = path;
    if (member === 'deletionEnabled') return ['deletionSettings', 'enabled'];
    if (member !== 'fields' || typeof index !== 'number') return path;
    const settings = Object.keys(selectedFieldSettings);
    const olderName = Object.keys(selectedValueDefaults)[index - settings.length];
    if (olderName !== undefined) return ['selectedValueDefaults', olderName];
    const name = settings[index] ?? index;
    return ['selectedFieldSettings', name, ...(inside[0] === 'fieldName' ? [] : inside)];
  },
};

function showByName<V>(fields: WriteFieldSetting[], show: (field: WriteFieldSetting) => V) {
  const entries = fields.map((field) => [field.fieldName, show(field)] as const);
  return entries.length > 0 ? Object.fromEntries(entries) : undefined;
}

type Default = z.output<typeof setting>['default'];

function parseDefault({ stringValue, integerValue, booleanValue }: NonNullable<Default> = {}) {
  return stringValue ?? integerValue ?? booleanValue ?? null;
}

function showSetting(field: WriteFieldSetting): z.output<typeof setting> {
  const { default: value, writeOnCreate, writeOnUpdate } = field;
  return {
    default: value === null ? undefined : showDefault(value),
    // A config that combines "if empty" with "never on create" is refused.
    writeOnCreate: writeOnCreate === 'NEVER' ? 'never' : 'always',
    writeOnUpdate: WIRE_NAMES[writeOnUpdate],
  };
}

function showDefault(value: string | number | boolean): Default {
  if (typeof value === 'string') return { stringValue: value };
  return typeof value === 'number' ? { integerValue: value } : { booleanValue: value };
}
