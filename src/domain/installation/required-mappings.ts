/** Fields that an integration requires by the builder's name alone: each installation maps a field to them. */
import type { FieldMapping } from '../integration/integration-content.ts';

interface Choice {
  disabled?: boolean | null | undefined;
  fieldMappings?:
    | readonly { fieldName?: string | null | undefined; mapToName?: string | null | undefined }[]
    | null
    | undefined;
}

/** The names that the choice maps no field to; none of an object that it doesn't read. */
export function listUnmapped(
  { requiredFields }: { requiredFields: readonly FieldMapping[] },
  { disabled, fieldMappings }: Choice,
): string[] {
  if (disabled) return [];
  const mapped = new Set(
    (fieldMappings ?? []).flatMap(({ fieldName, mapToName }) => (fieldName ? mapToName : [])),
  );
  return requiredFields.flatMap(({ fieldName, mapToName }) =>
    fieldName === null && mapToName !== null && !mapped.has(mapToName) ? mapToName : [],
  );
}
