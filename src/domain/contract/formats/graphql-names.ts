/** Names of a contract's types in GraphQL, in its `.graphql` form and in the typed API. */
import type { FieldContract } from '../contract-fields.ts';
import type { ContractFieldType } from '../field-type.ts';
import type { ObjectContract } from '../object-contract.ts';
import type { GeneratedObject } from './generated.ts';
import { memberName, typeName } from './safe-names.ts';

/** INTEGER is Float, because GraphQL's Int has 32 bits and providers' integers exceed them. */
export const SCALARS = {
  STRING: 'String',
  INTEGER: 'Float',
  NUMBER: 'Float',
  BOOLEAN: 'Boolean',
  DATE: 'Date',
  DATE_TIME: 'DateTime',
  ENUM: 'String',
  REFERENCE: 'ID',
  JSON: 'JSON',
} as const satisfies Record<ContractFieldType, string>;

/** Types of the typed API that every contract has. Types of objects end in words that none of these ends in. */
const FIXED_TYPES = [
  'Query',
  'Mutation',
  'Subscription',
  'Int',
  'JSONObject',
  'PageInfo',
  'RecordInstallation',
  'RecordEventKind',
  'WriteResult',
  'OperationStatus',
  ...Object.values(SCALARS),
];

/** The names of enum types by field. A field whose values or name GraphQL cannot have remains a text. */
export function enumNames(objects: readonly GeneratedObject[]): Map<FieldContract, string> {
  const usedNames = new Set(FIXED_TYPES);
  for (const { types } of objects) for (const name of Object.values(types)) usedNames.add(name);
  const names = new Map<FieldContract, string>();
  for (const object of objects) {
    for (const field of object.fields) {
      const name = `${typeName(object.name)}${typeName(field.name)}`;
      if (!isEnum(field) || usedNames.has(name)) continue;
      usedNames.add(name);
      names.set(field, name);
    }
  }
  return names;
}

const ENUM_VALUE = /^(?!true$|false$|null$|__)[A-Za-z_][A-Za-z0-9_]*$/;

/** True if the values can be the names of an enum's values. */
function isEnum({ type, values }: FieldContract): boolean {
  return (
    type === 'ENUM' &&
    values !== null &&
    values.length > 0 &&
    values.every(({ value }) => ENUM_VALUE.test(value))
  );
}

/** The member of inputs for names that the contract does not list. */
export const OTHER_FIELDS = '_otherFields';

/** False if the contract lists every name, or if a field has the name of the member. */
export function hasOtherFields({ acceptsOtherFields, fields }: ObjectContract): boolean {
  return acceptsOtherFields && !fields.some(({ name }) => memberName(name) === OTHER_FIELDS);
}
