/** Fields that callers define in an account: what they say of one, and what providers can honour of it. */

import type { ProviderSession } from './contract.ts';
import type { FieldValueType } from './descriptions.ts';

export const CARDINALITIES = ['MANY_TO_ONE', 'ONE_TO_ONE'] as const;
export const DELETION_RULES = ['CASCADE', 'RESTRICT', 'SET_NULL'] as const;

export interface FieldDefinition {
  fieldName: string;
  displayName: string;
  valueType: FieldValueType;
  description: string | null;
  required: boolean | null;
  unique: boolean | null;
  indexed: boolean | null;
  stringOptions: StringOptions | null;
  numericOptions: NumericOptions | null;
  association: FieldAssociation | null;
}

export interface StringOptions {
  length: number | null;
  pattern: string | null;
  /** The values of a select field. */
  values: string[] | null;
  /** Whether records may have these values alone. */
  valuesRestricted: boolean | null;
  defaultValue: string | null;
}

export interface NumericOptions {
  precision: number | null;
  scale: number | null;
  min: number | null;
  max: number | null;
  defaultValue: number | null;
}

export interface FieldAssociation {
  associationType: string;
  targetObject: string;
  targetField: string | null;
  cardinality: (typeof CARDINALITIES)[number] | null;
  onDelete: (typeof DELETION_RULES)[number] | null;
  required: boolean | null;
  reverseLookupFieldName: string | null;
  labels: { singular: string | null; plural: string | null } | null;
}

export interface DefineFieldsCapability {
  /** The types that a field may have. */
  types: readonly FieldValueType[];
  /**
   * The members of a definition that are honoured beside its names and type, by their paths:
   * `stringOptions.length`; `stringOptions.valuesRestricted:true` if one value is. Others are refused.
   */
  options: readonly string[];
  /** What a new field may be called, and the same in words: `must ...`. */
  names: { pattern: RegExp; rule: string };
  /**
   * Makes the fields as they are defined, or changes those that differ; the same again changes nothing. One outcome
   * for each, in the order given. Throws if the object is unknown, or no answer came.
   */
  define(session: ProviderSession, definitions: FieldDefinitions): Promise<DefinedField[]>;
}

export interface FieldDefinitions {
  objectName: string;
  fields: FieldDefinition[];
}

/** The outcome of one definition: it is returned, never thrown. */
export interface DefinedField {
  action: 'CREATE' | 'UPDATE' | 'NONE';
  /** Why the field is not as defined; null if it is. */
  error: string | null;
  warnings: string[];
  /** The field as the provider describes it, if it is there. */
  metadata: Record<string, unknown> | null;
}

export function definedField(
  action: DefinedField['action'],
  metadata: Record<string, unknown>,
  warnings: string[] = [],
): DefinedField {
  return { action, error: null, warnings, metadata };
}

export function undefinedField(
  error: string,
  metadata: Record<string, unknown> | null = null,
): DefinedField {
  return { action: 'NONE', error, warnings: [], metadata };
}
