/** Reads the values of records by the names and types of a contract. Some providers return other JSON types. */
import type { ResultEntry } from '../operation/read/read-message.ts';
import type { FieldContract } from './field-contract.ts';

type Item = string | number | boolean;

/** Returns the value of a field by its name. Mapped names take precedence. Null if the installation does not read it. */
export function findFieldValue(
  { fields, mappedFields }: Pick<ResultEntry, 'fields' | 'mappedFields'>,
  name: string,
): unknown {
  if (Object.hasOwn(mappedFields, name)) return mappedFields[name];
  return Object.hasOwn(fields, name) ? fields[name] : null;
}

/**
 * Converts a value to the field's type. Some providers send numbers and booleans as strings, and a list as `a;b`. Returns
 * null if there is no value, and undefined if the value can't be converted or is not one of `enumValues`.
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

const BOOLEANS: ReadonlyMap<string, boolean> = new Map([
  ['true', true],
  ['false', false],
]);

/** Converts an item of a list, or a single value. Returns undefined if it can't be converted. */
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

function toNumber(value: unknown): number | undefined {
  const isNumeric = typeof value === 'string' && value.trim() !== '';
  const number = isNumeric ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : undefined;
}
