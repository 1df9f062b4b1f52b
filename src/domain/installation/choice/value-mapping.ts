/** Values of the builder's that stand for values of the provider's, one for one: told in messages, taken in writes. */
import { z } from 'zod';
import type { Issue } from '../../../errors.ts';
import { repeated } from '../../integration/integration-content-check.ts';
import { CONTENT_LIMITS, contentText } from '../../integration/integration-content-input.ts';
import { issueAt } from '../../issues.ts';

/** As many as the longest list of options that people keep at a provider. */
const VALUES_MAX = 1_000;

export const valueMappingInput = z
  .object({
    fieldName: contentText.describe("The name of the field: the provider's or the mapped one."),
    values: z
      .array(
        z
          .object({
            deliveredValue: contentText.describe("The builder's value, in messages and writes."),
            providerValue: contentText.describe('The value that the provider has for it.'),
          })
          .meta({ id: 'MappedValueInput', description: 'A value, and what stands for it.' }),
      )
      .max(VALUES_MAX)
      .describe('The values, one for one, at most 1000. Others stay as they are.'),
  })
  .meta({
    id: 'ValueMappingInput',
    description: 'Values of a field that are delivered as other values, and written back.',
  });

type ValueMappingInput = z.input<typeof valueMappingInput>;
export type ValueMapping = z.output<typeof valueMappingInput>;

/** Two values that became one could not be told apart again. */
export function* valueMappingIssues(
  mappings: readonly ValueMappingInput[],
  path: readonly PropertyKey[],
): Generator<Issue> {
  for (const index of repeated(mappings.map(({ fieldName }) => fieldName))) {
    const { fieldName } = mappings[index] as ValueMappingInput;
    yield issueAt([...path, index, 'fieldName'], 'is named twice.', fieldName);
  }
  for (const [index, { values }] of mappings.entries()) {
    for (const side of ['deliveredValue', 'providerValue'] as const) {
      for (const at of repeated(values.map((value) => value[side]))) {
        const detail = 'is mapped twice: values are mapped one for one.';
        yield issueAt([...path, index, 'values', at, side], detail, values[at]?.[side]);
      }
    }
  }
}

/** What stands for each value. */
export type ValueWords = Readonly<Record<string, string>>;

export function deliveredWords({ values }: Pick<ValueMapping, 'values'>): ValueWords {
  return words(values.map((one) => [one.providerValue, one.deliveredValue]));
}

export function providerWords({ values }: Pick<ValueMapping, 'values'>): ValueWords {
  return words(values.map((one) => [one.deliveredValue, one.providerValue]));
}

/** Each word of a list by itself; a value that no word stands for stays as it is. */
export function inWords(value: unknown, known: ValueWords | undefined): unknown {
  if (!known) return value;
  if (Array.isArray(value)) return value.map((one) => inWords(one, known));
  if (value === null || typeof value === 'object' || value === undefined) return value;
  return known[String(value)] ?? value;
}

/** Without a prototype: a value may be named like a member that every object has. */
function words(pairs: [string, string][]): ValueWords {
  return Object.assign(Object.create(null), Object.fromEntries(pairs));
}

export const VALUE_MAPPINGS_MAX = CONTENT_LIMITS.fields;
