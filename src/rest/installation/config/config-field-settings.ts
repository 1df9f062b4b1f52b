/** Settings of single fields, between the form that the platform writes and the domain's. */
import type { WriteFieldSetting } from '../../../domain/installation/write-field-setting.ts';
import type { WireWriteObject } from './config-shape.ts';

type WireSettings = NonNullable<WireWriteObject['selectedFieldSettings']>;
type WireSetting = WireSettings[string];

const OCCASIONS = { always: 'ALWAYS', never: 'NEVER', ifEmpty: 'IF_EMPTY' } as const;
const WORDS = { ALWAYS: 'always', NEVER: 'never', IF_EMPTY: 'ifEmpty' } as const;

export function takeFieldSettings(settings: WireSettings = {}): WriteFieldSetting[] {
  return Object.entries(settings).map(([fieldName, wire]) => ({
    fieldName,
    default: takeDefault(wire.default),
    writeOnCreate: OCCASIONS[wire.writeOnCreate ?? 'always'],
    writeOnUpdate: OCCASIONS[wire.writeOnUpdate ?? 'always'],
  }));
}

function takeDefault({ stringValue, integerValue, booleanValue }: WireSetting['default'] = {}) {
  return stringValue ?? integerValue ?? booleanValue ?? null;
}

export function showFieldSettings(settings: readonly WriteFieldSetting[]): WireSettings {
  return Object.fromEntries(
    settings.map(({ fieldName, default: value, writeOnCreate, writeOnUpdate }) => [
      fieldName,
      {
        default: value === null ? undefined : showDefault(value),
        // A config that writes it if empty when there is nothing yet is refused.
        writeOnCreate: writeOnCreate === 'NEVER' ? 'never' : 'always',
        writeOnUpdate: WORDS[writeOnUpdate],
      },
    ]),
  );
}

function showDefault(value: string | number | boolean): WireSetting['default'] {
  if (typeof value === 'string') return { stringValue: value };
  return typeof value === 'number' ? { integerValue: value } : { booleanValue: value };
}
