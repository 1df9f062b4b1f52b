/** Converts between nested fields, which are in a map or list inside a record, and plain fields. */
import { isObject } from '../../work/is-object.ts';
import { CONVERSIONS } from './conversions/value-conversions.ts';
import { matchesName } from './declaration/name-rule.ts';
import type { NestedFields } from './declaration/object-declaration.ts';
import { escapePart, findValue, type JsonObject, withValue } from './json.ts';

/** Returns the nested fields as plain fields. Empty if the record has none. */
export function flattenFields(
  { at, entries, conversion }: NestedFields,
  record: JsonObject,
): JsonObject {
  const container = findValue(record, at);
  const fields = entries && Array.isArray(container) ? parseEntries(container, entries) : container;
  if (!isObject(fields)) return {};
  if (!conversion) return fields;
  const { addAliases, decode } = CONVERSIONS[conversion];
  const namedFields = { ...addAliases?.(fields), ...fields };
  return Object.fromEntries(
    Object.entries(namedFields).map(([name, value]) => [name, decode(value)]),
  );
}

function parseEntries(
  list: unknown[],
  { name, value, omittedInList }: NonNullable<NestedFields['entries']>,
): JsonObject {
  const otherValue = (item: unknown) => omittedInList && findValue(item, omittedInList.value);
  return Object.fromEntries(
    list.map((item) => [
      String(findValue(item, name)),
      findValue(item, value) ?? otherValue(item) ?? null,
    ]),
  );
}

/** True if the object's list omits the value of a requested field of this record. */
export function omitsValues(
  { at, entries }: NestedFields,
  record: JsonObject,
  fieldNames: readonly string[],
): boolean {
  const container = findValue(record, at);
  if (!entries?.omittedInList || !Array.isArray(container)) return false;
  const { type, types } = entries.omittedInList;
  return container.some(
    (item) =>
      types.includes(String(findValue(item, type))) &&
      fieldNames.includes(String(findValue(item, entries.name))),
  );
}

/** Moves nested fields of a record into the map or list in which the vendor expects them. */
export function nestFields(declarations: readonly NestedFields[], fields: JsonObject): JsonObject {
  let record: JsonObject = {};
  for (const [name, value] of Object.entries(fields)) {
    const container = declarations.find(({ names }) => names && matchesName(names, name));
    record = container
      ? setNested(record, container, { name, value })
      : { ...record, [name]: value };
  }
  return record;
}

function setNested(
  record: JsonObject,
  { at, entries, conversion }: NestedFields,
  { name, value }: { name: string; value: unknown },
): JsonObject {
  const { encode } = conversion ? CONVERSIONS[conversion] : {};
  const encodedValue = encode ? encode(value, name) : value;
  if (entries?.writeFormat !== 'list')
    return withValue(record, `${at}/${escapePart(name)}`, encodedValue);
  const entryName = /^\d{1,15}$/.test(name) ? Number(name) : name;
  const item = withValue(withValue({}, entries.name, entryName), entries.value, encodedValue);
  return withValue(record, `${at}/-`, item);
}
