/** The fields that names of the builder's stand for in an installation: those of the integration, and those that a page added. */
import type { FieldMapping, ReadObject } from '../../integration/integration-content.ts';

interface Mapped {
  fieldName?: string | null | undefined;
  mapToName?: string | null | undefined;
}

/** What of a choice says which fields names stand for. */
export interface MappingChoice {
  disabled?: boolean | null | undefined;
  fieldMappings?: readonly Mapped[] | null | undefined;
  dynamicMappings?: readonly Mapped[] | null | undefined;
}

/**
 * The fields of names without a field of their own, by name. The customer's mapping comes first, then a page's; a
 * required name has its default then.
 */
export function mappedNames(
  { requiredFields, optionalFields }: Pick<ReadObject, 'requiredFields' | 'optionalFields'>,
  { fieldMappings, dynamicMappings }: MappingChoice,
): Map<string, string> {
  const mapped = new Map<string, string>();
  const put = (mapToName: string | null | undefined, fieldName: string | null | undefined) => {
    if (mapToName != null && fieldName) mapped.set(mapToName, fieldName);
  };
  for (const { fieldName, mapToName, default: byDefault } of requiredFields) {
    if (fieldName === null) put(mapToName, byDefault);
  }
  for (const { fieldName, mapToName } of dynamicMappings ?? []) put(mapToName, fieldName);
  const open = openNames([...requiredFields, ...optionalFields], dynamicMappings);
  for (const { fieldName, mapToName } of fieldMappings ?? []) {
    if (mapToName != null && open.has(mapToName)) put(mapToName, fieldName);
  }
  return mapped;
}

/** The names that a config may map to fields. */
export function openNames(
  fields: readonly FieldMapping[],
  dynamicMappings: MappingChoice['dynamicMappings'],
): Set<string> {
  const ofIntegration = fields.flatMap(({ fieldName, mapToName }) =>
    fieldName === null ? (mapToName ?? []) : [],
  );
  const ofPage = (dynamicMappings ?? []).flatMap(({ mapToName }) => mapToName ?? []);
  return new Set([...ofIntegration, ...ofPage]);
}

/** The required names that stand for no field; none of an object that is not read. */
export function listUnmapped(
  spec: Pick<ReadObject, 'requiredFields' | 'optionalFields'>,
  choice: MappingChoice,
): string[] {
  if (choice.disabled) return [];
  const mapped = mappedNames(spec, choice);
  return spec.requiredFields.flatMap(({ fieldName, mapToName }) =>
    fieldName === null && mapToName !== null && !mapped.has(mapToName) ? mapToName : [],
  );
}
