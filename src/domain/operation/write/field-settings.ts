/** Applies the config's settings of fields to the records of a write. */
import { replaceValues } from '../../installation/choice/value-mapping.ts';
import type { WriteFieldSetting } from '../../installation/choice/write-field-setting.ts';
import type { FieldNames } from './mapping.ts';

export interface SettledRecord {
  /** The record with the provider's field names and with defaults, without the fields that are not written. */
  record: Record<string, unknown>;
  /** Fields that are written only if the provider's record has no value for them. */
  ifEmpty: string[];
  /** Names of fields that got their defaults. */
  defaults: string[];
  /** Names of fields with values that the config does not write on this type of write. */
  leftOut: string[];
}

interface Write {
  type: 'CREATE' | 'UPDATE' | 'DELETE';
  settings: readonly WriteFieldSetting[];
  /** Null if callers use the provider's names. */
  names: FieldNames | null;
}

export function settleFields(
  input: Record<string, unknown>,
  { type, settings, names }: Write,
): SettledRecord {
  const settled: SettledRecord = { record: { ...input }, ifEmpty: [], defaults: [], leftOut: [] };
  if (type === 'DELETE') return settled;
  for (const setting of settings) {
    const name = names?.mapped.get(setting.fieldName) ?? setting.fieldName;
    const occasion = type === 'CREATE' ? setting.writeOnCreate : setting.writeOnUpdate;
    const hasInput = hasValue(input[name]);
    if (occasion === 'NEVER') {
      delete settled.record[name];
      if (Object.hasOwn(input, name)) settled.leftOut.push(name);
      continue;
    }
    const isFilled = type === 'CREATE' || setting.defaultOnUpdate !== false;
    if (!hasInput && isFilled && setting.default !== null) {
      settled.record[name] = replaceValues(setting.default, names?.words.get(setting.fieldName));
      settled.defaults.push(name);
    }
    if (occasion === 'IF_EMPTY' && Object.hasOwn(settled.record, name)) settled.ifEmpty.push(name);
  }
  return settled;
}

export function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}
