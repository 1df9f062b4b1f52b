/** Finds values that a list has twice. */
import { createRuleIssue, type RuleIssue } from './issues.ts';

/** Yields the indexes of values that occur earlier in the list. Nulls are ignored. */
export function* listRepeatedIndexes<T>(
  values: readonly (T | null | undefined)[],
): Generator<number> {
  const earlierValues = new Set<T>();
  for (const [index, value] of values.entries()) {
    if (value == null) continue;
    if (earlierValues.has(value)) yield index;
    earlierValues.add(value);
  }
}

/** Yields an issue for each value that occurs earlier in the list, or for the member of such an item. */
export function* listRepeatIssues(
  values: readonly string[],
  path: PropertyKey[],
  member?: string,
): Generator<RuleIssue> {
  for (const index of listRepeatedIndexes(values)) {
    const itemPath = member === undefined ? [...path, index] : [...path, index, member];
    yield createRuleIssue(itemPath, 'is named twice.', { showsValue: member !== 'publicKeyPem' });
  }
}
