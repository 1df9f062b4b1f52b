/** The route that defines fields. The initial fields of the sandbox can't be changed. */
import { z } from 'zod';
import { Refusal } from '../refusal.ts';
import { jsonBody, parsed, type SandboxRequest, type SandboxResponse } from '../request.ts';
import { type FieldDefinition, OBJECT_NAMES, OBJECTS } from './objects.ts';
import { fieldView } from './reading.ts';
import type { RecordTable } from './table.ts';
import type { Workspace } from './workspace.ts';

/** The maximum number of fields of an object. Each record shows all of them. */
const FIELDS_MAX = 200;

const nameSchema = z
  .string()
  .regex(/^[a-z][a-z0-9_]{0,63}$/, 'A name is small letters, digits and underscores, 64 at most');

const fieldSchema = z.strictObject({
  displayName: z.string().min(1).max(200),
  type: z.enum([
    'text',
    'boolean',
    'select',
    'multiselect',
    'date',
    'datetime',
    'integer',
    'decimal',
    'reference',
  ]),
  description: z.string().max(1_000).optional(),
  required: z.boolean().optional(),
  unique: z.boolean().optional(),
  options: z.array(z.string().min(1).max(200)).min(1).max(500).optional(),
  references: z.enum(OBJECT_NAMES).optional(),
});
type FieldInput = z.output<typeof fieldSchema>;

export function putField(workspace: Workspace, request: SandboxRequest): SandboxResponse {
  const table = workspace.getTable(request.params.object!);
  const name = parsed(nameSchema, request.params.name);
  const input = parsed(fieldSchema, jsonBody(request));
  const existing = table.definition.fields.find((field) => field.name === name);
  if (!existing) {
    refuseNew(table, input);
    const field = { ...definitionOf(name, input, []), custom: true };
    table.putField(field);
    return { status: 201, json: { action: 'created', field: fieldView(field) } };
  }
  refuseConflict(table, existing, input);
  const field = { ...existing, ...definitionOf(name, input, existing.options ?? []) };
  const isSame = JSON.stringify(fieldView(field)) === JSON.stringify(fieldView(existing));
  if (!isSame) table.putField(field);
  const action = isSame ? 'unchanged' : 'updated';
  return { status: 200, json: { action, field: fieldView(isSame ? existing : field) } };
}

/** Returns the new definition. Existing options stay, because records may have them. */
function definitionOf(
  name: string,
  { options, ...input }: FieldInput,
  existing: NonNullable<FieldDefinition['options']>,
): FieldDefinition {
  const added = (options ?? []).filter((value) => !existing.some((one) => one.value === value));
  const all = [...existing, ...added.map((value) => ({ value, displayName: value }))];
  return { name, ...input, ...(all.length > 0 && { options: all }) };
}

function refuseNew(
  { definition, size }: RecordTable,
  { type, options, references, required }: FieldInput,
) {
  const isSelect = type === 'select' || type === 'multiselect';
  if (isSelect !== (options !== undefined)) {
    throw refusal('invalid_request', 'A select field has options, and another has none', 'options');
  }
  if ((type === 'reference') !== (references !== undefined)) {
    const message = 'A reference names the object that it references, and another field none';
    throw refusal('invalid_request', message, 'references');
  }
  if (required && size > 0) {
    throw refusal('invalid_request', 'There are records without a value already', 'required');
  }
  if (definition.fields.length >= FIELDS_MAX) {
    throw refusal('field_limit_reached', `An object has at most ${FIELDS_MAX} fields`);
  }
}

function refuseConflict({ definition }: RecordTable, existing: FieldDefinition, input: FieldInput) {
  const { name, type, unique = false } = existing;
  const isOwn = OBJECTS[definition.name].fields.some((field) => field.name === name);
  if (isOwn) throw refusal('standard_field', `${name} is a field that every account has`);
  if (input.type !== type) {
    throw refusal('type_conflict', `${name} is there already, of the type ${type}`, 'type');
  }
  if (input.unique !== undefined && input.unique !== unique) {
    throw refusal('type_conflict', `${name} is there already, and not so unique`, 'unique');
  }
}

function refusal(code: string, message: string, field?: string): Refusal {
  const status = code === 'invalid_request' ? 400 : 409;
  return new Refusal(status, { code, message, ...(field && { field }) });
}
