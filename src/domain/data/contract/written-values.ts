/** Validates the values of a write by the JSON Schema that describes them to callers. */
import type { ErrorObject, ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { LRUCache } from 'lru-cache';
import type { Issue } from '../../../kernel/errors.ts';
import { createNameFinder, type NameFinder, suggestName } from '../../../kernel/nearest-name.ts';
import { member, type Text, text } from '../../../kernel/text.ts';
import { addIssues, createInputIssue } from '../../base/issues.ts';
import type { ObjectContract } from './contract-resource.ts';
import { createValuesSchema } from './formats/json-schema.ts';

/** The maximum number of compiled schemas, which have some kilobytes each. */
const VALIDATORS_MAX = 500;
/** The maximum number of names that an issue lists. */
const NAMES_MAX = 50;

const ajv = formats.default(new Ajv2020({ allErrors: true, strict: false, addUsedSchema: false }));
const validators = new LRUCache<string, ValidateFunction>({ max: VALIDATORS_MAX });

interface ValuesToCheck {
  /** The hash of the contract. */
  hash: string;
  object: ObjectContract;
  type: 'CREATE' | 'UPDATE';
  /** Values by the builder's field names. */
  values: Readonly<Record<string, unknown>>;
  /** The path of the values in the input. */
  path: readonly PropertyKey[];
}

/** Returns an issue for each field that is unknown, read-only, ill-typed or missing. */
export function listValueIssues({ hash, object, type, values, path }: ValuesToCheck): Issue[] {
  const validate = getValidator(hash, object, type);
  if (validate(values)) return [];
  const errorsByPath = Map.groupBy(validate.errors ?? [], toErrorPath);
  const writableNames = listWritableNames(object);
  const findNearestName = createNameFinder(writableNames);
  const context = { object, type, path, writableNames, findNearestName };
  const issues: Issue[] = [];
  addIssues(
    issues,
    errorsByPath.values().map((errors) => toIssue(errors, context)),
  );
  return issues;
}

interface ErrorContext extends Pick<ValuesToCheck, 'object' | 'type' | 'path'> {
  writableNames: readonly string[];
  findNearestName: NameFinder;
}

function listWritableNames({ fields }: ObjectContract): string[] {
  return fields.filter(({ isReadOnly }) => !isReadOnly).map(({ name }) => name);
}

function getValidator(hash: string, object: ObjectContract, type: 'CREATE' | 'UPDATE') {
  const key = JSON.stringify([hash, object.name, type]);
  let validate = validators.get(key);
  if (!validate) {
    validate = ajv.compile(createValuesSchema(object, type));
    validators.set(key, validate);
  }
  return validate;
}

/** Returns the path of the value, or of the member that is missing or unknown. */
function toErrorPath({ instancePath, params }: ErrorObject): string {
  const member = params.additionalProperty ?? params.missingProperty;
  return member === undefined ? instancePath : `${instancePath}/${member}`;
}

/** Converts the errors at one path to an issue. The path is a JSON Pointer, in which names are escaped. */
function toIssue(errors: readonly ErrorObject[], context: ErrorContext): Issue {
  const [error] = errors as [ErrorObject, ...ErrorObject[]];
  const names = toErrorPath(error)
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'));
  const members = names.map((name) => (/^\d+$/.test(name) ? Number(name) : name));
  return createInputIssue(
    [...context.path, ...members],
    describeErrors(errors, { ...context, name: names[0] ?? null }),
  );
}

const TYPE_NOUNS: Partial<Record<ObjectContract['fields'][number]['type'], string>> = {
  STRING: 'string',
  INTEGER: 'integer',
  NUMBER: 'number',
  BOOLEAN: 'boolean (true or false)',
  DATE: 'date like 2026-01-31',
  DATE_TIME: 'date and time like 2026-01-31T12:00:00Z',
  ENUM: 'string',
  REFERENCE: "string: the provider's id of the record",
};

function describeErrors(
  errors: readonly ErrorObject[],
  { object, type, name, writableNames, findNearestName }: ErrorContext & { name: string | null },
): Text {
  const [error] = errors as [ErrorObject];
  const field = object.fields.find((candidate) => candidate.name === name);
  const action = type === 'CREATE' ? 'a new record' : 'an update';
  if (name === null) return `must set at least one field of ${object.name}.`;
  if (error.keyword === 'required') return `is required for ${action} of ${object.name}.`;
  if (error.keyword === 'additionalProperties') {
    if (name === 'id' && type === 'UPDATE')
      return text`must be given as ${member('recordId')} instead.`;
    if (field) return `is read-only: omit it from ${action}.`;
    const names = writableNames.slice(0, NAMES_MAX);
    const more = writableNames.length > NAMES_MAX ? ' and more' : '';
    const suggestion = suggestName(findNearestName, name);
    return `is not a field of ${object.name}.${suggestion} Fields that ${action} may set: ${names.join(', ')}${more}.`;
  }
  const values = field?.values?.map(({ value }) => value) ?? [];
  if (values.length > 0) {
    return `must be ${field?.isList ? 'a list of' : 'one of'}: ${values.slice(0, NAMES_MAX).join(', ')}.`;
  }
  const article = field?.type === 'INTEGER' ? 'an' : 'a';
  const noun = field && TYPE_NOUNS[field.type];
  if (!noun) return `${error.message}.`;
  return field.isList
    ? `must be a list, each item ${article} ${noun}.`
    : `must be ${article} ${noun}.`;
}
