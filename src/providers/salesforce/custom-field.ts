/** Custom fields as Salesforce's metadata has them. */
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

/** Longer texts have a type of their own, which takes up to 131,072 characters. */
const TEXT_MAX = 255;
const PRECISION = 18;
const SCALE_OF_FRACTIONS = 2;
const DELETE_CONSTRAINTS = {
  CASCADE: 'Cascade',
  RESTRICT: 'Restrict',
  SET_NULL: 'SetNull',
} as const;

export type Metadata = Record<string, unknown> & { type: string };

/** What the definition says; what it does not say stays as it is. */
export function metadataOf(field: FieldDefinition): Metadata {
  const { displayName: label, description, required, unique, indexed } = field;
  return {
    ...partsByType(field),
    label,
    ...(description !== null && { description }),
    ...(required !== null && { required }),
    ...(unique !== null && { unique }),
    ...(indexed !== null && { externalId: indexed }),
  };
}

/** What Salesforce demands of a new field, if the definition does not say it. */
export function demandedOf({ type }: Metadata, field: FieldDefinition, object: string) {
  const fractions = field.valueType === 'INT' ? 0 : SCALE_OF_FRACTIONS;
  // The list on the target needs a name that no other has there.
  const relationshipName = `${object}_${field.fieldName}`
    .replace(/__c$/, '')
    .replaceAll(/_+/g, '_');
  const demanded: Record<string, object> = {
    Text: { length: TEXT_MAX },
    LongTextArea: { visibleLines: 3 },
    Checkbox: { defaultValue: 'false' },
    MultiselectPicklist: { visibleLines: 4 },
    Number: { precision: PRECISION, scale: fractions },
    Lookup: { relationshipName },
  };
  return demanded[type] ?? {};
}

function partsByType(field: FieldDefinition): Metadata {
  const { valueType, stringOptions } = field;
  switch (valueType) {
    case 'STRING':
      return textParts(stringOptions);
    case 'SINGLE_SELECT':
    case 'MULTI_SELECT':
      return { type: TYPES[valueType], valueSet: valueSetOf(stringOptions) };
    case 'INT':
    case 'FLOAT':
      return numberParts(field);
    case 'REFERENCE':
      return lookupParts(field);
    default:
      return { type: TYPES[valueType as 'BOOLEAN' | 'DATE' | 'DATETIME'] };
  }
}

function textParts(options: FieldDefinition['stringOptions']): Metadata {
  const { length = null, defaultValue = null } = options ?? {};
  return {
    type: (length ?? 0) > TEXT_MAX ? 'LongTextArea' : TYPES.STRING,
    ...(length !== null && { length }),
    // A default is a formula.
    ...(defaultValue !== null && {
      defaultValue: `"${defaultValue.replaceAll(/["\\]/g, '\\$&')}"`,
    }),
  };
}

function numberParts({ numericOptions }: FieldDefinition): Metadata {
  const { precision = null, scale = null, defaultValue = null } = numericOptions ?? {};
  return {
    type: TYPES.FLOAT,
    ...(precision !== null && { precision }),
    ...(scale !== null && { scale }),
    ...(defaultValue !== null && { defaultValue: String(defaultValue) }),
  };
}

function lookupParts({ association }: FieldDefinition): Metadata {
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

function valueSetOf(options: FieldDefinition['stringOptions']): ValueSet {
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

/** Whether the field is as wanted already. */
export function isCovered(wanted: Metadata, present: Metadata): boolean {
  return Object.entries(wanted).every(([name, value]) =>
    name === 'valueSet'
      ? isValueSetCovered(value as ValueSet, (present.valueSet ?? {}) as ValueSet)
      : isDeepStrictEqual(value, present[name]),
  );
}

function isValueSetCovered(wanted: ValueSet, present: ValueSet): boolean {
  const isSame = wanted.restricted === undefined || wanted.restricted === present.restricted;
  return isSame && newValues(wanted, present).length === 0;
}

/** Values that records may have stay: Salesforce takes away those that are left out. */
export function merged(wanted: Metadata, present: Metadata): Metadata {
  const whole = { ...present, ...wanted };
  if (!wanted.valueSet) return whole;
  const [to, from] = [wanted.valueSet as ValueSet, (present.valueSet ?? {}) as ValueSet];
  const value = [...valuesOf(from), ...newValues(to, from)];
  const valueSetDefinition = { ...from.valueSetDefinition, value };
  return { ...whole, valueSet: { ...from, ...to, valueSetDefinition } };
}

function newValues(wanted: ValueSet, present: ValueSet) {
  const known = new Set(valuesOf(present).map(({ valueName }) => valueName));
  return valuesOf(wanted).filter(({ valueName }) => !known.has(valueName));
}

function valuesOf({ valueSetDefinition }: ValueSet) {
  return valueSetDefinition?.value ?? [];
}
