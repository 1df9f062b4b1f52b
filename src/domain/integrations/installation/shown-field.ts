/** A field of a provider's object, in responses and in messages. */
import { z } from 'zod';
import type { FieldDescription } from '../../../providers/contract.ts';
import { computed, enumeration, resource } from '../../base/resource.ts';

type ValueType = FieldDescription['valueType'];

export const fieldValueType = enumeration('FieldValueType', 'The type of the values of a field.', {
  STRING: 'Text.',
  BOOLEAN: 'True or false.',
  SINGLE_SELECT: 'One of the values that the field lists.',
  MULTI_SELECT: 'Any number of the values that the field lists.',
  DATE: 'A date without a time.',
  DATETIME: 'A date with a time.',
  INT: 'A whole number.',
  FLOAT: 'A number.',
  REFERENCE: 'The id of another record.',
  OTHER: 'Any other type: providerType names it.',
} satisfies Record<ValueType, string>);

export const fieldValueResource = resource('FieldValue', 'A value that a select field may have.', {
  value: z.string().describe('The value in records.'),
  displayValue: z.string().describe('The value that people see.'),
});

export const fieldMetadataResource = resource(
  'FieldMetadata',
  'A field of an object at the provider.',
  {
    fieldName: z.string().describe("The provider's name of the field."),
    displayName: computed(
      z
        .string()
        .describe('The name that people see; the name of the field if the provider has no other.'),
      ({ displayName, fieldName }: FieldDescription) => displayName ?? fieldName,
    ),
    valueType: fieldValueType.describe('The type of its values.'),
    providerType: z.string().nullable().describe("The provider's own name of the type."),
    readOnly: z.boolean().describe("Whether it can't be written."),
    isCustom: z.boolean().describe("Whether it exists only in this customer's account."),
    isRequired: z.boolean().describe('Whether a new record must have it.'),
    values: z
      .array(fieldValueResource)
      .nullable()
      .describe('The values that may be chosen, for select types only.'),
    referenceTo: z
      .array(z.string())
      .nullable()
      .describe('The names of the objects that it may refer to, for references only.'),
  },
);

/** Returns the wire name of a type: `singleSelect` for `SINGLE_SELECT`. */
export function toWireValueType(type: ValueType): string {
  return type.toLowerCase().replace(/_(\w)/g, (_all, letter: string) => letter.toUpperCase());
}

export const WIRE_VALUE_TYPES = fieldValueType.options.map(toWireValueType);

/** Returns the type with this wire name. Unknown names are OTHER. */
export function parseWireValueType(wireName: string): ValueType {
  return fieldValueType.options.find((type) => toWireValueType(type) === wireName) ?? 'OTHER';
}

/** Returns the field for a message, without the members that the provider does not report. */
export function showField(field: FieldDescription) {
  return {
    ...field,
    displayName: field.displayName ?? field.fieldName,
    valueType: toWireValueType(field.valueType),
    providerType: field.providerType ?? undefined,
    values: field.values ?? undefined,
    referenceTo: field.referenceTo ?? undefined,
  };
}
