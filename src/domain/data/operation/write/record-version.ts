/** Compares versions of records, so that a write can require the version that its caller has seen. */
import { hash } from 'node:crypto';
import type { ProviderRecord } from '../../../../providers/moving-records.ts';
import { sortJsonMembers } from '../../../base/storable-json.ts';

/** The version of a record: a hash of the values of some fields, by the provider's names. */
export interface RecordVersion {
  fields: string[];
  hash: string;
}

export function createRecordVersion(
  record: ProviderRecord,
  fields: readonly string[],
): RecordVersion {
  const values = fields.map((name) => record.fields[name] ?? null);
  const json = JSON.stringify(sortJsonMembers(values));
  return { fields: [...fields], hash: hash('sha256', json, 'base64url') };
}

export function hasVersion(record: ProviderRecord, { fields, hash }: RecordVersion): boolean {
  return createRecordVersion(record, fields).hash === hash;
}

/** True if the record has the values that the write sets. Some providers return numbers and booleans as strings. */
export function hasValues(
  record: ProviderRecord,
  values: Readonly<Record<string, unknown>>,
): boolean {
  return Object.entries(values).every(
    ([name, value]) => name === 'id' || toComparable(record.fields[name]) === toComparable(value),
  );
}

function toComparable(value: unknown): string {
  if (value === null || value === undefined) return '';
  return typeof value === 'object' ? JSON.stringify(sortJsonMembers(value)) : String(value);
}
