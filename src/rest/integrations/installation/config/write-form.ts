/** The choices for an object to write, in the reference API's form. */
import { z } from 'zod';
import type { WriteConfig } from '../../../../domain/integrations/installation/choice/installation-config-input.ts';
import type { WriteFieldSetting } from '../../../../domain/integrations/installation/choice/write-field-setting.ts';
import {
  byName,
  members,
  merge,
  nested,
  type ObjectForm,
  optional,
  same,
  unlessEmpty,
  word,
} from '../../../endpoint/form.ts';

const DEFAULT_MEMBERS = { string: 'stringValue', number: 'integerValue', boolean: 'booleanValue' };

/** Exactly one member must be set, according to the type of the value. */
const defaultValue = {
  ...same(
    z
      .strictObject({
        stringValue: z.string().optional().describe('A string.'),
        integerValue: z.number().optional().describe('A number.'),
        booleanValue: z.boolean().optional().describe('A boolean.'),
      })
      .refine((values) => Object.keys(values).length === 1, 'must have exactly one value.'),
  ),
  decode: (wire: unknown) => Object.values(wire as object)[0],
  encode: (value: unknown) => ({
    [DEFAULT_MEMBERS[typeof value as keyof typeof DEFAULT_MEMBERS]]: value,
  }),
};

const occasion = z.enum(['always', 'never']);

const settings = byName(
  'fieldName',
  members<Pick<WriteFieldSetting, 'default' | 'writeOnCreate' | 'writeOnUpdate'>>({
    default: optional(
      defaultValue,
      'Written if a record has no value for the field. Set exactly one of its members.',
    ),
    writeOnCreate: {
      ...word(
        occasion
          .optional()
          .describe('Whether the field is written when a record is created. Default: `always`.'),
      ),
      // A config that combines "if empty" with "never on create" is refused.
      encode: (name: unknown) => (name === 'NEVER' ? 'never' : 'always'),
    },
    writeOnUpdate: word(
      z
        .enum(['always', 'never', 'ifEmpty'])
        .optional()
        .describe(
          'Whether it is written when a record is updated; `ifEmpty` reads the record first. Default: `always`.',
        ),
    ),
  }),
);

const defaults = byName(
  'fieldName',
  members<Pick<WriteFieldSetting, 'default' | 'defaultOnUpdate'>>({
    default: ['value', z.union([z.string(), z.number(), z.boolean()]).describe('The default.')],
    defaultOnUpdate: [
      'applyOnUpdate',
      {
        ...same(
          occasion
            .optional()
            .describe('`never`: updates do not write the default. Default: `always`.'),
        ),
        decode: (wire: unknown) => wire !== 'never',
        encode: (isWritten: unknown) => (isWritten ? 'always' : 'never'),
      },
    ],
  }),
);

const lists = members<{ newer: unknown; older: unknown }>({
  older: [
    'selectedValueDefaults',
    optional(
      unlessEmpty(defaults),
      'Defaults of fields, in the older form. Use selectedFieldSettings instead.',
    ),
  ],
  newer: [
    'selectedFieldSettings',
    optional(
      unlessEmpty(settings),
      "Settings of fields, by name. A field without a setting is written with the record's value.",
    ),
  ],
});

/** Only the older form has defaults that updates do not write. */
const isOlder = ({ default: value, defaultOnUpdate }: WriteFieldSetting) =>
  defaultOnUpdate === false && value !== null;

/** The fields are two lists in requests. The settings precede the defaults in the domain. */
const fields: ObjectForm = {
  ...lists,
  names: ['fields'],
  decode(wire) {
    const { newer = [], older = [] } = lists.decode(wire) as { newer?: unknown; older?: unknown };
    return { fields: [newer, older].flat() };
  },
  encode(object) {
    const { fields: all = [] } = object as { fields?: WriteFieldSetting[] };
    return lists.encode({
      newer: all.filter((field) => !isOlder(field)),
      older: all.filter(isOlder),
    });
  },
  locate(wire, [, ...path]) {
    const { newer = [] } = lists.decode(wire ?? {}) as { newer?: unknown[] };
    const [index, ...inside] = path;
    const olderIndex = Number(index) - newer.length;
    return lists.locate(
      wire,
      olderIndex >= 0 ? ['older', olderIndex, ...inside] : ['newer', ...path],
    );
  },
};

export const writeForm = merge(
  fields,
  nested(
    'deletionSettings',
    members<Pick<WriteConfig, 'deletionEnabled'>>({
      deletionEnabled: ['enabled', z.boolean().describe('Whether records may be deleted.')],
    }),
    (schema) => schema.describe('Default: records may not be deleted.').optional(),
  ),
);
