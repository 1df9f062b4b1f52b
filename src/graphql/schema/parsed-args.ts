/** Arguments made from the domain's zod schemas, so that both surfaces have them from one declaration. */
import type { ArgBuilder, ArgumentRef } from '@pothos/core';
import type { z } from 'zod';
import { fieldOptions } from './inputs.ts';
import type { Types } from './schema-builder.ts';

type ParsedArgs<S extends z.ZodObject> = {
  [N in keyof S['shape'] & string]: ArgumentRef<Types, z.output<S>[N]>;
};

/** The arguments of a read whose input has rules: the plugin runs the schema on each of them. */
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

type FilterArgs<S extends z.ZodObject> = {
  [N in keyof S['shape'] & string]: ArgumentRef<Types, OrNull<z.output<S>[N]>>;
};

/** GraphQL has null for what may be left out. */
type OrNull<V> = undefined extends V ? V | null : V;

/** The filters of a list. Their rules are not run: by a value that breaks one, nothing is found. */
export function filterArgs<S extends z.ZodObject>(
  arg: ArgBuilder<Types>,
  schema: S,
): FilterArgs<S> {
  const args = Object.entries<z.ZodType>(schema.shape).map(([name, member]) => [
    name,
    arg(fieldOptions(name, member)),
  ]);
  return Object.fromEntries(args);
}
