/** The route that defines fields. The initial fields of the sandbox can't be changed. */
import { z } from 'zod';
import {
  parseInput,
  parseJsonBody,
  type SandboxRequest,
  type SandboxResponse,
} from '../request.ts';
import { SandboxRefusal } from '../sandbox-refusal.ts';
import { type CrmField, OBJECT_NAMES, OBJECTS } from './objects.ts';
import { toFieldView } from './reading.ts';
import type { RecordTable } from './table.ts';
import type { Workspace } from './workspace.ts';

/** The maximum number of fields of an object. Each record shows all of them. */
const FIELDS_MAX = 200;

const nameSchema = z
  .string()
  .regex(
    /^[a-z][a-z0-9_]{0,63}$/,
    'A name has up to 64 lower-case letters, digits and underscores, and starts with a letter',
  );

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
  const name = parseInput(nameSchema, request.params.name);
  const input = parseInput(fieldSchema, parseJsonBody(request));
  const existing = table.definition.fields.find((field) => field.name === name);
  if (!existing) {
    validateNewField(table, input);
    const field = { ...createDefinition(name, input, []), custom: true };
    table.putField(field);
    return { status: 201, json: { action: 'created', field: toFieldView(field) } };
  }
  validateChange(table, existing, input);
  const field = { ...existing, ...createDefinition(name, input, existing.options ?? []) };
  const isUnchanged = JSON.stringify(toFieldView(field)) === JSON.stringify(toFieldView(existing));
  if (!isUnchanged) table.putField(field);
  const action = isUnchanged ? 'unchanged' : 'updated';
  return { status: 200, json: { action, field: toFieldView(isUnchanged ? existing : field) } };
}

/** Returns the new definition. Existing options are kept, because records may have them. */
function createDefinition(
  name: string,
  { options, ...input }: FieldInput,
  existing: NonNullable<CrmField['options']>,
): CrmField {
  const newValues = (options ?? []).filter(
    (value) => !existing.some((option) => option.value === value),
  );
  const allOptions = [...existing, ...newValues.map((value) => ({ value, displayName: value }))];
  return { name, ...input, ...(allOptions.length > 0 && { options: allOptions }) };
}

function validateNewField(
  { definition, size }: RecordTable,
  { type, options, references, required }: FieldInput,
) {
  const isSelect = type === 'select' || type === 'multiselect';
  if (isSelect !== (options !== undefined)) {
    throw createRefusal(
      'invalid_request',
      'Options are required for select fields and not allowed for others',
      'options',
    );
  }
  if ((type === 'reference') !== (references !== undefined)) {
    const message = 'The referenced object is required for references and not allowed for others';
    throw createRefusal('invalid_request', message, 'references');
  }
  if (required && size > 0) {
    throw createRefusal(
      'invalid_request',
      'Existing records have no value for a required field',
      'required',
    );
  }
  if (definition.fields.length >= FIELDS_MAX) {
    throw createRefusal('field_limit_reached', `An object has at most ${FIELDS_MAX} fields`);
  }
}

function validateChange({ definition }: RecordTable, existing: CrmField, input: FieldInput) {
  const { name, type, unique = false } = existing;
  const isStandard = OBJECTS[definition.name].fields.some((field) => field.name === name);
  if (isStandard)
    throw createRefusal('standard_field', `${name} is a standard field and cannot be changed`);
  if (input.type !== type) {
    throw createRefusal('type_conflict', `${name} already exists with the type ${type}`, 'type');
  }
  if (input.unique !== undefined && input.unique !== unique) {
    throw createRefusal('type_conflict', `The uniqueness of ${name} cannot be changed`, 'unique');
  }
}

function createRefusal(code: string, message: string, field?: string): SandboxRefusal {
  const status = code === 'invalid_request' ? 400 : 409;
  return new SandboxRefusal(status, { code, message, ...(field && { field }) });
}
