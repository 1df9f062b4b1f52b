/**
 * Resources and enums of the API, each declared once. GraphQL creates its types from these declarations, and REST its
 * responses and the components of the OpenAPI document. This file must import nothing of the domain: with a type like
 * `Call` here, the compiler does not end (docs/decisions/067-resources-declared-once.md).
 */
import { z } from 'zod';

/**
 * Declares a resource: its fields with their types and descriptions. A field has the value of the row's column of the
 * same name, unless it is `computed`. GraphQL shows an empty field as null, and REST omits it: descriptions say "null".
 * `meta({ wireName })` names a field whose name in REST differs.
 */
export function resource<S extends z.ZodRawShape>(
  name: string,
  description: string,
  fields: S,
): z.ZodObject<S> {
  const schema = z.object(fields).describe(description) as z.ZodObject<S>;
  return schema.register(resources, { name, description });
}

export interface Declaration {
  name: string;
  description: string;
}

const resources = z.registry<Declaration>();

/** The name and the description of a resource, also if a field has added its own description. */
export function findDeclaration(schema: z.ZodType): Declaration | undefined {
  return resources.get(schema);
}

declare const source: unique symbol;

/** Marks a field that is computed from a value of type `Source`. */
export interface Computed<Source> {
  readonly [source]: (from: Source) => void;
}

interface Computation {
  value(from: never, call: never): unknown;
}

const computations = z.registry<Computation>();

/** The value of a field. A resource in it is shown from any object that has its columns. */
export type Value<T> = T extends z.ZodObject
  ? object
  : T extends z.ZodNullable<infer Inner>
    ? Value<Inner> | null
    : T extends z.ZodArray<infer Item>
      ? readonly Value<Item>[]
      : T extends z.ZodRecord<infer _Key, infer Entry extends z.ZodType>
        ? Readonly<Record<string, Value<Entry>>>
        : z.input<T>;

/** Declares a field whose value is computed from the row and the call, or loaded: then it is a promise. */
export function computed<T extends z.ZodType, Source, Call = unknown>(
  type: T,
  value: (from: Source, call: Call) => Value<T> | Promise<Value<T>>,
): T & Computed<Source> {
  // The type itself may also be a field that is not computed.
  const field = type.clone();
  computations.add(field, { value } as Computation);
  return field as T & Computed<Source>;
}

/** Declares an enum that is stored as a word, like `always`, and shown by its name, like `ALWAYS`. Null stays null. */
export function storedWord<N extends string, T extends z.ZodType>(
  member: N,
  type: T,
): T & Computed<{ [M in N]?: string | null }> {
  return computed(type, (source: { [M in N]?: string | null }) => {
    const word = source[member];
    return (word && nameOfWord(word)) as Value<T>;
  });
}

type Compute = (from: unknown, call: unknown) => unknown;

/** The function that computes a field. Undefined if the field is a column. */
export function findComputation(field: z.ZodType): Compute | undefined {
  return computations.get(field)?.value as Compute | undefined;
}

/** Declares an enum: what its values say, by their names in GraphQL. REST has words of its own for them. */
export function enumeration<const V extends string>(
  name: string,
  description: string,
  values: Record<V, string>,
) {
  const names = Object.keys(values) as [V, ...V[]];
  return z.enum(names).meta({ enumeration: { name, description, values } });
}

export interface Enumeration {
  name: string;
  description: string;
  values: Record<string, string>;
}

/** The declaration of an enum, also if a field has added its own description. */
export function findEnumeration(schema: z.ZodType): Enumeration | undefined {
  return schema.meta()?.enumeration as Enumeration | undefined;
}

/** A JSON object in a response. */
export const jsonObject = z.unknown().meta({ graphql: 'JSONObject' });

/** An id in a response. */
export const shownId = z.string().meta({ graphql: 'ID' });

export const createdFields = {
  id: shownId.describe('Unique in the whole service.'),
  createTime: z.date().describe('When it was created.'),
};

/** The fields of every resource of a project. GraphQL shows the project itself in place of its id. */
export const createdInProject = {
  ...createdFields,
  projectId: shownId.describe('The project that it belongs to.'),
};

export const updateTime = z.date().nullable().describe('When it was last changed. Null if never.');

/** Returns the stored word of a name, like `always` of `ALWAYS`. */
export function wordOfName<N extends string>(name: N): Lowercase<N> {
  return name.toLowerCase() as Lowercase<N>;
}

/** Returns the name of a stored word, like `ALWAYS` of `always`. */
export function nameOfWord<W extends string>(word: W): Uppercase<W> {
  return word.toUpperCase() as Uppercase<W>;
}
