/** Converts field definitions to Salesforce's metadata. */
import { isDeepStrictEqual } from 'node:util';
import type { FieldValueType } from '../contract.ts';
import type { FieldDefinition } from '../defining-fields.ts';

export const TYPES = {
  STRING: 'Text',
  BOOLEAN: 'Checkbox',
  DATE: 'Date',
  DATETIME: 'DateTime',
  SINGLE_SELECT: 'Picklist',
  MULTI_SELECT: 'MultiselectPicklist',
  INT: 'Number',
  FLOAT: 'Number',
  REFERENCE: 'Lookup',
} as const satisfies Partial<Record<FieldValueType, string>>;

/** The maximum length of the type Text. Longer strings have the type LongTextArea, up to 131,072 characters. */
const TEXT_MAX = 255;
const PRECISION = 18;
const FLOAT_SCALE = 2;
const DELETE_CONSTRAINTS = {
  CASCADE: 'Cascade',
  RESTRICT: 'Restrict',
  SET_NULL: 'SetNull',
} as const;

export type Metadata = Record<string, unknown> & { type: string };

/** Returns the defined members. Members that the definition omits stay unchanged. */
export function toMetadata(field: FieldDefinition): Metadata {
  const { displayName: label, description, required, unique, indexed } = field;
  return {
    ...toTypeMetadata(field),
    label,
    ...(description !== null && { description }),
    ...(required !== null && { required }),
    ...(unique !== null && { unique }),
    ...(indexed !== null && { externalId: indexed }),
  };
}

/** Returns defaults for members that Salesforce requires of a new field. */
export function getRequiredDefaults({ type }: Metadata, field: FieldDefinition, object: string) {
  const fractions = field.valueType === 'INT' ? 0 : FLOAT_SCALE;
  // The name of the list on the target object, which must be unique there.
  const relationshipName = `${object}_${field.fieldName}`
    .replace(/__c$/, '')
    .replaceAll(/_+/g, '_');
  const defaults: Record<string, object> = {
    Text: { length: TEXT_MAX },
    LongTextArea: { visibleLines: 3 },
    Checkbox: { defaultValue: 'false' },
    MultiselectPicklist: { visibleLines: 4 },
    Number: { precision: PRECISION, scale: fractions },
    Lookup: { relationshipName },
  };
  return defaults[type] ?? {};
}

function toTypeMetadata(field: FieldDefinition): Metadata {
  const { valueType, stringOptions } = field;
  switch (valueType) {
    case 'STRING':
      return toTextMetadata(stringOptions);
    case 'SINGLE_SELECT':
    case 'MULTI_SELECT':
      return { type: TYPES[valueType], valueSet: createValueSet(stringOptions) };
    case 'INT':
    case 'FLOAT':
      return toNumberMetadata(field);
    case 'REFERENCE':
      return toLookupMetadata(field);
    default:
      return { type: TYPES[valueType as 'BOOLEAN' | 'DATE' | 'DATETIME'] };
  }
}

function toTextMetadata(options: FieldDefinition['stringOptions']): Metadata {
  const { length = null, defaultValue = null } = options ?? {};
  return {
    type: (length ?? 0) > TEXT_MAX ? 'LongTextArea' : TYPES.STRING,
    ...(length !== null && { length }),
    // A default value is a formula, so a string needs quotes.
    ...(defaultValue !== null && {
      defaultValue: `"${defaultValue.replaceAll(/["\\]/g, '\\$&')}"`,
    }),
  };
}

function toNumberMetadata({ numericOptions }: FieldDefinition): Metadata {
  const { precision = null, scale = null, defaultValue = null } = numericOptions ?? {};
  return {
    type: TYPES.FLOAT,
    ...(precision !== null && { precision }),
    ...(scale !== null && { scale }),
    ...(defaultValue !== null && { defaultValue: String(defaultValue) }),
  };
}

function toLookupMetadata({ association }: FieldDefinition): Metadata {
  const { targetObject, onDelete, reverseLookupFieldName, labels } = association ?? {};
  return {
    type: TYPES.REFERENCE,
    referenceTo: targetObject,
    ...(reverseLookupFieldName && { relationshipName: reverseLookupFieldName }),
    ...(labels?.plural && { relationshipLabel: labels.plural }),
    ...(onDelete && { deleteConstraint: DELETE_CONSTRAINTS[onDelete] }),
  };
}

interface ValueSet {
  restricted?: boolean;
  valueSetDefinition?: { sorted?: boolean; value?: { valueName: string }[] };
}

function createValueSet(options: FieldDefinition['stringOptions']): ValueSet {
  const { values, valuesRestricted, defaultValue } = options ?? {};
  return {
    ...(typeof valuesRestricted === 'boolean' && { restricted: valuesRestricted }),
    valueSetDefinition: {
      sorted: false,
      value: (values ?? []).map((value) => ({
        valueName: value,
        label: value,
        default: value === defaultValue,
      })),
    },
  };
}

/** True if the field already has all desired members. */
export function isUpToDate(desired: Metadata, existing: Metadata): boolean {
  return Object.entries(desired).every(([name, value]) =>
    name === 'valueSet'
      ? isValueSetUpToDate(value as ValueSet, (existing.valueSet ?? {}) as ValueSet)
      : isDeepStrictEqual(value, existing[name]),
  );
}

function isValueSetUpToDate(desired: ValueSet, existing: ValueSet): boolean {
  const isSame = desired.restricted === undefined || desired.restricted === existing.restricted;
  return isSame && listNewValues(desired, existing).length === 0;
}

/** Merges the desired members into the existing ones. Existing values stay, because Salesforce removes omitted ones. */
export function mergeMetadata(desired: Metadata, existing: Metadata): Metadata {
  const mergedMetadata = { ...existing, ...desired };
  if (!desired.valueSet) return mergedMetadata;
  const [desiredSet, existingSet] = [
    desired.valueSet as ValueSet,
    (existing.valueSet ?? {}) as ValueSet,
  ];
  const value = [...listValues(existingSet), ...listNewValues(desiredSet, existingSet)];
  const valueSetDefinition = { ...existingSet.valueSetDefinition, value };
  return { ...mergedMetadata, valueSet: { ...existingSet, ...desiredSet, valueSetDefinition } };
}

function listNewValues(desired: ValueSet, existing: ValueSet) {
  const existingNames = new Set(listValues(existing).map(({ valueName }) => valueName));
  return listValues(desired).filter(({ valueName }) => !existingNames.has(valueName));
}

function listValues({ valueSetDefinition }: ValueSet) {
  return valueSetDefinition?.value ?? [];
}
