/**
 * Checks values against their fields. workspace.ts checks what depends on other records: unique values and references.
 */
import { z } from 'zod';
import type { SandboxProblem } from '../refusal.ts';
import type { CrmField, FieldType, ObjectDefinition } from './objects.ts';

/** The maximum length of a text. The sandbox has no fields for documents. */
const TEXT_LENGTH_MAX = 1_000;

const text = () =>
  z.string('must be a text').max(TEXT_LENGTH_MAX, `has more than ${TEXT_LENGTH_MAX} characters`);

const SCHEMAS: Record<FieldType, (field: CrmField) => z.ZodType> = {
  text,
  email: () => text().regex(z.regexes.email, 'must be an e-mail address'),
  boolean: () => z.boolean('must be true or false'),
  select: (field) => option(field),
  multiselect: (field) => z.array(option(field), 'must be a list of options'),
  date: () => z.iso.date('must be a date, such as 2026-01-31'),
  datetime: () =>
    z.iso.datetime({ offset: true, error: 'must be a time, such as 2026-01-31T12:00:00Z' }),
  integer: () => z.int('must be a whole number'),
  decimal: () => z.number('must be a number'),
  reference: () => z.string('must be the id of a record').max(64, 'is longer than any id'),
};

function option({ options = [] }: CrmField) {
  const values = options.map(({ value }) => value);
  return z.enum(values, `must be one of ${values.join(', ')}`);
}

const schemaByField = new WeakMap<CrmField, z.ZodType>();

function getSchema(field: CrmField): z.ZodType {
  const cached = schemaByField.get(field);
  if (cached !== undefined) return cached;
  const schema = SCHEMAS[field.type](field);
  schemaByField.set(field, schema);
  return schema;
}

/** Returns all problems of the values, in order. Null clears a field. */
export function valueProblems(
  { name: objectName, fields }: ObjectDefinition,
  values: Record<string, unknown>,
  { creating }: { creating: boolean },
): SandboxProblem[] {
  const problems: SandboxProblem[] = [];
  for (const [name, value] of Object.entries(values)) {
    const field = fields.find((candidate) => candidate.name === name);
    const problem =
      field === undefined
        ? { code: 'unknown_field', message: `${objectName} have no field ${name}`, field: name }
        : valueProblem(field, value);
    if (problem !== null) problems.push(problem);
  }
  for (const { name, required } of fields) {
    if (creating && required && !(name in values)) problems.push(missing(name));
  }
  return problems;
}

function valueProblem(field: CrmField, value: unknown): SandboxProblem | null {
  const { name } = field;
  if (field.readOnly) {
    return { code: 'read_only_field', message: `${name} can't be written`, field: name };
  }
  if (field.required && (value === null || value === '')) return missing(name);
  if (value === null) return null;
  const issue = getSchema(field).safeParse(value).error?.issues[0];
  if (issue === undefined) return null;
  return { code: toCode(issue), message: `${name} ${issue.message}`, field: name };
}

function toCode(issue: z.core.$ZodIssue): string {
  if (issue.code === 'too_big') return 'too_long';
  return issue.code === 'invalid_value' ? 'invalid_option' : 'wrong_type';
}

function missing(name: string): SandboxProblem {
  return { code: 'missing_field', message: `${name} must have a value`, field: name };
}
