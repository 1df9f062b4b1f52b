/**
 * Filters that must not be combined, because no index covers both. The schema refuses combinations, and
 * `refuseCombinations` does so where a surface's schema can't.
 */
import { type Issue, invalidInput } from '../../errors.ts';

/** Sets of filters. A request may use at most one filter of each set. */
export type ExclusiveFilters = readonly (readonly string[])[];

/** Throws BAD_USER_INPUT that names each filter after the first one of a set. */
export function refuseCombinations(input: object, exclusive: ExclusiveFilters): void {
  const values = input as Record<string, unknown>;
  const issues = exclusive.flatMap((names) => {
    const [first, ...others] = names.filter((name) => values[name] != null);
    return others.map(
      (name): Issue => ({ in: 'body', name, detail: `must not be combined with ${first}.` }),
    );
  });
  if (issues.length > 0) throw invalidInput(issues);
}
