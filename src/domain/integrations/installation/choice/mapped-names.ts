/** Resolves the builder's names to fields of the provider. The names come from the integration and from web pages. */
import type { FieldMapping, ReadObject } from '../../integration/integration-content.ts';

interface NameMapping {
  fieldName?: string | null | undefined;
  mapToName?: string | null | undefined;
}

/** The members of a choice that map names to fields. */
export interface MappingChoice {
  disabled?: boolean | null | undefined;
  fieldMappings?: readonly NameMapping[] | null | undefined;
  dynamicMappings?: readonly NameMapping[] | null | undefined;
}

/**
 * Maps each name without a fixed field to the chosen field. The customer's mapping takes precedence over a web page's,
 * and both over the default of a required name.
 */
export function mapNamesToFields(
  { requiredFields, optionalFields }: Pick<ReadObject, 'requiredFields' | 'optionalFields'>,
  { fieldMappings, dynamicMappings }: MappingChoice,
): Map<string, string> {
  const fieldsByName = new Map<string, string>();
  const addName = (mapToName: string | null | undefined, fieldName: string | null | undefined) => {
    if (mapToName != null && fieldName) fieldsByName.set(mapToName, fieldName);
  };
  for (const field of requiredFields) {
    if (field.fieldName === null) addName(field.mapToName, field.default);
  }
  for (const { fieldName, mapToName } of dynamicMappings ?? []) addName(mapToName, fieldName);
  const mappableNames = listMappableNames([...requiredFields, ...optionalFields], dynamicMappings);
  for (const { fieldName, mapToName } of fieldMappings ?? []) {
    if (mapToName != null && mappableNames.has(mapToName)) addName(mapToName, fieldName);
  }
  return fieldsByName;
}

/** Lists the names that a config may map to fields. */
export function listMappableNames(
  fields: readonly FieldMapping[],
  dynamicMappings: MappingChoice['dynamicMappings'],
): Set<string> {
  const openFields = fields.filter(({ fieldName }) => fieldName === null);
  const mappings = [...openFields, ...(dynamicMappings ?? [])];
  return new Set(mappings.flatMap(({ mapToName }) => mapToName ?? []));
}

/** Returns the name of a field in messages: the mapped name, or else the provider's name. */
export function getDeliveredName({ fieldName, mapToName }: FieldMapping): string {
  return mapToName ?? fieldName ?? '';
}

/** Lists the required names that are not mapped to a field. Empty if the object is not read. */
export function listUnmappedNames(
  spec: Pick<ReadObject, 'requiredFields' | 'optionalFields'>,
  choice: MappingChoice,
): string[] {
  if (choice.disabled) return [];
  const fieldsByName = mapNamesToFields(spec, choice);
  return spec.requiredFields.flatMap(({ fieldName, mapToName }) =>
    fieldName === null && mapToName !== null && !fieldsByName.has(mapToName) ? mapToName : [],
  );
}
