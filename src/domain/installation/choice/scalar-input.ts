import { z } from 'zod';

/** Declares the value of a field in an input: a string of at most `lengthMax` characters, a number or a boolean. */
export function createScalarInput({ lengthMax }: { lengthMax: number }) {
  return z
    .union(
      [z.string().max(lengthMax), z.number(), z.boolean()],
      'must be a text, a number or a boolean.',
    )
    .meta({ graphql: 'JSON' });
}
