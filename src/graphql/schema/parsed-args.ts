/** The arguments of a read whose input has rules: made from its schema, which the plugin runs on each of them. */
import type { ArgBuilder, ArgumentRef } from '@pothos/core';
import type { z } from 'zod';
import { fieldOptions } from './inputs.ts';
import type { Types } from './schema-builder.ts';

type ParsedArgs<S extends z.ZodObject> = {
  [N in keyof S['shape'] & string]: ArgumentRef<Types, z.output<S>[N]>;
};

export function parsedArgs<S extends z.ZodObject>(
  arg: ArgBuilder<Types>,
  schema: S,
): ParsedArgs<S> {
  const args = Object.entries<z.ZodType>(schema.shape).map(([name, member]) => [
    name,
    arg({ ...fieldOptions(name, member), validate: { schema: member } }),
  ]);
  return Object.fromEntries(args);
}
