/** Definitions of fields that callers create in an account, and the capability that creates them. */
import type { ProviderSession } from './contract.ts';
import type { FieldValueType } from './descriptions.ts';

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

interface StringOptions {
  length: number | null;
  pattern: string | null;
  /** The values of a select field. */
  values: string[] | null;
  /** If true, records may only have these values. */
  valuesRestricted: boolean | null;
  defaultValue: string | null;
}

interface NumericOptions {
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
  cardinality: 'MANY_TO_ONE' | 'ONE_TO_ONE' | null;
  onDelete: 'CASCADE' | 'RESTRICT' | 'SET_NULL' | null;
  required: boolean | null;
  reverseLookupFieldName: string | null;
  labels: { singular: string | null; plural: string | null } | null;
}

export interface DefineFieldsCapability {
  /** Types that a field may have. */
  types: readonly FieldValueType[];
  /**
   * Supported members of a definition besides its names and type, by path: `stringOptions.length`, or
   * `stringOptions.valuesRestricted:true` if only one value is supported. Other members are refused.
   */
  options: readonly string[];
  /** Permitted names of new fields, and the rule as a message: `must ...`. */
  names: { pattern: RegExp; rule: string };
  /**
   * Creates the fields, and updates those that differ. Repeating it changes nothing. Returns one outcome for each
   * definition, in order. Throws if the object is unknown or there was no response.
   */
  define(session: ProviderSession, definitions: FieldDefinitions): Promise<FieldOutcome[]>;
}

export interface FieldDefinitions {
  objectName: string;
  fields: FieldDefinition[];
}

/** The outcome of one definition. Failures are returned, not thrown. */
export interface FieldOutcome {
  action: 'CREATE' | 'UPDATE' | 'NONE';
  /** The reason why the field is not as defined. Null on success. */
  error: string | null;
  warnings: string[];
  /** The provider's description of the field. Null if the field does not exist. */
  metadata: Record<string, unknown> | null;
}

export function createFieldOutcome(
  action: FieldOutcome['action'],
  metadata: Record<string, unknown>,
): FieldOutcome {
  return { action, error: null, warnings: [], metadata };
}

export function createRefusedField(
  error: string,
  metadata: Record<string, unknown> | null = null,
): FieldOutcome {
  return { action: 'NONE', error, warnings: [], metadata };
}
