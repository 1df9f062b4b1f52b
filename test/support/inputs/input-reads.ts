/** Records which members of mutation inputs the gateway reads, as `InputType.member`. */
import { z } from 'zod';
import { schema } from '../../../src/graphql/schema/schema.ts';
import { unwrapSchema } from '../../../src/kernel/unwrap-schema.ts';

interface InputReads extends Disposable {
  /** `Type.member` of each member that was read separately. */
  read: ReadonlySet<string>;
  /** `Type.member` of each member that was copied together with all others, by a spread or as JSON. */
  copied: ReadonlySet<string>;
}

/** Starts recording the reads of inputs that GraphQL passes to mutations. */
export function recordInputReads(): InputReads {
  const [read, copied] = [new Set<string>(), new Set<string>()];
  const mutations = Object.values(schema.getMutationType()?.getFields() ?? {});
  const restorers = mutations.map(({ extensions }) => {
    const input = extensions.input as z.ZodObject;
    const { run } = input._zod;
    input._zod.run = (payload, context) => {
      const result = run(payload, context) as z.core.ParsePayload;
      result.value = recordAccess({ read, copied }, input, result.value);
      return result;
    };
    return () => {
      input._zod.run = run;
    };
  });
  return {
    read,
    copied,
    [Symbol.dispose]() {
      for (const restore of restorers) restore();
    },
  };
}

function recordAccess(
  reads: Record<'read' | 'copied', Set<string>>,
  inputSchema: z.ZodType,
  value: unknown,
): unknown {
  const { inner } = unwrapSchema(inputSchema);
  if (Array.isArray(value) && inner instanceof z.ZodArray) {
    return value.map((item) => recordAccess(reads, inner.element as z.ZodType, item));
  }
  const { id } = inner.meta() ?? {};
  const isPlain = typeof value === 'object' && value !== null && !(value instanceof Date);
  if (!isPlain || !id || !(inner instanceof z.ZodObject)) return value;
  const { shape } = inner;
  let describedKey: PropertyKey | undefined;
  return new Proxy(value as Record<PropertyKey, unknown>, {
    // A copy reads the descriptor of a member before its value.
    getOwnPropertyDescriptor(target, name) {
      describedKey = name;
      return Reflect.getOwnPropertyDescriptor(target, name);
    },
    get(target, name) {
      if (!Object.hasOwn(shape, name)) return target[name];
      const member = shape[name as string] as z.ZodType;
      (describedKey === name ? reads.copied : reads.read).add(`${id}.${String(name)}`);
      describedKey = undefined;
      return recordAccess(reads, member, target[name]);
    },
  });
}
