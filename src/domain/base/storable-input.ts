/**
 * Finds values of an input that can't be stored unchanged: strings with NUL or lone surrogates, values nested too deep,
 * numbers that are not finite, integers that JSON.parse may have rounded, and members named __proto__. Lists that are too
 * long to check are reported first.
 */
import type { Issue } from '../../kernel/errors.ts';
import { LEVELS_MAX } from '../../work/bounded-parse.ts';
import { createInputIssue } from './issues.ts';
import { isStorableString } from './storable-json.ts';

/**
 * The maximum number of items in all lists of an input together. Checking them takes about 40 ms of CPU time, in steps. A
 * manifest of the largest permitted size has fewer.
 */
const LIST_ITEMS_MAX = 10_000;

const TOO_LONG = `has too many items: the lists of a request may have at most ${LIST_ITEMS_MAX} items in total.`;
const ILL_FORMED = 'must be well-formed Unicode without NUL characters.';

/** Yields an issue for each value that can't be stored. If the lists are too long, yields only that issue. */
export function* listUnstorable(value: unknown): Generator<Issue> {
  const longList = findLongList(value);
  if (longList) yield longList;
  else yield* listIllFormed(value, []);
}

/**
 * Returns an issue with the list that makes an input exceed the limit of items. Call it before a schema validates the
 * input.
 */
export function findLongList(value: unknown): Issue | null {
  const path = findExcessiveList(value);
  return path && createInputIssue(path, TOO_LONG);
}

/** Returns the path of the list with which all lists of a value have more than LIST_ITEMS_MAX items. */
function findExcessiveList(
  value: unknown,
  path: PropertyKey[] = [],
  counter = { items: 0 },
): PropertyKey[] | null {
  if (typeof value !== 'object' || value === null || path.length > LEVELS_MAX) return null;
  if (Array.isArray(value)) {
    counter.items += value.length;
    if (counter.items > LIST_ITEMS_MAX) return path;
  }
  for (const key of Object.keys(value)) {
    const item: unknown = value[key as keyof typeof value];
    if (typeof item !== 'object' || item === null) continue;
    const itemPath = [...path, Array.isArray(value) ? Number(key) : key];
    const listPath = findExcessiveList(item, itemPath, counter);
    if (listPath) return listPath;
  }
  return null;
}

function* listIllFormed(value: unknown, path: PropertyKey[]): Generator<Issue> {
  if (typeof value === 'string') {
    if (!isStorableString(value)) yield createInputIssue(path, ILL_FORMED);
  } else if (typeof value === 'object' && value !== null && !(value instanceof Date)) {
    if (path.length > LEVELS_MAX) {
      const detail = `must not be nested deeper than ${LEVELS_MAX} levels.`;
      yield createInputIssue(path.slice(0, 2), detail);
      return;
    }
    // An object with many members takes a third of the time of Object.entries.
    for (const key of Object.keys(value)) {
      const item: unknown = value[key as keyof typeof value];
      if (!isStorableString(key)) yield createInputIssue(path, ILL_FORMED);
      if (key === '__proto__') {
        yield createInputIssue(path, 'must not have a member named __proto__.');
      }
      // Building the paths of all values would take most of the time for an input of a megabyte.
      if (isStorableLeaf(item)) continue;
      yield* listIllFormed(item, [...path, Array.isArray(value) ? Number(key) : key]);
    }
  } else if (typeof value === 'number') {
    const detail = describeInexactNumber(value);
    if (detail) yield createInputIssue(path, detail);
  }
}

function describeInexactNumber(value: number): string | null {
  if (!Number.isFinite(value)) return 'must be a number of at most 64 bits.';
  return Number.isInteger(value) && !Number.isSafeInteger(value)
    ? 'is beyond the integers that are exact in JSON (2^53 - 1): send it as text.'
    : null;
}

function isStorableLeaf(value: unknown): boolean {
  if (typeof value === 'string') return isStorableString(value);
  if (typeof value === 'number') return describeInexactNumber(value) === null;
  return typeof value !== 'object' || value === null;
}
