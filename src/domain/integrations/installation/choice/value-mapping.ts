/**
 * Maps values of the provider to values of the builder, one to one. Messages contain the builder's values, and writes
 * convert them back.
 */

import { z } from 'zod';
import type { Issue } from '../../../../kernel/errors.ts';
import { createInputIssue } from '../../../base/issues.ts';
import { listRepeatedIndexes } from '../../../base/repeats.ts';
import { resource } from '../../../base/resource.ts';
import { CONTENT_LIMITS, contentText } from '../../integration/integration-content-input.ts';

export const VALUE_MAPPINGS_MAX = CONTENT_LIMITS.fields;
/** Allows for the longest lists of options at a provider. */
const VALUES_MAX = 1_000;

const MAPPED_VALUE = 'A value of the provider, and the value that replaces it.';
const VALUE_MAPPING = 'Values of a field that messages replace, and that writes convert back.';
const fieldName = contentText.describe("The name of the field: the provider's or the mapped one.");
const mappedValueFields = {
  deliveredValue: contentText.describe("The builder's value, in messages and writes."),
  providerValue: contentText.describe("The provider's value."),
};

export const valueMappingInput = z
  .object({
    fieldName,
    values: z
      .array(
        z.object(mappedValueFields).meta({ id: 'MappedValueInput', description: MAPPED_VALUE }),
      )
      .max(VALUES_MAX)
      .describe('The values, mapped one to one, at most 1000. Other values are unchanged.'),
  })
  .meta({
    id: 'ValueMappingInput',
    description: VALUE_MAPPING,
  });

type ValueMappingInput = z.input<typeof valueMappingInput>;
type ValueMapping = z.output<typeof valueMappingInput>;

export const valueMappingResource = resource('ValueMapping', VALUE_MAPPING, {
  fieldName,
  values: z
    .array(resource('MappedValue', MAPPED_VALUE, mappedValueFields))
    .describe('The values, mapped one to one. Other values are unchanged.'),
});

/**
 * Returns an issue for each repeated field and value. Values are mapped one to one, so that a write can
 * convert a value back.
 */
export function* listValueMappingIssues(
  mappings: readonly ValueMappingInput[],
  path: readonly PropertyKey[],
): Generator<Issue> {
  for (const index of listRepeatedIndexes(mappings.map(({ fieldName }) => fieldName))) {
    const { fieldName } = mappings[index] as ValueMappingInput;
    yield createInputIssue([...path, index, 'fieldName'], 'is named twice.', fieldName);
  }
  for (const [index, { values }] of mappings.entries()) {
    for (const side of ['deliveredValue', 'providerValue'] as const) {
      for (const valueIndex of listRepeatedIndexes(values.map((value) => value[side]))) {
        const detail = 'is mapped twice: values are mapped one to one.';
        const value = values[valueIndex]?.[side];
        yield createInputIssue([...path, index, 'values', valueIndex, side], detail, value);
      }
    }
  }
}

/** Replacements by value. */
export type ValueReplacements = Readonly<Record<string, string>>;

export function createDeliveredReplacements({
  values,
}: Pick<ValueMapping, 'values'>): ValueReplacements {
  return createReplacements(values.map((pair) => [pair.providerValue, pair.deliveredValue]));
}

export function createProviderReplacements({
  values,
}: Pick<ValueMapping, 'values'>): ValueReplacements {
  return createReplacements(values.map((pair) => [pair.deliveredValue, pair.providerValue]));
}

/** Replaces a value, or each value of a list. Values without a replacement stay as they are. */
export function replaceValues(
  value: unknown,
  replacements: ValueReplacements | undefined,
): unknown {
  if (!replacements) return value;
  if (Array.isArray(value)) return value.map((element) => replaceValues(element, replacements));
  if (value === null || typeof value === 'object' || value === undefined) return value;
  return replacements[String(value)] ?? value;
}

/** Creates an object without a prototype, because a value may have the name of an inherited member. */
function createReplacements(pairs: [string, string][]): ValueReplacements {
  return Object.assign(Object.create(null), Object.fromEntries(pairs));
}
