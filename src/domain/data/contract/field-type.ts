/** The field types in contracts, and how they are derived from providers' types. */
import type { z } from 'zod';
import type { FieldValueType } from '../../../providers/contract.ts';
import { enumeration } from '../../base/resource.ts';

export const contractFieldType = enumeration(
  'ContractFieldType',
  'The type of a field in a contract.',
  {
    STRING: 'Text.',
    INTEGER: 'A whole number.',
    NUMBER: 'A number.',
    BOOLEAN: 'True or false.',
    DATE: 'A date without a time.',
    DATE_TIME: 'A date with a time.',
    ENUM: 'One of the values that the field lists, if they are known.',
    REFERENCE: 'The id of another record.',
    JSON: 'Any JSON value. If `isTypeKnown` is false, the type is unknown.',
  },
);
export type ContractFieldType = z.output<typeof contractFieldType>;

export interface FieldType {
  type: ContractFieldType;
  /** True if a value is a list of items of the type. */
  isList: boolean;
  /** False if no description has the type of the field, or if descriptions contradict each other. */
  isTypeKnown: boolean;
}

export const UNKNOWN_TYPE: Readonly<FieldType> = {
  type: 'JSON',
  isList: false,
  isTypeKnown: false,
};

const TYPES: Record<FieldValueType, ContractFieldType> = {
  STRING: 'STRING',
  BOOLEAN: 'BOOLEAN',
  SINGLE_SELECT: 'ENUM',
  MULTI_SELECT: 'ENUM',
  DATE: 'DATE',
  DATETIME: 'DATE_TIME',
  INT: 'INTEGER',
  FLOAT: 'NUMBER',
  REFERENCE: 'REFERENCE',
  OTHER: 'JSON',
};

/** Returns the type that a manifest pins. It is known, even if it is JSON. */
export function toPinnedType(valueType: FieldValueType): FieldType {
  return { type: TYPES[valueType], isList: valueType === 'MULTI_SELECT', isTypeKnown: true };
}

/** Returns the type of a provider's description. OTHER means that the type is unknown. */
export function toDescribedType(valueType: FieldValueType): FieldType {
  return valueType === 'OTHER' ? UNKNOWN_TYPE : toPinnedType(valueType);
}

/** Families of types. The first type of a family can represent the values of the others. */
const TYPE_FAMILIES: readonly (readonly ContractFieldType[])[] = [
  ['NUMBER', 'INTEGER'],
  ['STRING', 'ENUM', 'REFERENCE'],
];

/**
 * Returns the narrowest type that can represent the values of all known types. Unknown types are ignored. Null if the
 * known types contradict each other.
 */
export function findSharedType(types: readonly FieldType[]): FieldType | null {
  const knownTypes = types.filter(({ isTypeKnown }) => isTypeKnown);
  const [first, ...others] = knownTypes;
  if (!first) return UNKNOWN_TYPE;
  if (others.some(({ isList }) => isList !== first.isList)) return null;
  if (others.every(({ type }) => type === first.type)) return first;
  const [widestType] =
    TYPE_FAMILIES.find((family) => knownTypes.every(({ type }) => family.includes(type))) ?? [];
  return widestType ? { ...first, type: widestType } : null;
}
