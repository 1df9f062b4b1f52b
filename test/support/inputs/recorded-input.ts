/** Inputs of mutations that remember which of their members were read, by the names of their types. */
import type { GraphQLArgument } from 'graphql';
import { z } from 'zod';
import { unwrapped } from '../../../src/domain/unwrapped.ts';
import { schema } from '../../../src/graphql/schema/schema.ts';

export interface InputReads extends Disposable {
  /** `Type.member` of each member that was read by itself. */
  read: ReadonlySet<string>;
  /** `Type.member` of each member that was copied with all others, by a spread or as JSON. */
  copied: ReadonlySet<string>;
}

interface InputArgument {
  /** The validator that the zod plugin makes of the schema. */
  validator: z.ZodType;
  pothosOptions: { validate: { schema: z.ZodType } };
}

/** Records the reads of what the zod plugin gives to mutations. */
export function recordInputReads(): InputReads {
  const [read, copied] = [new Set<string>(), new Set<string>()];
  const mutations = Object.values(schema.getMutationType()?.getFields() ?? {});
  const inputs = mutations.flatMap(({ args }) => args.filter(({ name }) => name === 'input'));
  const restore = inputs.map((argument: GraphQLArgument) => {
    const { validator, pothosOptions } = argument.extensions as unknown as InputArgument;
    const { run } = validator._zod;
    validator._zod.run = async (payload, context) => {
      const result = await run(payload, context);
      result.value = recorded({ read, copied }, pothosOptions.validate.schema, result.value);
      return result;
    };
    return () => {
      validator._zod.run = run;
    };
  });
  return {
    read,
    copied,
    [Symbol.dispose]() {
      for (const one of restore) one();
    },
  };
}

interface Reads {
  read: Set<string>;
  copied: Set<string>;
}

function recorded(reads: Reads, schema: z.ZodType, value: unknown): unknown {
  const { inner } = unwrapped(schema);
  if (Array.isArray(value) && inner instanceof z.ZodArray) {
    return value.map((item) => recorded(reads, inner.element as z.ZodType, item));
  }
  const { id } = inner.meta() ?? {};
  const isPlain = typeof value === 'object' && value !== null && !(value instanceof Date);
  if (!isPlain || !id || !(inner instanceof z.ZodObject)) return value;
  const { shape } = inner;
  let described: PropertyKey | undefined;
  return new Proxy(value as Record<PropertyKey, unknown>, {
    // A copy describes each member before it gets it.
    getOwnPropertyDescriptor(target, name) {
      described = name;
      return Reflect.getOwnPropertyDescriptor(target, name);
    },
    get(target, name) {
      if (!Object.hasOwn(shape, name)) return target[name];
      const member = shape[name as string] as z.ZodType;
      (described === name ? reads.copied : reads.read).add(`${id}.${String(name)}`);
      described = undefined;
      return recorded(reads, member, target[name]);
    },
  });
}
