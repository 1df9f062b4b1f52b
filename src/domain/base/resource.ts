/**
 * Declares the resources and enums of the API. GraphQL creates its types from these declarations, and REST its
 * responses and the components of the OpenAPI document. This file must not import the domain: with a type like `Call`
 * here, the compiler does not terminate (docs/decisions/067-resources-declared-once.md).
 */
import { z } from 'zod';

/**
 * Declares a resource: its fields with their types and descriptions. A field has the value of the row's column of the
 * same name, unless it is `computed`. GraphQL shows an empty field as null, and REST omits it: descriptions write `{null}`.
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

/** Returns the name and the description of a resource, even if a field has described it differently. */
export function findDeclaration(schema: z.ZodType): Declaration | undefined {
  return resources.get(schema);
}

/** The words for no value, which descriptions write as `{null}` and, at the start of a sentence, as `{Null}`. */
const NO_VALUE = {
  GRAPHQL: { word: 'null', firstWord: 'Null' },
  REST: { word: 'absent', firstWord: 'Absent' },
};

/** Returns the description of a resource or of a field as a surface shows it. */
export function printDescription(description: string, surface: keyof typeof NO_VALUE): string {
  const { word, firstWord } = NO_VALUE[surface];
  return description.replaceAll('{null}', word).replaceAll('{Null}', firstWord);
}

declare const source: unique symbol;

/** Marks the type of a field that is computed from a `Source`. */
export interface Computed<Source> {
  readonly [source]: (from: Source) => void;
}

interface Computation {
  value(from: never, call: never): unknown;
}

const computations = z.registry<Computation>();

/** The value of a field. A nested resource may be any object with its columns. */
export type Value<T> = T extends z.ZodObject
  ? object
  : T extends z.ZodNullable<infer Inner>
    ? Value<Inner> | null
    : T extends z.ZodArray<infer Item>
      ? readonly Value<Item>[]
      : T extends z.ZodRecord<infer _Key, infer Entry extends z.ZodType>
        ? Readonly<Record<string, Value<Entry>>>
        : z.input<T>;

/** Declares a field that `value` computes from the row and the call. The value may be a promise. */
export function computed<T extends z.ZodType, Source, Call = unknown>(
  type: T,
  value: (from: Source, call: Call) => Value<T> | Promise<Value<T>>,
): T & Computed<Source> {
  // Other fields may share the type, so only its clone is registered.
  const field = type.clone();
  computations.add(field, { value } as Computation);
  return field as T & Computed<Source>;
}

/** Declares a field of an enum whose column has a stored word: it shows `ALWAYS` for `always`. Null stays null. */
export function storedWord<N extends string, T extends z.ZodType>(
  member: N,
  type: T,
): T & Computed<{ [M in N]?: string | null }> {
  return computed(type, (source: { [M in N]?: string | null }) => {
    const word = source[member];
    return (word && toEnumName(word)) as Value<T>;
  });
}

type Compute = (from: unknown, call: unknown) => unknown;

/** Returns the function that computes a field. Undefined if the field is a column. */
export function findComputation(field: z.ZodType): Compute | undefined {
  return computations.get(field)?.value as Compute | undefined;
}

/** Declares an enum. `values` describes its values by their names in GraphQL. REST may use other words for them. */
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

/** Returns the declaration of an enum, even if a field has described it differently. */
export function findEnumeration(schema: z.ZodType): Enumeration | undefined {
  return schema.meta()?.enumeration as Enumeration | undefined;
}

/** A JSON object in a response. */
export const jsonObject = z.unknown().meta({ graphql: 'JSONObject' });

/** An id in a response. */
export const idField = z.string().meta({ graphql: 'ID' });

export const createdFields = {
  id: idField.describe('Unique in the whole service.'),
  createTime: z.date().describe('When it was created.'),
};

/** The fields of every resource of a project. GraphQL shows the project itself in place of its id. */
export const createdInProject = {
  ...createdFields,
  projectId: idField.describe('The project that it belongs to.'),
};

export const updateTime = z
  .date()
  .nullable()
  .describe('When it was last changed. {Null} if never.');

/** Returns the stored word for an enum's name, like `always` for `ALWAYS`. */
export function toStoredWord<N extends string>(name: N): Lowercase<N> {
  return name.toLowerCase() as Lowercase<N>;
}

/** Returns the enum's name for a stored word, like `ALWAYS` for `always`. */
export function toEnumName<W extends string>(word: W): Uppercase<W> {
  return word.toUpperCase() as Uppercase<W>;
}
