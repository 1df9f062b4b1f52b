/**
 * Formats a contract as JSON Schema, with definitions for the records of each object and for the inputs that write them.
 */
import type { Contract, ObjectContract } from '../contract-resource.ts';
import type { FieldContract } from '../field-contract.ts';
import type { ContractFieldType } from '../field-type.ts';
import {
  type GeneratedObject,
  listCreateFields,
  listGeneratedObjects,
  listReadFields,
  listUpdateFields,
} from './generated.ts';

export type JsonSchema = Record<string, unknown>;

const ID = { type: 'string', description: "The provider's id of the record." };

export function createJsonSchema(contract: Contract): JsonSchema {
  const definitions = listGeneratedObjects(contract).flatMap((object) => createDefinitions(object));
  return {
    $schema: 'https://json-schema.org/draft/2020-12/schema',
    title: `Contract ${contract.hash}`,
    $defs: Object.fromEntries(definitions),
  };
}

function createDefinitions({ types, ...object }: GeneratedObject): [string, JsonSchema][] {
  const { verbs } = object;
  const definitions: [string, JsonSchema][] = [];
  if (verbs.includes('LIST')) definitions.push([types.record, createRecordSchema(object)]);
  if (verbs.includes('CREATE')) {
    const required = listCreateFields(object).filter(({ isRequired }) => isRequired);
    const properties = createProperties(listCreateFields(object));
    definitions.push([
      types.create,
      createInputSchema(object, { properties, required: listNames(required) }),
    ]);
  }
  if (verbs.includes('UPDATE')) {
    const properties = { id: ID, ...createProperties(listUpdateFields(object)) };
    definitions.push([types.update, createInputSchema(object, { properties, required: ['id'] })]);
  }
  return definitions;
}

/** Returns the schema of a record. It permits other members, because providers add fields. */
export function createRecordSchema(object: ObjectContract): JsonSchema {
  const fields = listReadFields(object);
  const required = fields.filter(({ isAlwaysRead }) => isAlwaysRead);
  return {
    type: 'object',
    ...createDescription(object.displayName),
    properties: { id: ID, ...createProperties(fields) },
    required: ['id', ...listNames(required)],
  };
}

/**
 * Returns the schema of the values that a write sets, without the record's id. Unlike the definitions of
 * `createJsonSchema`, it permits no other fields, and no null for a required field.
 */
export function createValuesSchema(object: ObjectContract, type: 'CREATE' | 'UPDATE'): JsonSchema {
  const fields = type === 'CREATE' ? listCreateFields(object) : listUpdateFields(object);
  const required = type === 'CREATE' ? fields.filter(({ isRequired }) => isRequired) : [];
  const properties = createProperties(fields);
  for (const { name } of required) {
    properties[name] = { allOf: [properties[name], { not: { type: 'null' } }] };
  }
  return {
    type: 'object',
    ...createDescription(object.displayName),
    properties,
    required: listNames(required),
    additionalProperties: false,
    minProperties: 1,
  };
}

function createInputSchema(
  { displayName, acceptsOtherFields }: ObjectContract,
  { properties, required }: { properties: JsonSchema; required: string[] },
): JsonSchema {
  const members = { properties, required, additionalProperties: acceptsOtherFields };
  return { type: 'object', ...createDescription(displayName), ...members };
}

function listNames(fields: readonly FieldContract[]): string[] {
  return fields.map(({ name }) => name);
}

function createProperties(fields: readonly FieldContract[]): JsonSchema {
  return Object.fromEntries(fields.map((field) => [field.name, createPropertySchema(field)]));
}

const TYPES: Record<Exclude<ContractFieldType, 'JSON'>, JsonSchema> = {
  STRING: { type: 'string' },
  INTEGER: { type: 'integer' },
  NUMBER: { type: 'number' },
  BOOLEAN: { type: 'boolean' },
  DATE: { type: 'string', format: 'date' },
  DATE_TIME: { type: 'string', format: 'date-time' },
  ENUM: { type: 'string' },
  REFERENCE: { type: 'string' },
};

/** Every field may be null, because a record may have no value for it, and a write may remove its value. */
function createPropertySchema({ type, isList, values, description }: FieldContract): JsonSchema {
  if (type === 'JSON') return createDescription(description);
  const itemSchema = values ? { enum: values.map(({ value }) => value) } : TYPES[type];
  const schema = isList ? { type: 'array', items: itemSchema } : itemSchema;
  return { anyOf: [schema, { type: 'null' }], ...createDescription(description) };
}

function createDescription(description: string | null): JsonSchema {
  return description === null ? {} : { description };
}
