/** Reads the command line options of an endurance run. */
import { parseArgs } from 'node:util';
import { z } from 'zod';

const DATABASES = ['postgres', 'embedded'] as const;
export type DatabaseKind = (typeof DATABASES)[number];

const shape = z.object({
  minutes: z.coerce.number().positive().default(60),
  rate: z.coerce.number().int().positive().default(200),
  databases: z
    .string()
    .default(DATABASES.join(','))
    .transform((text) => text.split(','))
    .pipe(z.array(z.enum(DATABASES)).min(1)),
});

export type EnduranceFlags = z.output<typeof shape>;

/** Throws with the reason if the options are invalid. */
export function readEnduranceFlags(args: string[]): EnduranceFlags {
  const type = 'string' as const;
  const options = { minutes: { type }, rate: { type }, databases: { type } };
  return shape.parse(parseArgs({ args, options }).values);
}
