/** Finds the name that a caller probably meant by a misspelled one. */

interface Tolerance {
  /** The number of letters for which a name may have one error. Names of at least 3 letters may always have one. */
  lettersPerError: number;
}

/**
 * Returns the candidate that differs least from the name, regardless of case. Null if every candidate differs too much to
 * be meant.
 */
export function findNearestName(
  name: string,
  candidates: Iterable<string>,
  { lettersPerError }: Tolerance = { lettersPerError: 3 },
): string | null {
  const word = name.toLowerCase();
  let nearest: string | null = null;
  let errorsMax = Math.max(Math.floor(word.length / lettersPerError), word.length < 3 ? 0 : 1);
  for (const candidate of candidates) {
    const errors = countErrors(word, candidate.toLowerCase(), errorsMax);
    if (errors > errorsMax) continue;
    nearest = candidate;
    // A later candidate replaces this one only if it has fewer errors.
    errorsMax = errors - 1;
  }
  return nearest;
}

/** Returns the nearest name. Null if no name is near, or if the finder has searched for as many names as it may. */
export type NameFinder = (name: string) => string | null;

/** A request may have any number of unknown names, and each search compares the name with every candidate. */
const SEARCHES_MAX = 20;

/** Creates a finder that searches for the first distinct names only. */
export function createNameFinder(candidates: readonly string[]): NameFinder {
  const nearestNames = new Map<string, string | null>();
  return (name) => {
    if (!nearestNames.has(name) && nearestNames.size < SEARCHES_MAX) {
      nearestNames.set(name, findNearestName(name, candidates));
    }
    return nearestNames.get(name) ?? null;
  };
}

/** Returns the question for the nearest name, to follow a sentence about `name`. Empty if no name is near. */
export function suggestName(findNearestName: NameFinder, name: string): string {
  const nearestName = findNearestName(name);
  return nearestName === null ? '' : ` Did you mean ${nearestName}?`;
}

/**
 * Counts the letters that are missing, added, replaced, or swapped with the next one (optimal string alignment distance).
 * Returns a number above `errorsMax` for words that differ more.
 */
function countErrors(word: string, other: string, errorsMax: number): number {
  if (Math.abs(word.length - other.length) > errorsMax) return errorsMax + 1;
  let previousRow: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= word.length; i += 1) {
    const nextRow = [i];
    let rowErrorsMin = i;
    for (let j = 1; j <= other.length; j += 1) {
      const isEqual = word[i - 1] === other[j - 1];
      const replaced = row[j - 1]! + (isEqual ? 0 : 1);
      let errors = Math.min(replaced, row[j]! + 1, nextRow[j - 1]! + 1);
      const isSwapped =
        i > 1 && j > 1 && word[i - 1] === other[j - 2] && word[i - 2] === other[j - 1];
      if (isSwapped) errors = Math.min(errors, previousRow[j - 2]! + 1);
      nextRow.push(errors);
      rowErrorsMin = Math.min(rowErrorsMin, errors);
    }
    // Each later row has at least as many errors.
    if (rowErrorsMin > errorsMax) return rowErrorsMin;
    previousRow = row;
    row = nextRow;
  }
  return row[other.length]!;
}
