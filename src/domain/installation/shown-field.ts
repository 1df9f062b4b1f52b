/** A field of a provider's object as REST answers and messages show it. */
import { FIELD_VALUE_TYPES, type FieldDescription } from '../../providers/contract.ts';

type ValueType = FieldDescription['valueType'];

/** `SINGLE_SELECT` is `singleSelect`. */
export function valueTypeWord(type: ValueType): string {
  return type.toLowerCase().replace(/_(\w)/g, (_all, letter: string) => letter.toUpperCase());
}

export const VALUE_TYPE_WORDS = FIELD_VALUE_TYPES.map(valueTypeWord);

/** Without what the provider does not say. */
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
