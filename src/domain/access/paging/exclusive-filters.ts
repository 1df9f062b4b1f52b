/**
 * Filters that must not be combined, because no index covers both. GraphQL's validation refuses combinations that a
 * document shows, and `refuseCombinations` refuses all others.
 */
import { type Issue, invalidInput } from '../../../kernel/errors.ts';
import { member, text } from '../../../kernel/text.ts';

/** Sets of filters. A request may use at most one filter of each set. */
export type ExclusiveFilters = readonly (readonly string[])[];

/** Throws BAD_USER_INPUT if the input has several filters of one set. The error names all of these filters but the first. */
export function refuseCombinations(input: object, exclusive: ExclusiveFilters): void {
  const values = input as Record<string, unknown>;
  const issues = exclusive.flatMap((names) => {
    const [firstName, ...otherNames] = names.filter((name) => values[name] != null);
    return otherNames.map(
      (name): Issue => ({
        path: [name],
        detail: text`must not be combined with ${member(firstName as string)}.`,
      }),
    );
  });
  if (issues.length > 0) throw invalidInput(issues);
}
