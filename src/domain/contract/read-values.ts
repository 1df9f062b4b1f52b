/** Values of records by the contract's names and types. Providers give some values in other JSON types than the contract's. */
import type { ResultEntry } from '../operation/read/read-message.ts';
import type { FieldContract } from './contract-fields.ts';

type Item = string | number | boolean;

/** Mapped names take precedence. A field that the installation does not read is null. */
export function findFieldValue(
  { fields, mappedFields }: Pick<ResultEntry, 'fields' | 'mappedFields'>,
  name: string,
): unknown {
  if (Object.hasOwn(mappedFields, name)) return mappedFields[name];
  return Object.hasOwn(fields, name) ? fields[name] : null;
}

/**
 * Converts a value of a field to the field's type. Some providers send numbers and booleans as strings, and several selected
 * values as `a;b`. Null if there is no value. Undefined for a value that the type does not have. `enumValues` are those of
 * the field's enum type, if it has one.
 */
export function toTypedValue(
  { type, isList }: Pick<FieldContract, 'type' | 'isList'>,
  value: unknown,
  enumValues: ReadonlySet<string> | null,
): unknown {
  if (value === undefined || value === null || type === 'JSON') return value ?? null;
  const toItem = (item: unknown): Item | undefined => {
    const converted = convertItem(type, item);
    return enumValues && !enumValues.has(String(converted)) ? undefined : converted;
  };
  if (!isList) return value === '' && type !== 'STRING' ? null : toItem(value);
  const items = toItems(value).map(toItem);
  return items.includes(undefined) ? undefined : items;
}

function toItems(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return typeof value === 'string' ? value.split(';').filter((item) => item !== '') : [value];
}

/** Converts an item of a list, or a single value. Undefined if the type does not have it. */
function convertItem(
  type: Exclude<FieldContract['type'], 'JSON'>,
  value: unknown,
): Item | undefined {
  switch (type) {
    case 'INTEGER':
    case 'NUMBER':
      return toNumber(value);
    case 'BOOLEAN':
      return typeof value === 'boolean' ? value : BOOLEANS.get(String(value));
    default:
      return typeof value === 'object' ? undefined : String(value);
  }
}

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);

function toNumber(value: unknown): number | undefined {
  const isNumeric = typeof value === 'string' && value.trim() !== '';
  const number = isNumeric ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}
