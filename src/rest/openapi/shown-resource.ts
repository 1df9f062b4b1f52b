/** Formats the domain's resources as REST responses, with REST's names, its words for enums, and no nulls. */
import { z } from 'zod';
import type { Call } from '../../domain/call.ts';
import { findComputation, resources } from '../../domain/resource.ts';
import { unwrapped } from '../../domain/unwrapped.ts';
import { enumNameOf, wordOf, words } from '../endpoint/words.ts';
import { namedSchemas } from './schemas.ts';

type Shape = Record<string, z.ZodType>;
type ResponseSchema = z.ZodObject<Shape>;
type Show = (value: unknown, call: Call) => unknown;

interface Member {
  name: string;
  schema: z.ZodType;
  show: Show;
}

/**
 * Returns the response schema of a resource, which is a component of the document. `change` adds or replaces members
 * if REST shows more than the resource declares. Call it once for such a resource; its endpoint must format these
 * members.
 */
export function responseOf(
  resource: z.ZodObject,
  change?: (shape: Shape) => Shape,
): ResponseSchema {
  const responseSchema = responses.get(resource);
  if (responseSchema && !change) return responseSchema;
  const declared = resources.get(resource);
  if (!declared) throw new Error('Bug: a response shows an object that is not a resource.');
  const members = membersOf(resource).map(({ name, schema }) => [name, schema]);
  const shape: Shape = Object.fromEntries(members);
  const schema = z.object(change ? change(shape) : shape);
  const described = schema.describe(toRestTerms(declared.description));
  namedSchemas.add(described, { id: declared.name });
  responses.set(resource, described);
  return described;
}

const responses = new WeakMap<z.ZodObject, ResponseSchema>();

/** Returns the members of a row in the form of responses. */
export function showResource(
  resource: z.ZodObject,
  row: object,
  { call }: { call: Call },
): Record<string, unknown> {
  const members = membersOf(resource).map(({ name, show }) => [name, show(row, call)]);
  return Object.fromEntries(members);
}

const members = new WeakMap<z.ZodObject, Member[]>();

function membersOf(resource: z.ZodObject): Member[] {
  let cachedMembers = members.get(resource);
  if (!cachedMembers) {
    cachedMembers = Object.entries<z.ZodType>(resource.shape).map(createMember);
    members.set(resource, cachedMembers);
  }
  return cachedMembers;
}

function createMember([name, field]: [string, z.ZodType]): Member {
  const { inner, isOptional, description } = unwrapped(field);
  const { schema, show } = shownType(inner);
  const described = schema.describe(toRestTerms(description ?? ''));
  const readColumn =
    findComputation(field) ?? ((row: unknown) => (row as Record<string, unknown>)[name]);
  const { wireName = name } = field.meta() ?? {};
  return {
    name: String(wireName),
    schema: isOptional ? described.optional() : described,
    show: (row, call) => {
      const value = readColumn(row, call);
      return value === null || value === undefined ? undefined : show(value, call);
    },
  };
}

const showUnchanged: Show = (value) => value;

function shownType(schema: z.ZodType): Omit<Member, 'name'> {
  if (schema instanceof z.ZodObject) {
    return {
      schema: responseOf(schema),
      show: (row, call) => showResource(schema, row as object, { call }),
    };
  }
  if (schema instanceof z.ZodArray) {
    const item = shownType(unwrapped(schema.element as z.ZodType).inner);
    return {
      schema: z.array(item.schema),
      show: (items, call) => (items as unknown[]).map((value) => item.show(value, call)),
    };
  }
  if (schema instanceof z.ZodEnum) {
    const name = enumNameOf(schema) ?? '';
    return {
      schema: words(name, schema.options as string[]),
      show: (value) => wordOf(name, value as string),
    };
  }
  const isJson = schema.meta()?.graphql === 'JSONObject';
  return { schema: isJson ? z.record(z.string(), z.unknown()) : schema, show: showUnchanged };
}

/** Replaces "null" in descriptions of the domain, because REST responses omit null members. */
export function toRestTerms(description: string): string {
  return description.replace(/\bnull\b/g, 'absent').replace(/\bNull\b/g, 'Absent');
}
