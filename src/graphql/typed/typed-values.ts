/** Values of fields between records and GraphQL. Providers give some values in other JSON types than the contract's. */
import type { FieldContract } from '../../domain/contract/object-contract.ts';
import { unprocessable } from '../../errors.ts';

type Item = string | number | boolean;

/**
 * Returns the value of a field as its GraphQL type requires. Some providers send numbers and booleans as strings, and
 * several selected values as `a;b`. Null if there is no value. Throws UNPROCESSABLE for a value that the type does not
 * have. `enumValues` are those of the field's enum type, if it has one.
 */
export function toOutputValue(
  { name, type, isList }: Pick<FieldContract, 'name' | 'type' | 'isList'>,
  value: unknown,
  enumValues: ReadonlySet<string> | null,
): unknown {
  if (value === undefined || value === null || type === 'JSON') return value ?? null;
  const toOutputItem = (item: unknown): Item => {
    const converted = convertItem(type, item);
    if (converted === null || (enumValues && !enumValues.has(String(converted))))
      throw createUnexpectedValueError(name, type);
    return converted;
  };
  if (!isList) return value === '' && type !== 'STRING' ? null : toOutputItem(value);
  return toItems(value).map(toOutputItem);
}

function toItems(value: unknown): readonly unknown[] {
  if (Array.isArray(value)) return value;
  return typeof value === 'string' ? value.split(';').filter((item) => item !== '') : [value];
}

/** Converts an item of a list, or a single value. Null if the type does not have it. */
function convertItem(type: Exclude<FieldContract['type'], 'JSON'>, value: unknown): Item | null {
  switch (type) {
    case 'INTEGER':
    case 'NUMBER':
      return toNumber(value);
    case 'BOOLEAN':
      return typeof value === 'boolean' ? value : (BOOLEANS[String(value)] ?? null);
    default:
      return typeof value === 'object' ? null : String(value);
  }
}

const BOOLEANS: Readonly<Record<string, boolean>> = { true: true, false: false };

function toNumber(value: unknown): number | null {
  const isNumeric = typeof value === 'string' && value.trim() !== '';
  const number = isNumeric ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
}

/** The message omits the value, because it is record data. */
function createUnexpectedValueError(name: string, type: FieldContract['type']) {
  return unprocessable(
    `The account has a value of ${name} that the type ${type} of the contract does not have. Select _raw to see it, and pin another valueType in the manifest.`,
  );
}
