/** Bounds the size of records for agents, because a model's context is small. */
import type { FieldContract } from '../contract/field-contract.ts';
import { findFieldValue, toTypedValue } from '../contract/read-values.ts';
import type { AccountRecord } from '../operation/record-search.ts';

/** The maximum length of a string, in characters. Longer strings are mostly emails and documents. */
const TEXT_LENGTH_MAX = 2_000;
/** The maximum size of a response's records as JSON, in bytes. */
const BYTES_MAX = 100_000;
/** The maximum nesting depth of lists and objects in a value. */
const DEPTH_MAX = 8;
/** The maximum number of items in a list, and of members in an object. */
const ITEMS_MAX = 200;

interface BoundedFields {
  /** Values by the contract's names. */
  fields: Record<string, unknown>;
  /** Fields that were omitted, so that the remaining fields fit in a response. */
  omittedFields: string[];
}

export interface BoundedRecord extends BoundedFields {
  id: string;
}

/** Returns the record with as many of these fields as fit in a response. */
export function toBoundedRecord(
  record: AccountRecord,
  fields: readonly FieldContract[],
): BoundedRecord {
  const values = fields.map((field): [string, unknown] => [field.name, readValue(record, field)]);
  return { id: record.id, ...boundFields(values) };
}

/** Returns the value in the contract's type. A value that can't be converted stays as the provider returned it. */
function readValue(record: AccountRecord, field: FieldContract): unknown {
  const value = findFieldValue(record, field.name);
  const typedValue = toTypedValue(field, value, null);
  return typedValue === undefined ? value : typedValue;
}

/** Truncates the values and omits fields that do not fit in a response. */
export function boundFields(values: readonly [name: string, value: unknown][]): BoundedFields {
  const entries: [string, unknown][] = [];
  const omittedFields: string[] = [];
  let bytes = 0;
  for (const [name, value] of values) {
    const entry: [string, unknown] = [name, boundValue(value)];
    const size = countBytes(entry);
    if (bytes + size > BYTES_MAX) {
      omittedFields.push(name);
    } else {
      entries.push(entry);
      bytes += size;
    }
  }
  return { fields: Object.fromEntries(entries), omittedFields };
}

/** Returns the first records that fit in a response together, but at least one. */
export function takeFittingRecords(records: readonly BoundedRecord[]): BoundedRecord[] {
  const fittingRecords: BoundedRecord[] = [];
  let bytes = 0;
  for (const record of records) {
    bytes += countBytes(record);
    if (fittingRecords.length > 0 && bytes > BYTES_MAX) break;
    fittingRecords.push(record);
  }
  return fittingRecords;
}

function countBytes(value: unknown): number {
  return Buffer.byteLength(JSON.stringify(value));
}

/** Truncates strings, lists and objects in a provider's value, and marks what was cut. */
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
  const boundedMembers = members
    .slice(0, ITEMS_MAX)
    .map(([name, member]) => [name, boundValue(member, depth + 1)]);
  const excess = members.length - boundedMembers.length;
  return Object.fromEntries([
    ...boundedMembers,
    ...(excess > 0 ? [['[truncated]', `${excess} more members`]] : []),
  ]);
}

/** Truncates a string, and appends its length. */
export function boundText(text: string, lengthMax = TEXT_LENGTH_MAX): string {
  if (text.length <= lengthMax) return text;
  const start = text.slice(0, lengthMax).toWellFormed();
  return `${start}… [truncated: ${text.length} characters]`;
}
