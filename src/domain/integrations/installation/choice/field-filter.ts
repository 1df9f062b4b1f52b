/** Filters for the records of an object, by the values of their fields. */
import { z } from 'zod';
import type { Issue } from '../../../../kernel/errors.ts';
import type { Provider } from '../../../../providers/contract.ts';
import { getFiltersMax } from '../../../../providers/object-support.ts';
import { orDefault } from '../../../base/input-schemas.ts';
import { createInputIssue } from '../../../base/issues.ts';
import { listRepeatedIndexes } from '../../../base/repeats.ts';
import { enumeration, resource } from '../../../base/resource.ts';
import { contentText } from '../../integration/integration-content-input.ts';

/** Declares the value of a field in an input: a string of at most `lengthMax` characters, a number or a boolean. */
export function createScalarInput({ lengthMax }: { lengthMax: number }) {
  return z
    .union(
      [z.string().max(lengthMax), z.number(), z.boolean()],
      'must be a text, a number or a boolean.',
    )
    .meta({ graphql: 'JSON' });
}

/** Exceeds the number of filters that any provider accepts. */
export const FILTERS_MAX = 20;

const value = createScalarInput({ lengthMax: 1_000 });

const filterOperator = enumeration('FilterOperator', 'A comparison of a field with a value.', {
  EQ: 'The field equals the value.',
});

export const fieldFilterInput = z
  .object({
    fieldName: contentText.describe("The provider's name of the field."),
    operator: orDefault(filterOperator, 'EQ').describe(
      'The comparison: always `EQ`, which is the default.',
    ),
    value: value.describe('The value of the field: a text, a number or a boolean.'),
  })
  .meta({
    id: 'FieldFilterInput',
    description: 'A condition on a field. Only records that meet all conditions are read.',
  });

type FieldFilterInput = z.input<typeof fieldFilterInput>;
export type FieldFilter = z.output<typeof fieldFilterInput>;

export const fieldFilterResource = resource('FieldFilter', 'A condition on a field.', {
  fieldName: z.string().describe("The provider's name of the field."),
  operator: filterOperator.describe('The comparison.'),
  value: value.describe('The value of the field: a text, a number or a boolean.'),
});

interface FilterContext {
  path: readonly PropertyKey[];
  /** Null if the provider is not in the catalog. */
  provider: Pick<Provider, 'displayName' | 'features' | 'commonObjects'> | null;
  /** The provider's name of the filtered object. */
  objectName: string;
}

export function* listFieldFilterIssues(
  filters: readonly FieldFilterInput[],
  { path, provider, objectName }: FilterContext,
): Generator<Issue> {
  for (const index of listRepeatedIndexes(filters.map(({ fieldName }) => fieldName))) {
    const { fieldName } = filters[index] as FieldFilterInput;
    yield createInputIssue([...path, index, 'fieldName'], 'is named twice.', fieldName);
  }
  if (!provider) return;
  const filtersMax = getFiltersMax(provider, objectName);
  if (filters.length <= filtersMax) return;
  const detail =
    filtersMax === 0
      ? `must be empty: ${objectName} of ${provider.displayName} can't be filtered.`
      : `must contain at most ${filtersMax} conditions: ${provider.displayName} supports no more.`;
  yield createInputIssue(path, detail);
}
