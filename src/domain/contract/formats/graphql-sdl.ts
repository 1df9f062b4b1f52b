/** A contract as GraphQL types: a type for the records of each object, and inputs that write them. */
import { parse, print } from 'graphql';
import type { FieldContract } from '../contract-fields.ts';
import type { ContractFieldType } from '../field-type.ts';
import type { Contract } from '../object-contract.ts';
import {
  createdFields,
  type GeneratedObject,
  generatedObjects,
  readFields,
  updatedFields,
} from './generated.ts';
import { memberName, typeName } from './safe-names.ts';

export function formatGraphqlSdl(contract: Contract): string {
  const objects = generatedObjects(contract);
  const taken = new Set(objects.flatMap(({ types }) => Object.values(types)));
  const definitions = objects.flatMap((object) => formatTypes(object, taken));
  const text = [
    '"""Any JSON value."""\nscalar JSON',
    '"""A date, like `2026-01-31`."""\nscalar Date',
    '"""A date with a time and an offset from UTC (RFC 3339)."""\nscalar DateTime',
    ...definitions,
  ].join('\n');
  return `# Contract ${contract.hash}. Generated: do not edit.\n${print(parse(text))}\n`;
}

/** `taken` has the names of all types, to which this adds those of enums. */
function formatTypes(object: GeneratedObject, taken: Set<string>): string[] {
  const { verbs, types, displayName } = object;
  const enums = new Map<string, string>();
  for (const field of object.fields) {
    const name = `${typeName(object.name)}${typeName(field.name)}`;
    if (!isEnum(field) || taken.has(name)) continue;
    taken.add(name);
    enums.set(field.name, name);
  }
  const member = (field: FieldContract, isRequired = false) =>
    `${comment(field.description)}${memberName(field.name)}: ${formatType(field, enums)}${isRequired ? '!' : ''}`;
  const other = otherMember(object);
  const head = comment(displayName);
  const definitions = object.fields.flatMap((field) => {
    const name = enums.get(field.name);
    const values = field.values?.map(
      ({ value, displayValue }) => `${comment(displayValue)}${value}`,
    );
    return name && values ? [`enum ${name} { ${values.join('\n')} }`] : [];
  });
  const add = (kind: 'type' | 'input', name: string, members: string[]) => {
    // GraphQL has no types without fields.
    if (members.length > 0) definitions.push(`${head}${kind} ${name} {\n${members.join('\n')}\n}`);
  };
  if (verbs.includes('LIST')) {
    add('type', types.record, ['id: ID!', ...readFields(object).map((field) => member(field))]);
  }
  if (verbs.includes('CREATE')) {
    const members = createdFields(object).map((field) => member(field, field.isRequired));
    add('input', types.create, [...members, ...other]);
  }
  if (verbs.includes('UPDATE')) {
    add('input', types.update, [...updatedFields(object).map((field) => member(field)), ...other]);
  }
  return definitions;
}

const OTHER_FIELDS = '_otherFields';

/** The member for names that the contract does not list. None if a field has its name. */
function otherMember({ acceptsOtherFields, fields }: GeneratedObject): string[] {
  const isTaken = fields.some(({ name }) => memberName(name) === OTHER_FIELDS);
  if (!acceptsOtherFields || isTaken) return [];
  return [`"Further fields of the provider, by its names."\n${OTHER_FIELDS}: JSON`];
}

const ENUM_VALUE = /^(?!true$|false$|null$|__)[A-Za-z_][A-Za-z0-9_]*$/;

/** True if the values can be the names of an enum's values. Other values remain texts. */
function isEnum({ type, values }: FieldContract): boolean {
  return type === 'ENUM' && values !== null && values.every(({ value }) => ENUM_VALUE.test(value));
}

/** INTEGER is Float, because GraphQL's Int has 32 bits and providers' integers exceed them. */
const TYPES: Record<ContractFieldType, string> = {
  STRING: 'String',
  INTEGER: 'Float',
  NUMBER: 'Float',
  BOOLEAN: 'Boolean',
  DATE: 'Date',
  DATE_TIME: 'DateTime',
  ENUM: 'String',
  REFERENCE: 'ID',
  JSON: 'JSON',
};

function formatType(
  { name, type, isList }: FieldContract,
  enums: ReadonlyMap<string, string>,
): string {
  const item = enums.get(name) ?? TYPES[type];
  return isList ? `[${item}!]` : item;
}

function comment(text: string | null): string {
  return text === null ? '' : `${JSON.stringify(text)}\n`;
}
