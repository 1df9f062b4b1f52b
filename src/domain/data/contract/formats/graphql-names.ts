/** Names the types of a contract in GraphQL, for its `.graphql` file and for the typed API. */
import type { ObjectContract } from '../contract-resource.ts';
import type { FieldContract } from '../field-contract.ts';
import type { ContractFieldType } from '../field-type.ts';
import type { GeneratedObject } from './generated.ts';
import { toMemberName, toTypeName } from './safe-names.ts';

/** The scalars of field types. INTEGER is Float, because integers of providers can exceed the 32 bits of GraphQL's Int. */
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

/** Types of every typed API. The type names of objects end in suffixes that none of these has. */
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

/** Names the enum types of fields. A field whose name or values are invalid in GraphQL has none and is a string. */
export function createEnumNames(objects: readonly GeneratedObject[]): Map<FieldContract, string> {
  const usedNames = new Set(FIXED_TYPES);
  for (const { types } of objects) {
    for (const name of Object.values(types)) usedNames.add(name);
  }
  const names = new Map<FieldContract, string>();
  for (const object of objects) {
    for (const field of object.fields) {
      const name = `${toTypeName(object.name)}${toTypeName(field.name)}`;
      if (!hasEnumType(field) || usedNames.has(name)) continue;
      usedNames.add(name);
      names.set(field, name);
    }
  }
  return names;
}

const ENUM_VALUE = /^(?!true$|false$|null$|__)[A-Za-z_][A-Za-z0-9_]*$/;

/** True if the field's values are valid names in a GraphQL enum. */
function hasEnumType({ type, values }: FieldContract): boolean {
  return (
    type === 'ENUM' &&
    values !== null &&
    values.length > 0 &&
    values.every(({ value }) => ENUM_VALUE.test(value))
  );
}

/** The member of an input that holds fields that the contract does not list. */
export const OTHER_FIELDS = '_otherFields';

/** True if inputs have the member for other fields. False if a field already has its name. */
export function hasOtherFields({ acceptsOtherFields, fields }: ObjectContract): boolean {
  return acceptsOtherFields && !fields.some(({ name }) => toMemberName(name) === OTHER_FIELDS);
}
