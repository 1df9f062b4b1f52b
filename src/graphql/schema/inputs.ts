/**
 * Creates GraphQL inputs from the domain's zod schemas, so that a field, its description and its rules are declared
 * once. A schema's `meta({ id })` names its type, `meta({ graphql })` names a scalar that zod does not have, and
 * `meta({ exclusive })` declares groups of members that become `@oneOf` inputs.
 */
import type { EnumRef, InputRef, InputType } from '@pothos/core';
import { z } from 'zod';
import { type ExclusiveMembers, listExclusiveMembers } from '../../domain/declared-mutation.ts';
import { type Enumeration, findEnumeration } from '../../domain/resource.ts';
import { unwrapSchema } from '../../domain/unwrapped.ts';
import { builder, type Types } from './schema-builder.ts';

type Param = InputType<Types>;

const ENUMS = new Map<string, unknown>();
const INPUTS = new Map<string, InputRef<unknown>>();

/** Creates an enum of the schema. Inputs use it for zod enums with the same `meta({ id })`. */
export function enumType<V extends string>(
  name: string,
  description: string,
  values: Record<V, string>,
) {
  const ref = builder.enumType(name, {
    description,
    values: Object.fromEntries(
      Object.entries<string>(values).map(([value, text]) => [value, { description: text }]),
    ) as Record<V, { description: string }>,
  });
  ENUMS.set(name, ref);
  return ref;
}

/** Returns the enum of a declaration, which is created at its first use. */
export function getEnum<E extends z.ZodEnum>(schema: E): EnumRef<Types, z.output<E>, z.output<E>> {
  const { name, description, values } = findEnumeration(schema) as Enumeration;
  return (ENUMS.get(name) ?? enumType(name, description, values)) as never;
}

/** Returns the description of an `input` argument, which is that of its type. */
export function describeInput(schema: z.ZodObject): string {
  const { id: name, description } = schema.meta() ?? {};
  if (!description) throw new Error(`${name} needs a description.`);
  return description;
}

/** Returns the input type of an object schema, which is created at its first use. */
export function inputType(schema: z.ZodObject): InputRef<unknown> {
  const { id: name, description } = schema.meta() ?? {};
  if (!name) throw new Error('An input schema needs meta({ id }).');
  let ref = INPUTS.get(name);
  if (!ref) {
    const inputRef = builder.inputRef<Record<string, unknown>>(name);
    INPUTS.set(name, inputRef as InputRef<unknown>);
    inputRef.implement({
      description,
      fields: (t) =>
        Object.fromEntries(
          listFields(name, schema).map(([field, options]) => [field, t.field(options as never)]),
        ) as never,
    });
    ref = inputRef as InputRef<unknown>;
  }
  return ref;
}

type FieldOptions = ReturnType<typeof fieldOptions>;

/** Returns the fields of an input. A group of exclusive members is one field, at the position of its first member. */
function listFields(name: string, schema: z.ZodObject): [field: string, options: FieldOptions][] {
  const groups = listExclusiveMembers(schema);
  return Object.entries<z.ZodType>(schema.shape).flatMap(([field, type]) => {
    const group = groups.find(({ members }) => members.includes(field));
    if (!group) return [[field, fieldOptions(`${name}.${field}`, type)] as const];
    if (field !== group.members[0]) return [];
    const { description, isRequired } = group;
    const options = { type: oneOfType(group, schema), required: isRequired, description };
    return [[group.name, { ...options, defaultValue: undefined }] as const];
  }) as [string, FieldOptions][];
}

/** The `@oneOf` input of a group, created at its first use. Its members are optional, as the specification requires. */
function oneOfType(group: ExclusiveMembers, { shape }: z.ZodObject): Param {
  const { id: name, description } = group.type;
  let ref = INPUTS.get(name);
  if (!ref) {
    const inputRef = builder.inputRef<Record<string, unknown>>(name);
    INPUTS.set(name, inputRef as InputRef<unknown>);
    inputRef.implement({
      description,
      isOneOf: true,
      fields: (t) =>
        Object.fromEntries(
          group.members.map((member) => {
            const options = fieldOptions(`${name}.${member}`, shape[member] as z.ZodType);
            return [member, t.field({ ...options, required: false } as never)];
          }),
        ) as never,
    });
    ref = inputRef as InputRef<unknown>;
  }
  return ref as unknown as Param;
}

/** The type, default and description of a field or an argument. */
export function fieldOptions(path: string, schema: z.ZodType) {
  const { inner, isOptional, defaultValue, description } = unwrapSchema(schema);
  if (!description) throw new Error(`${path} needs a description.`);
  const type: Param | [Param] = isList(inner)
    ? [getType(path, unwrapSchema(inner.element as z.ZodType).inner)]
    : getType(path, inner);
  return { type, required: !isOptional, defaultValue, description };
}

export function isList(schema: z.ZodType): schema is z.ZodArray {
  return schema instanceof z.ZodArray;
}

function getType(path: string, schema: z.ZodType): Param {
  if (schema instanceof z.ZodObject) return inputType(schema) as unknown as Param;
  return getScalar(path, schema);
}

/** Returns the scalar or the enum of a schema. */
export function getScalar(path: string, schema: z.ZodType): Param {
  const { id: name, graphql } = schema.meta() ?? {};
  if (typeof graphql === 'string') return graphql as Param;
  if (schema instanceof z.ZodEnum && findEnumeration(schema)) return getEnum(schema) as Param;
  if (schema instanceof z.ZodRecord) return 'JSONObject';
  if (schema instanceof z.ZodDate) return 'DateTime';
  if (schema instanceof z.ZodBoolean) return 'Boolean';
  if (schema instanceof z.ZodNumber) return schema.format === 'safeint' ? 'Int' : 'Float';
  if (schema instanceof z.ZodEnum && name && ENUMS.has(name)) return ENUMS.get(name) as Param;
  if (schema instanceof z.ZodString || schema instanceof z.ZodStringFormat) return 'String';
  if (schema instanceof z.ZodUnknown) return 'JSON';
  throw new Error(`${path}: no GraphQL type for ${schema.type}.`);
}
