/** Descriptions of a provider's objects and fields. */
export const FIELD_VALUE_TYPES = [
  'STRING',
  'BOOLEAN',
  'SINGLE_SELECT',
  'MULTI_SELECT',
  'DATE',
  'DATETIME',
  'INT',
  'FLOAT',
  'REFERENCE',
  'OTHER',
] as const;
export type FieldValueType = (typeof FIELD_VALUE_TYPES)[number];

/** A type alias, because an interface is not assignable to JSON columns. */
export type FieldDescription = {
  fieldName: string;
  displayName: string | null;
  valueType: FieldValueType;
  /** The provider's own name of the type. */
  providerType: string | null;
  readOnly: boolean;
  isCustom: boolean;
  isRequired: boolean;
  /** Only for select types. */
  values: { value: string; displayValue: string }[] | null;
  /** Only for references. */
  referenceTo: string[] | null;
};

export interface ObjectSummary {
  name: string;
  displayName: string;
}

export interface ObjectDescription {
  name: string;
  displayName: string | null;
  fields: FieldDescription[];
  /** True if the account may have further fields. */
  isPartial?: boolean;
}
