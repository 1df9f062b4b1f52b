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

/** Returns a sentence with the nearest name, which follows another sentence. Empty if no name is near. */
export function suggestName(name: string, candidates: Iterable<string>): string {
  const nearestName = findNearestName(name, candidates);
  return nearestName === null ? '' : ` Did you mean ${nearestName}?`;
}

/**
 * Counts the letters that are missing, added, replaced, or swapped with the next one (optimal string alignment distance).
 * Returns a number above `errorsMax` for words that obviously differ more.
 */
function countErrors(word: string, other: string, errorsMax: number): number {
  if (Math.abs(word.length - other.length) > errorsMax) return errorsMax + 1;
  let previousRow: number[] = [];
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= word.length; i += 1) {
    const nextRow = [i];
    for (let j = 1; j <= other.length; j += 1) {
      const isEqual = word[i - 1] === other[j - 1];
      const replaced = row[j - 1]! + (isEqual ? 0 : 1);
      let errors = Math.min(replaced, row[j]! + 1, nextRow[j - 1]! + 1);
      const isSwapped =
        i > 1 && j > 1 && word[i - 1] === other[j - 2] && word[i - 2] === other[j - 1];
      if (isSwapped) errors = Math.min(errors, previousRow[j - 2]! + 1);
      nextRow.push(errors);
    }
    previousRow = row;
    row = nextRow;
  }
  return row[other.length]!;
}
