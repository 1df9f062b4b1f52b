/**
 * Validates values against their fields. workspace.ts checks unique values and references, which depend on other
 * records.
 */
import { z } from 'zod';
import type { SandboxProblem } from '../sandbox-refusal.ts';
import type { CrmField, FieldType, ObjectDefinition } from './objects.ts';

/** The maximum length of a string. The sandbox has no fields for documents. */
const TEXT_LENGTH_MAX = 1_000;

const createTextSchema = () =>
  z.string('must be a string').max(TEXT_LENGTH_MAX, `has more than ${TEXT_LENGTH_MAX} characters`);

const SCHEMAS: Record<FieldType, (field: CrmField) => z.ZodType> = {
  text: createTextSchema,
  email: () => createTextSchema().regex(z.regexes.email, 'must be an email address'),
  boolean: () => z.boolean('must be true or false'),
  select: (field) => createOptionSchema(field),
  multiselect: (field) => z.array(createOptionSchema(field), 'must be a list of options'),
  date: () => z.iso.date('must be a date, such as 2026-01-31'),
  datetime: () =>
    z.iso.datetime({ offset: true, error: 'must be a time, such as 2026-01-31T12:00:00Z' }),
  integer: () => z.int('must be a whole number'),
  decimal: () => z.number('must be a number'),
  reference: () => z.string('must be the id of a record').max(64, 'is longer than any id'),
};

function createOptionSchema({ options = [] }: CrmField) {
  const values = options.map(({ value }) => value);
  return z.enum(values, `must be one of ${values.join(', ')}`);
}

const schemaByField = new WeakMap<CrmField, z.ZodType>();

function getSchema(field: CrmField): z.ZodType {
  const cachedSchema = schemaByField.get(field);
  if (cachedSchema !== undefined) return cachedSchema;
  const schema = SCHEMAS[field.type](field);
  schemaByField.set(field, schema);
  return schema;
}

/** Returns all problems of the values, in their order. The value null clears a field. */
export function listValueProblems(
  { name: objectName, fields }: ObjectDefinition,
  values: Record<string, unknown>,
  { isCreate }: { isCreate: boolean },
): SandboxProblem[] {
  const valueProblems = Object.entries(values).flatMap(([name, value]) => {
    const field = fields.find((candidate) => candidate.name === name);
    if (field) return findValueProblem(field, value) ?? [];
    return { code: 'unknown_field', message: `${objectName} have no field ${name}`, field: name };
  });
  const missingFields = fields.filter(
    ({ name, required }) => isCreate && required && !(name in values),
  );
  return [...valueProblems, ...missingFields.map(({ name }) => createMissingProblem(name))];
}

function findValueProblem(field: CrmField, value: unknown): SandboxProblem | null {
  const { name } = field;
  if (field.readOnly) {
    return { code: 'read_only_field', message: `${name} can't be written`, field: name };
  }
  if (field.required && (value === null || value === '')) return createMissingProblem(name);
  if (value === null) return null;
  const issue = getSchema(field).safeParse(value).error?.issues[0];
  if (issue === undefined) return null;
  return { code: toProblemCode(issue), message: `${name} ${issue.message}`, field: name };
}

function toProblemCode(issue: z.core.$ZodIssue): string {
  if (issue.code === 'too_big') return 'too_long';
  return issue.code === 'invalid_value' ? 'invalid_option' : 'wrong_type';
}

function createMissingProblem(name: string): SandboxProblem {
  return { code: 'missing_field', message: `${name} must have a value`, field: name };
}
