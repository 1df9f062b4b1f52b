/** Converts settings of single fields between the reference API's form and the domain's. */
import type { WriteFieldSetting } from '../../../domain/installation/choice/write-field-setting.ts';
import type { WireWriteObject } from './config-shape.ts';

type WireSettings = NonNullable<WireWriteObject['selectedFieldSettings']>;
type WireSetting = WireSettings[string];

const OCCASIONS = { always: 'ALWAYS', never: 'NEVER', ifEmpty: 'IF_EMPTY' } as const;
const WORDS = { ALWAYS: 'always', NEVER: 'never', IF_EMPTY: 'ifEmpty' } as const;

/** Settings precede defaults in the older form. Locations of issues depend on this order. */
export function parseFieldSettings({
  selectedFieldSettings: settings = {},
  selectedValueDefaults: defaults = {},
}: Pick<WireWriteObject, 'selectedFieldSettings' | 'selectedValueDefaults'>): WriteFieldSetting[] {
  const ofSettings = Object.entries(settings).map(([fieldName, wire]) => ({
    fieldName,
    default: takeDefault(wire.default),
    defaultOnUpdate: true,
    writeOnCreate: OCCASIONS[wire.writeOnCreate ?? 'always'],
    writeOnUpdate: OCCASIONS[wire.writeOnUpdate ?? 'always'],
  }));
  const ofDefaults = Object.entries(defaults).map(([fieldName, { value, applyOnUpdate }]) => ({
    fieldName,
    default: value,
    defaultOnUpdate: applyOnUpdate !== 'never',
    writeOnCreate: OCCASIONS.always,
    writeOnUpdate: OCCASIONS.always,
  }));
  return [...ofSettings, ...ofDefaults];
}

function takeDefault({ stringValue, integerValue, booleanValue }: WireSetting['default'] = {}) {
  return stringValue ?? integerValue ?? booleanValue ?? null;
}

type Shown = Pick<WireWriteObject, 'selectedFieldSettings' | 'selectedValueDefaults'>;

/** Only the older form has defaults that updates do not write. */
export function showFieldSettings(settings: readonly WriteFieldSetting[]): Shown {
  const [older, newer] = [
    settings.filter(({ defaultOnUpdate }) => defaultOnUpdate === false),
    settings.filter(({ defaultOnUpdate }) => defaultOnUpdate !== false),
  ];
  return {
    ...(newer.length > 0 && {
      selectedFieldSettings: Object.fromEntries(
        newer.map((setting) => [setting.fieldName, showSetting(setting)]),
      ),
    }),
    ...(older.length > 0 && {
      selectedValueDefaults: Object.fromEntries(
        older.map(({ fieldName, default: value }) => [
          fieldName,
          { value: value ?? '', applyOnUpdate: 'never' as const },
        ]),
      ),
    }),
  };
}

function showSetting({
  default: value,
  writeOnCreate,
  writeOnUpdate,
}: WriteFieldSetting): WireSetting {
  return {
    default: value === null ? undefined : showDefault(value),
    // A config that combines "if empty" with "never on create" is refused.
    writeOnCreate: writeOnCreate === 'NEVER' ? 'never' : 'always',
    writeOnUpdate: WORDS[writeOnUpdate],
  };
}

function showDefault(value: string | number | boolean): WireSetting['default'] {
  if (typeof value === 'string') return { stringValue: value };
  return typeof value === 'number' ? { integerValue: value } : { booleanValue: value };
}
