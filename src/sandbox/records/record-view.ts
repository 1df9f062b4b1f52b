import { SandboxRefusal } from '../sandbox-refusal.ts';
import type { CrmField, ObjectDefinition } from './objects.ts';
import type { StoredRecord } from './table.ts';

type RecordView = (record: StoredRecord) => Record<string, unknown>;

/** Returns a function that shows all fields of a record, null if they have no value, and its associations. */
export function createRecordView({ fields }: ObjectDefinition): RecordView {
  return (record) => ({ ...getFieldValues(fields, record), associations: record.associations });
}

/**
 * Returns a function that shows `id`, `updated_at` and the named fields of a record. Throws a SandboxRefusal that names
 * unknown fields.
 */
export function createSelectedView(definition: ObjectDefinition, names: string[]): RecordView {
  const unknownNames = names.filter(
    (name) => !definition.fields.some((field) => field.name === name),
  );
  const [first, ...moreProblems] = unknownNames.map((name) => ({
    code: 'unknown_field',
    message: `${definition.name} have no field ${name}`,
    field: name,
  }));
  if (first !== undefined) throw new SandboxRefusal(400, [first, ...moreProblems]);
  const selectedNames = new Set(['id', 'updated_at', ...names]);
  const fields = definition.fields.filter(({ name }) => selectedNames.has(name));
  return (record) => getFieldValues(fields, record);
}

function getFieldValues(fields: CrmField[], record: StoredRecord): Record<string, unknown> {
  return Object.fromEntries(fields.map((field) => [field.name, getFieldValue(record, field)]));
}

function getFieldValue(record: StoredRecord, { name }: CrmField): unknown {
  if (name === 'id') return record.id;
  if (name === 'created_at') return new Date(record.createdAtMs).toISOString();
  if (name === 'updated_at') return new Date(record.updatedAtMs).toISOString();
  return record.values[name] ?? null;
}
