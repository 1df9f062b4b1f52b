/** Inputs that remember which of their members were read, by the names of their types. */
import { z } from 'zod';
import { OpenedInput } from '../../../src/domain/opened-input.ts';
import { unwrapped } from '../../../src/domain/unwrapped.ts';

export interface InputReads extends Disposable {
  /** `Type.member`, for what was read one by one. */
  read: ReadonlySet<string>;
  /** What was taken over with all others, by a spread or as JSON. */
  copied: ReadonlySet<string>;
}

/** Listens where inputs of all mutations are opened, whichever surface they come over. */
export function recordInputReads(): InputReads {
  const [read, copied] = [new Set<string>(), new Set<string>()];
  const { prototype } = OpenedInput;
  const given = Object.getOwnPropertyDescriptor(prototype, 'given') as PropertyDescriptor;
  const { parsed } = prototype;
  const record = (schema: z.ZodType, value: unknown) => recorded({ read, copied }, schema, value);
  Object.defineProperty(prototype, 'given', {
    ...given,
    get(this: OpenedInput<z.ZodObject>) {
      return record(this.schema, given.get?.call(this));
    },
  });
  prototype.parsed = function listening(...findings) {
    return record(this.schema, parsed.apply(this, findings)) as never;
  };
  return {
    read,
    copied,
    [Symbol.dispose]() {
      Object.defineProperty(prototype, 'given', given);
      prototype.parsed = parsed;
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
