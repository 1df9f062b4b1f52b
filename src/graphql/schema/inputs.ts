/**
 * Creates GraphQL inputs from the domain's zod schemas, so that a field, its description and its rules are declared
 * once. A schema's `meta({ id })` names its type, `meta({ graphql })` names a scalar that zod does not have, and
 * `meta({ exclusive })` declares groups of members that become `@oneOf` inputs.
 */
import type { EnumRef, InputRef, InputType } from '@pothos/core';
import { z } from 'zod';
import { type ExclusiveMembers, listExclusiveMembers } from '../../domain/declared-mutation.ts';
import { type Enumeration, findEnumeration } from '../../domain/resource.ts';
import { unwrapSchema } from '../../domain/unwrap-schema.ts';
import { builder, type Types } from './schema-builder.ts';

type Param = InputType<Types>;

const ENUMS = new Map<string, unknown>();
const INPUTS = new Map<string, InputRef<unknown>>();

/** Creates an enum of the schema. Inputs use it for zod enums with the same `meta({ id })`. */
export function createEnumType<V extends string>(
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
  return (ENUMS.get(name) ?? createEnumType(name, description, values)) as never;
}

/** Returns the description of an `input` argument, which is that of its type. */
export function describeInput(schema: z.ZodObject): string {
  const { id: name, description } = schema.meta() ?? {};
  if (!description) throw new Error(`${name} needs a description.`);
  return description;
}

/** Returns the input type of an object schema. */
export function getInputType(schema: z.ZodObject): InputRef<unknown> {
  const { id: name, description } = schema.meta() ?? {};
  if (!name) throw new Error('An input schema needs meta({ id }).');
  return getOrCreateInput(name, { description }, () => listFields(name, schema));
}

/** Creates the input at its first use. Its fields are listed later, because inputs may contain each other. */
function getOrCreateInput(
  name: string,
  options: { description: string | undefined; isOneOf?: true },
  listInputFields: () => [field: string, options: object][],
): InputRef<unknown> {
  const existing = INPUTS.get(name);
  if (existing) return existing;
  const ref = builder.inputRef<Record<string, unknown>>(name);
  INPUTS.set(name, ref as InputRef<unknown>);
  ref.implement({
    ...options,
    fields: (t) => {
      const fields = listInputFields().map(([field, fieldOptions]) => [
        field,
        t.field(fieldOptions as never),
      ]);
      return Object.fromEntries(fields) as never;
    },
  });
  return ref as InputRef<unknown>;
}

/** Returns the fields of an input. A group of exclusive members is one field, at the position of its first member. */
function listFields(name: string, schema: z.ZodObject): [field: string, options: object][] {
  const groups = listExclusiveMembers(schema);
  return Object.entries<z.ZodType>(schema.shape).flatMap(([field, type]): [string, object][] => {
    const group = groups.find(({ members }) => members.includes(field));
    if (!group) return [[field, createFieldOptions(`${name}.${field}`, type)]];
    if (field !== group.members[0]) return [];
    const { description, isRequired: required } = group;
    return [[group.name, { type: getOneOfType(group, schema), required, description }]];
  });
}

/** The `@oneOf` input of a group. Its members are optional, as the specification requires. */
function getOneOfType(
  { type: { id: name, description }, members }: ExclusiveMembers,
  { shape }: z.ZodObject,
): InputRef<unknown> {
  return getOrCreateInput(name, { description, isOneOf: true }, () =>
    members.map((member) => {
      const options = createFieldOptions(`${name}.${member}`, shape[member] as z.ZodType);
      return [member, { ...options, required: false }];
    }),
  );
}

/** The type, default and description of a field or an argument. */
export function createFieldOptions(path: string, schema: z.ZodType) {
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
  if (schema instanceof z.ZodObject) return getInputType(schema) as unknown as Param;
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
