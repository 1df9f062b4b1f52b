/** The route that defines fields: those that the sandbox starts with stay as they are. */
import { z } from 'zod';
import { Refusal } from '../refusal.ts';
import { jsonBody, parsed, type SandboxRequest, type SandboxResponse } from '../request.ts';
import { type FieldDefinition, OBJECT_NAMES, OBJECTS } from './objects.ts';
import { fieldView } from './reading.ts';
import type { RecordTable } from './table.ts';
import type { Workspace } from './workspace.ts';

/** Of each object: every record shows all of them. */
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
type Given = z.output<typeof fieldSchema>;

export function putField(workspace: Workspace, request: SandboxRequest): SandboxResponse {
  const table = workspace.getTable(request.params.object!);
  const name = parsed(nameSchema, request.params.name);
  const given = parsed(fieldSchema, jsonBody(request));
  const present = table.definition.fields.find((field) => field.name === name);
  if (!present) {
    refuseNew(table, given);
    const field = { ...definitionOf(name, given, []), custom: true };
    table.putField(field);
    return { status: 201, json: { action: 'created', field: fieldView(field) } };
  }
  refuseOther(table, present, given);
  const field = { ...present, ...definitionOf(name, given, present.options ?? []) };
  const isSame = JSON.stringify(fieldView(field)) === JSON.stringify(fieldView(present));
  if (!isSame) table.putField(field);
  const action = isSame ? 'unchanged' : 'updated';
  return { status: 200, json: { action, field: fieldView(isSame ? present : field) } };
}

/** Options that records may have already stay. */
function definitionOf(
  name: string,
  { options, ...given }: Given,
  present: NonNullable<FieldDefinition['options']>,
): FieldDefinition {
  const added = (options ?? []).filter((value) => !present.some((one) => one.value === value));
  const all = [...present, ...added.map((value) => ({ value, displayName: value }))];
  return { name, ...given, ...(all.length > 0 && { options: all }) };
}

function refuseNew(
  { definition, size }: RecordTable,
  { type, options, references, required }: Given,
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

function refuseOther({ definition }: RecordTable, present: FieldDefinition, given: Given) {
  const { name, type, unique = false } = present;
  const isOwn = OBJECTS[definition.name].fields.some((field) => field.name === name);
  if (isOwn) throw refusal('standard_field', `${name} is a field that every account has`);
  if (given.type !== type) {
    throw refusal('type_conflict', `${name} is there already, of the type ${type}`, 'type');
  }
  if (given.unique !== undefined && given.unique !== unique) {
    throw refusal('type_conflict', `${name} is there already, and not so unique`, 'unique');
  }
}

function refusal(code: string, message: string, field?: string): Refusal {
  const status = code === 'invalid_request' ? 400 : 409;
  return new Refusal(status, { code, message, ...(field && { field }) });
}
