/** A field of a provider's object in REST responses and messages. */
import { FIELD_VALUE_TYPES, type FieldDescription } from '../../providers/contract.ts';

type ValueType = FieldDescription['valueType'];

/** Converts `SINGLE_SELECT` to `singleSelect`. */
export function valueTypeWord(type: ValueType): string {
  return type.toLowerCase().replace(/_(\w)/g, (_all, letter: string) => letter.toUpperCase());
}

export const VALUE_TYPE_WORDS = FIELD_VALUE_TYPES.map(valueTypeWord);

/** Converts `singleSelect` to `SINGLE_SELECT`. Unknown words are OTHER. */
export function valueTypeOfWord(word: string): ValueType {
  return FIELD_VALUE_TYPES.find((type) => valueTypeWord(type) === word) ?? 'OTHER';
}

/** Omits members that the provider does not report. */
export function showField(field: FieldDescription) {
  return {
    ...field,
    displayName: field.displayName ?? field.fieldName,
    valueType: valueTypeWord(field.valueType),
    providerType: field.providerType ?? undefined,
    values: field.values ?? undefined,
    referenceTo: field.referenceTo ?? undefined,
  };
}
