/** Converts between fields in a map or list inside a record and plain fields of the record. */

import type { Nested } from './declaration/object-declaration.ts';
import { isObject, valueAt, withValue } from './json.ts';

type Fields = Record<string, unknown>;

/** Returns the nested fields. Empty if the record has none. */
export function nestedFields({ at, entries, read, alias }: Nested, record: Fields): Fields {
  const found = valueAt(record, at);
  const fields = entries && Array.isArray(found) ? fromEntries(found, entries) : found;
  if (!isObject(fields)) return {};
  const named = alias ? { ...alias(fields), ...fields } : fields;
  if (!read) return named;
  return Object.fromEntries(Object.entries(named).map(([name, value]) => [name, read(value)]));
}

function fromEntries(
  list: unknown[],
  { name, value }: Pick<NonNullable<Nested['entries']>, 'name' | 'value'>,
): Fields {
  return Object.fromEntries(
    list.map((item) => [String(valueAt(item, name)), valueAt(item, value)]),
  );
}

/** Returns the record in the vendor's form, with each field at its location. */
export function withNested(nested: readonly Nested[], fields: Fields): Fields {
  let record: Fields = {};
  for (const [name, value] of Object.entries(fields)) {
    const map = nested.find(({ names }) => names?.test(name));
    record = map ? putNested(record, map, { name, value }) : { ...record, [name]: value };
  }
  return record;
}

function putNested(
  record: Fields,
  { at, entries, write }: Nested,
  { name, value: input }: { name: string; value: unknown },
): Fields {
  const value = write ? write(input, name) : input;
  if (entries?.writes !== 'list') return withValue(record, `${at}/${escaped(name)}`, value);
  const id = /^\d{1,15}$/.test(name) ? Number(name) : name;
  const item = withValue(withValue({}, entries.name, id), entries.value, value);
  return withValue(record, `${at}/-`, item);
}

function escaped(name: string): string {
  return name.replaceAll('~', '~0').replaceAll('/', '~1');
}
