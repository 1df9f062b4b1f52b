/** Enums of stored content: callers name a value in capitals, and rows hold the word that manifests have for it. */
import { z } from 'zod';

/** Parses `ALWAYS` into `always`. `id` is the name of the enum in the API. */
export function storedWord<const N extends string>(id: string, names: readonly [N, ...N[]]) {
  return z.enum(names).meta({ id }).transform(wordOfName);
}

/** Returns the stored word of a name, like `always` of `ALWAYS`. */
export function wordOfName<N extends string>(name: N): Lowercase<N> {
  return name.toLowerCase() as Lowercase<N>;
}

/** Returns the name of a stored word, like `ALWAYS` of `always`. */
export function nameOfWord<W extends string>(word: W): Uppercase<W> {
  return word.toUpperCase() as Uppercase<W>;
}
