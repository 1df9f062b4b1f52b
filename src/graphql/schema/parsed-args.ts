/** Creates arguments from the domain's zod schemas, so that GraphQL and REST share one declaration. */
import type { ArgBuilder, ArgumentRef } from '@pothos/core';
import type { z } from 'zod';
import { createFieldOptions } from './inputs.ts';
import type { Types } from './schema-builder.ts';

export type ParsedArgs<S extends z.ZodObject> = {
  [N in keyof S['shape'] & string]: ArgumentRef<Types, OrNull<z.output<S>[N]>>;
};

/** Optional arguments may be null in GraphQL. */
type OrNull<V> = undefined extends V ? V | null : V;

/** The arguments of a read. The zod plugin validates each with its member of the schema. */
export function createArgs<S extends z.ZodObject>(
  arg: ArgBuilder<Types>,
  schema: S,
): ParsedArgs<S> {
  const args = Object.entries<z.ZodType>(schema.shape).map(([name, member]) => [
    name,
    arg({ ...createFieldOptions(name, member), validate: { schema: member } }),
  ]);
  return Object.fromEntries(args);
}
