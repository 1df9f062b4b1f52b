/** Mapped names that a web page adds at run time to those of the integration. */
import { z } from 'zod';
import type { Issue } from '../../../errors.ts';
import type { ReadObject } from '../../integration/integration-content.ts';
import { repeated } from '../../integration/integration-content-check.ts';
import { CONTENT_LIMITS, contentText } from '../../integration/integration-content-input.ts';
import { issueAt } from '../../issues.ts';
import { orElse, orNull } from '../../optional-value.ts';

const TEXT_MAX = 1_000;

export const dynamicMappingInput = z
  .object({
    mapToName: contentText.describe("The builder's name of the field in messages and writes."),
    mapToDisplayName: orNull(contentText).describe('The name that people see.'),
    prompt: orNull(z.string().max(TEXT_MAX)).describe('What people are told when they map it.'),
    fieldName: orNull(contentText).describe(
      "The provider's field for the name, unless fieldMappings say another. Default: it is read once fieldMappings say one.",
    ),
    mappedValues: orElse(
      z
        .array(
          z
            .object({
              mappedValue: contentText.describe("A value of the builder's."),
              mappedDisplayValue: contentText.describe('The value as people see it.'),
            })
            .meta({
              id: 'OfferedValueInput',
              description: "A value of the builder's that people map to one of the provider's.",
            }),
        )
        .max(CONTENT_LIMITS.fields),
      [],
    ).describe('The values that pages offer to be mapped: valueMappings say to which.'),
  })
  .meta({
    id: 'DynamicMappingInput',
    description: 'A name that is mapped to a field, beside those that the integration has.',
  });

type DynamicMappingInput = z.input<typeof dynamicMappingInput>;
export type DynamicMapping = z.output<typeof dynamicMappingInput>;

/** A dynamic mapping can't reuse a name that the integration has for another field. */
export function* dynamicMappingIssues(
  mappings: readonly DynamicMappingInput[],
  { requiredFields, optionalFields }: Pick<ReadObject, 'requiredFields' | 'optionalFields'>,
  path: readonly PropertyKey[],
): Generator<Issue> {
  const owners = new Map(
    [...requiredFields, ...optionalFields].map(({ fieldName, mapToName }) => [
      mapToName ?? fieldName,
      fieldName,
    ]),
  );
  const twice = new Set(repeated(mappings.map(({ mapToName }) => mapToName)));
  for (const [index, { mapToName, fieldName = null }] of mappings.entries()) {
    const at = [...path, index, 'mapToName'];
    const owner = owners.get(mapToName) ?? null;
    if (twice.has(index)) yield issueAt(at, 'is named twice.', mapToName);
    if (owner === null || owner === fieldName) continue;
    yield issueAt(at, `is the name that the integration has for ${owner}.`, mapToName);
  }
}
