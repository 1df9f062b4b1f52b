/** Mapped names that a web page adds to the integration's mapped names at run time. */

import { z } from 'zod';
import type { Issue } from '../../../../kernel/errors.ts';
import { orElse, orNull } from '../../../base/input-schemas.ts';
import { createInputIssue } from '../../../base/issues.ts';
import { listRepeatedIndexes } from '../../../base/repeats.ts';
import { resource } from '../../../base/resource.ts';
import type { ReadObject } from '../../integration/integration-content.ts';
import { CONTENT_LIMITS, contentText } from '../../integration/integration-content-input.ts';

const PROMPT_LENGTH_MAX = 1_000;

const PROMPT = 'The prompt that people see when they map the name.';
const OFFERED_VALUE = "The builder's value that people map to a value of the provider.";
const DYNAMIC_MAPPING = "A name that is mapped to a field, in addition to the integration's names.";
const mapToName = contentText.describe("The builder's name of the field in messages and writes.");
const offeredValue = {
  mappedValue: contentText.describe("The builder's value."),
  mappedDisplayValue: contentText.describe('The value that people see.'),
};

export const dynamicMappingInput = z
  .object({
    mapToName,
    mapToDisplayName: orNull(contentText).describe('The name that people see.'),
    prompt: orNull(z.string().max(PROMPT_LENGTH_MAX)).describe(PROMPT),
    fieldName: orNull(contentText).describe(
      "The provider's field for the name, unless fieldMappings has another. Default: the name is read once fieldMappings has a field for it.",
    ),
    mappedValues: orElse(
      z
        .array(z.object(offeredValue).meta({ id: 'OfferedValueInput', description: OFFERED_VALUE }))
        .max(CONTENT_LIMITS.fields),
      [],
    ).describe('The values that pages offer for mapping. The mappings are in valueMappings.'),
  })
  .meta({
    id: 'DynamicMappingInput',
    description: DYNAMIC_MAPPING,
  });

type DynamicMappingInput = z.input<typeof dynamicMappingInput>;

export const dynamicMappingResource = resource('DynamicMapping', DYNAMIC_MAPPING, {
  mapToName,
  mapToDisplayName: z.string().nullable().describe('The name that people see.'),
  prompt: z.string().nullable().describe(PROMPT),
  fieldName: z
    .string()
    .nullable()
    .describe("The provider's field for the name, unless fieldMappings has another."),
  mappedValues: z
    .array(resource('OfferedValue', OFFERED_VALUE, offeredValue))
    .describe('The values that pages offer for mapping.'),
});

/** Returns an issue for each dynamic mapping whose name the integration already has for another field. */
export function* listDynamicMappingIssues(
  mappings: readonly DynamicMappingInput[],
  { requiredFields, optionalFields }: Pick<ReadObject, 'requiredFields' | 'optionalFields'>,
  path: readonly PropertyKey[],
): Generator<Issue> {
  const fieldsByName = new Map(
    [...requiredFields, ...optionalFields].map(({ fieldName, mapToName }) => [
      mapToName ?? fieldName,
      fieldName,
    ]),
  );
  const repeatedIndexes = new Set(listRepeatedIndexes(mappings.map(({ mapToName }) => mapToName)));
  for (const [index, { mapToName, fieldName = null }] of mappings.entries()) {
    const namePath = [...path, index, 'mapToName'];
    if (repeatedIndexes.has(index)) yield createInputIssue(namePath, 'is named twice.', mapToName);
    const integrationField = fieldsByName.get(mapToName) ?? null;
    if (integrationField === null || integrationField === fieldName) continue;
    const detail = `is already the integration's name for ${integrationField}.`;
    yield createInputIssue(namePath, detail, mapToName);
  }
}
