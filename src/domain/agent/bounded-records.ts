/** Bounds the size of records for agents, whose context is small. */
import type { FieldContract } from '../contract/object-contract.ts';
import { findFieldValue, toTypedValue } from '../contract/read-values.ts';
import type { AccountRecord } from '../operation/record-search.ts';

/** The most characters of a text. Longer texts are mostly e-mails and documents. */
const TEXT_LENGTH_MAX = 2_000;
/** The most bytes of all records of a response, as JSON. */
const BYTES_MAX = 100_000;
/** The most levels of lists and objects in a value. */
const DEPTH_MAX = 8;
/** The most items of a list, and members of an object, in a value. */
const ITEMS_MAX = 200;

export interface BoundedFields {
  /** Values by the contract's names. */
  fields: Record<string, unknown>;
  /** Fields without which the others are small enough. */
  omittedFields: string[];
}

export interface BoundedRecord extends BoundedFields {
  id: string;
}

/** Returns the record with these fields, as many as fit in a response. */
export function toBoundedRecord(
  record: AccountRecord,
  fields: readonly FieldContract[],
): BoundedRecord {
  const values = fields.map((field): [string, unknown] => [field.name, readValue(record, field)]);
  return { id: record.id, ...boundFields(values) };
}

/** Shortens the values, and returns as many fields as fit in a response. */
export function boundFields(values: readonly [name: string, value: unknown][]): BoundedFields {
  const entries: [string, unknown][] = [];
  const omittedFields: string[] = [];
  let bytes = 0;
  for (const [name, value] of values) {
    const entry: [string, unknown] = [name, boundValue(value)];
    const size = countBytes(entry);
    if (bytes + size > BYTES_MAX) omittedFields.push(name);
    else {
      entries.push(entry);
      bytes += size;
    }
  }
  return { fields: Object.fromEntries(entries), omittedFields };
}

/** The value in the contract's type. A value that the type does not have stays as the provider gave it. */
function readValue(record: AccountRecord, field: FieldContract): unknown {
  const value = findFieldValue(record, field.name);
  const typed = toTypedValue(field, value, null);
  return typed === undefined ? value : typed;
}

/** Returns the first records that fit in a response together: at least one, if there is any. */
export function takeWithin(records: readonly BoundedRecord[]): BoundedRecord[] {
  let bytes = 0;
  const excess = records.findIndex((record, index) => {
    bytes += countBytes(record);
    return index > 0 && bytes > BYTES_MAX;
  });
  return excess < 0 ? [...records] : records.slice(0, excess);
}

function countBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Shortens texts, lists and objects in a value of a provider, and marks where. */
function boundValue(value: unknown, depth = 0): unknown {
  if (typeof value === 'string') return boundText(value);
  if (typeof value !== 'object' || value === null) return value;
  if (depth === DEPTH_MAX) return '[truncated: nested too deep]';
  if (Array.isArray(value)) {
    const items = value.slice(0, ITEMS_MAX).map((item) => boundValue(item, depth + 1));
    const excess = value.length - items.length;
    return excess > 0 ? [...items, `[truncated: ${excess} more items]`] : items;
  }
  const members = Object.entries(value);
  const shown = members
    .slice(0, ITEMS_MAX)
    .map(([name, member]) => [name, boundValue(member, depth + 1)]);
  const excess = members.length - shown.length;
  return Object.fromEntries([
    ...shown,
    ...(excess > 0 ? [['[truncated]', `${excess} more members`]] : []),
  ]);
}

/** Shortens a text, and marks it with its length. */
export function boundText(text: string, lengthMax = TEXT_LENGTH_MAX): string {
  if (text.length <= lengthMax) return text;
  const start = text.slice(0, lengthMax).toWellFormed();
  return `${start}… [truncated: ${text.length} characters]`;
}
