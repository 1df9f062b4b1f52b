/** Filters that no index serves together: the schema refuses them, and whatever surface could not. */
import { type Issue, invalidInput } from '../../errors.ts';

/** Of the filters of each set, at most one may be given. */
export type Exclusive = readonly (readonly string[])[];

/** Throws BAD_USER_INPUT that names each filter that may not be beside the one before it. */
export function refuseTogether(given: object, exclusive: Exclusive): void {
  const values = given as Record<string, unknown>;
  const issues = exclusive.flatMap((names) => {
    const [first, ...others] = names.filter((name) => values[name] != null);
    return others.map(
      (name): Issue => ({ in: 'body', name, detail: `must not be given together with ${first}.` }),
    );
  });
  if (issues.length > 0) throw invalidInput(issues);
}
