/**
 * Creates GraphQL's arguments and inputs from the domain's zod schemas. A schema's `meta({ id })` names its type,
 * `meta({ graphql })` names a scalar that zod does not have, and `meta({ exclusive })` declares a group of members that
 * become `@oneOf` inputs.
 */
import type { ArgBuilder, ArgumentRef, InputRef, InputType } from '@pothos/core';
import { z } from 'zod';
import {
  type ExclusiveMembers,
  findExclusiveMembers,
} from '../../domain/access/declared-mutation.ts';
import { type Enumeration, findEnumeration } from '../../domain/base/resource.ts';
import { findItemsMax, unwrapSchema } from '../../kernel/unwrap-schema.ts';
import { builder, type Types } from './schema-builder.ts';

type ParamType = InputType<Types>;

const enumTypes = new Map<string, ParamType>();
const inputTypes = new Map<string, InputRef<unknown>>();

export type ArgRefs<S extends z.ZodObject> = {
  [N in keyof S['shape'] & string]: ArgumentRef<Types, OrNull<z.output<S>[N]>>;
};

/** Optional arguments may be null in GraphQL. */
type OrNull<V> = undefined extends V ? V | null : V;

/** Creates the arguments of a read. The zod plugin validates each with its member of the schema. */
export function createArgs<S extends z.ZodObject>(arg: ArgBuilder<Types>, schema: S): ArgRefs<S> {
  const args = Object.entries<z.ZodType>(schema.shape).map(([name, member]) => [
    name,
    arg({ ...createFieldOptions(name, member), validate: { schema: member } }),
  ]);
  return Object.fromEntries(args);
}

/** Returns the description of an argument of this type. */
export function describeInput(schema: z.ZodObject): string {
  const { id: name, description } = schema.meta() ?? {};
  if (!description) throw new Error(`${name} needs a description.`);
  return description;
}

export function getInputType(schema: z.ZodObject): InputRef<unknown> {
  const { id: name, description } = schema.meta() ?? {};
  if (!name) throw new Error('An input schema needs meta({ id }).');
  return getOrCreateInput(name, { description }, () => listFields(name, schema));
}

/** Creates the type at its first use. Pothos lists the fields later, because inputs may contain each other. */
function getOrCreateInput(
  name: string,
  options: { description: string | undefined; isOneOf?: true },
  listInputFields: () => [field: string, options: object][],
): InputRef<unknown> {
  const existingRef = inputTypes.get(name);
  if (existingRef) return existingRef;
  const ref = builder.inputRef<Record<string, unknown>>(name);
  inputTypes.set(name, ref as InputRef<unknown>);
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

/** A group of exclusive members becomes one field, at the position of its first member. */
function listFields(name: string, schema: z.ZodObject): [field: string, options: object][] {
  const group = findExclusiveMembers(schema);
  return Object.entries<z.ZodType>(schema.shape).flatMap(([field, type]): [string, object][] => {
    if (!group?.members.includes(field)) {
      return [[field, createFieldOptions(`${name}.${field}`, type)]];
    }
    if (field !== group.members[0]) return [];
    const { description, isRequired: required } = group;
    return [[group.name, { type: getOneOfType(group, schema), required, description }]];
  });
}

/** Returns the `@oneOf` input of a group. Its members are optional, as the specification requires. */
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

/** Returns the type, default, description and maximum number of items of a field or an argument. */
export function createFieldOptions(path: string, schema: z.ZodType) {
  const { inner, isOptional, defaultValue, description } = unwrapSchema(schema);
  if (!description) throw new Error(`${path} needs a description.`);
  const isList = inner instanceof z.ZodArray;
  const type: ParamType | [ParamType] = isList
    ? [getType(path, unwrapSchema(inner.element as z.ZodType).inner)]
    : getType(path, inner);
  const itemsMax = isList ? findItemsMax(inner) : undefined;
  return { type, required: !isOptional, defaultValue, description, extensions: { itemsMax } };
}

function getType(path: string, schema: z.ZodType): ParamType {
  if (schema instanceof z.ZodObject) return getInputType(schema) as unknown as ParamType;
  return getLeafType(path, schema);
}

/** Returns the scalar or the enum of a schema. */
export function getLeafType(path: string, schema: z.ZodType): ParamType {
  const { graphql } = schema.meta() ?? {};
  if (typeof graphql === 'string') return graphql as ParamType;
  const enumeration = findEnumeration(schema);
  if (enumeration) return getEnumType(enumeration);
  if (schema instanceof z.ZodRecord) return 'JSONObject';
  if (schema instanceof z.ZodDate) return 'DateTime';
  if (schema instanceof z.ZodBoolean) return 'Boolean';
  if (schema instanceof z.ZodNumber) return schema.format === 'safeint' ? 'Int' : 'Float';
  if (schema instanceof z.ZodString || schema instanceof z.ZodStringFormat) return 'String';
  if (schema instanceof z.ZodUnknown) return 'JSON';
  throw new Error(`${path}: no GraphQL type for ${schema.type}.`);
}

/** Returns the type of an enum, which is created at its first use. */
function getEnumType({ name, description, values }: Enumeration): ParamType {
  const existingType = enumTypes.get(name);
  if (existingType) return existingType;
  const valuesWithOptions = Object.entries(values).map(([value, text]) => [
    value,
    { description: text },
  ]);
  const type = builder.enumType(name, {
    description,
    values: Object.fromEntries(valuesWithOptions),
  });
  enumTypes.set(name, type);
  return type;
}
