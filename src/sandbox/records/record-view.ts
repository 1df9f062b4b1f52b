import { Refusal } from '../refusal.ts';
import type { FieldDefinition, ObjectDefinition } from './objects.ts';
import type { StoredRecord } from './table.ts';

export type RecordView = (record: StoredRecord) => Record<string, unknown>;

/** Returns a function that shows a record: all fields, null if they have no value, and the associations. */
export function recordView({ fields }: ObjectDefinition): RecordView {
  return (record) => ({ ...shownFields(fields, record), associations: record.associations });
}

/**
 * Returns a function that shows `id`, `updated_at` and the named fields. Throws a Refusal that names unknown fields.
 */
export function selectedView(definition: ObjectDefinition, names: string[]): RecordView {
  const unknown = names.filter((name) => !definition.fields.some((field) => field.name === name));
  const [first, ...others] = unknown.map((name) => ({
    code: 'unknown_field',
    message: `${definition.name} have no field ${name}`,
    field: name,
  }));
  if (first !== undefined) throw new Refusal(400, [first, ...others]);
  const shown = new Set(['id', 'updated_at', ...names]);
  const fields = definition.fields.filter(({ name }) => shown.has(name));
  return (record) => shownFields(fields, record);
}

function shownFields(fields: FieldDefinition[], record: StoredRecord): Record<string, unknown> {
  return Object.fromEntries(fields.map((field) => [field.name, shownValue(record, field)]));
}

function shownValue(record: StoredRecord, { name }: FieldDefinition): unknown {
  if (name === 'id') return record.id;
  if (name === 'created_at') return new Date(record.createdAtMs).toISOString();
  if (name === 'updated_at') return new Date(record.updatedAtMs).toISOString();
  return record.values[name] ?? null;
}
