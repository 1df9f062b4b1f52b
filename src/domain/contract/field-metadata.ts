/** Finds metadata of an object's fields, as described by the account, the provider's declaration or other accounts. */
import type { FieldDescription, ObjectDescription } from '../../providers/contract.ts';
import type { ValueReplacements } from '../installation/choice/value-mapping.ts';
import type { FieldContract } from './field-contract.ts';
import { type FieldType, findSharedType, toDescribedType, UNKNOWN_TYPE } from './field-type.ts';
import type { LearnedType } from './learned-fields.ts';

/** The sources of metadata about an object's fields, the most exact first. */
export interface FieldSources {
  /** The account's description. Null if there is none. */
  description: ObjectDescription | null;
  /** The fields that every account of the provider has. */
  declaredFields: readonly FieldDescription[];
  /** The types of fields in all accounts of the project, by the provider's name of the field. */
  learnedFields: ReadonlyMap<string, readonly LearnedType[]>;
}

export interface FieldMetadata {
  type: FieldType;
  isReadOnly: boolean;
  isRequired: boolean;
  displayName: string | null;
  values: FieldContract['values'];
  references: string[] | null;
}

export const NO_METADATA: FieldMetadata = {
  type: UNKNOWN_TYPE,
  isReadOnly: false,
  isRequired: false,
  displayName: null,
  values: null,
  references: null,
};

/** Returns a function that finds metadata by the provider's name of a field. Some providers ignore the case of names. */
export function indexFieldMetadata({ description, declaredFields, learnedFields }: FieldSources) {
  const findDescribedField = indexFields(description?.fields ?? []);
  const findDeclaredField = indexFields(declaredFields);
  return (name: string): FieldMetadata => {
    const field = findDescribedField(name) ?? findDeclaredField(name);
    const rows = learnedFields.get(name) ?? learnedFields.get(name.toLowerCase());
    if (!field) return rows ? toLearnedMetadata(rows) : NO_METADATA;
    const { valueType, readOnly, isRequired, displayName, values, referenceTo } = field;
    return {
      type: toDescribedType(valueType),
      isReadOnly: readOnly,
      isRequired,
      displayName,
      values: values?.length ? values : null,
      references: referenceTo?.length ? referenceTo : null,
    };
  };
}

function indexFields(fields: readonly FieldDescription[]) {
  const fieldsByName = new Map(fields.map((field) => [field.fieldName.toLowerCase(), field]));
  for (const field of fields) fieldsByName.set(field.fieldName, field);
  return (name: string) => fieldsByName.get(name) ?? fieldsByName.get(name.toLowerCase());
}

function toLearnedMetadata(rows: readonly LearnedType[]): FieldMetadata {
  return {
    ...NO_METADATA,
    type: findSharedType(rows.map(({ valueType }) => toDescribedType(valueType))) ?? UNKNOWN_TYPE,
    isReadOnly: rows.every(({ readOnly }) => readOnly),
    isRequired: rows.every(({ required }) => required),
  };
}

/**
 * Returns the type of a field whose values may be replaced. The replacements are strings. A field of another type then has
 * values of both types, so its type is unknown.
 */
export function toDeliveredType(
  type: FieldType,
  replacements: ValueReplacements | undefined,
): FieldType {
  if (!replacements || ['STRING', 'ENUM', 'REFERENCE'].includes(type.type)) return type;
  return UNKNOWN_TYPE;
}

export function toDeliveredValues(
  values: FieldContract['values'],
  replacements: ValueReplacements | undefined,
): FieldContract['values'] {
  if (!values || !replacements) return values;
  return values.map(({ value, displayValue }) => ({
    value: replacements[value] ?? value,
    displayValue,
  }));
}
