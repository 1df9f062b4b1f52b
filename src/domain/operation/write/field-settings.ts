/** What the config says of single fields, done to the records of a write. */
import { inWords } from '../../installation/choice/value-mapping.ts';
import type { WriteFieldSetting } from '../../installation/choice/write-field-setting.ts';
import type { FieldNames } from './mapping.ts';

export interface SettledRecord {
  /** By the provider's names, with defaults and without what is not written. */
  record: Record<string, unknown>;
  /** Fields that are written only if the provider's record has no value for them. */
  ifEmpty: string[];
  /** Fields that got their defaults. */
  defaults: string[];
  /** Fields with values that are not written on such a write. */
  leftOut: string[];
}

interface Write {
  type: 'CREATE' | 'UPDATE' | 'DELETE';
  settings: readonly WriteFieldSetting[];
  /** Null if names are the provider's. */
  names: FieldNames | null;
}

export function settleFields(
  given: Record<string, unknown>,
  { type, settings, names }: Write,
): SettledRecord {
  const settled: SettledRecord = { record: { ...given }, ifEmpty: [], defaults: [], leftOut: [] };
  if (type === 'DELETE') return settled;
  for (const setting of settings) {
    const name = names?.mapped.get(setting.fieldName) ?? setting.fieldName;
    const occasion = type === 'CREATE' ? setting.writeOnCreate : setting.writeOnUpdate;
    const isGiven = hasValue(given[name]);
    if (occasion === 'NEVER') {
      delete settled.record[name];
      if (Object.hasOwn(given, name)) settled.leftOut.push(name);
      continue;
    }
    const isFilled = type === 'CREATE' || setting.defaultOnUpdate !== false;
    if (!isGiven && isFilled && setting.default !== null) {
      settled.record[name] = inWords(setting.default, names?.words.get(setting.fieldName));
      settled.defaults.push(name);
    }
    if (occasion === 'IF_EMPTY' && Object.hasOwn(settled.record, name)) settled.ifEmpty.push(name);
  }
  return settled;
}

export function hasValue(value: unknown): boolean {
  return value !== undefined && value !== null && value !== '';
}
