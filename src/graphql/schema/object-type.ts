/** Creates object types from the domain's resources. */
import type { FieldMap, InterfaceParam, ObjectRef } from '@pothos/core';
import { z } from 'zod';
import {
  type Computed,
  findComputation,
  findDeclaration,
  printDescription,
  type Value,
} from '../../domain/base/resource.ts';
import { unwrapSchema } from '../../kernel/unwrap-schema.ts';
import type { Context } from '../execution/context.ts';
import { projectField } from './fields.ts';
import { getLeafType } from './inputs.ts';
import { Node } from './node-field.ts';
import { builder, type Types } from './schema-builder.ts';

type FieldBuilder<Row> = PothosSchemaTypes.ObjectFieldBuilder<Types, Row>;
/** The builder of an object type's or an interface's fields. Its options are not checked against the row. */
interface FieldsBuilder {
  field(options: never): unknown;
  expose(name: never, options: never): unknown;
}

/** The fields that a row can serve: its columns of the same type, and fields that are computed from the row. */
type Readable<Row, S> = {
  [F in keyof S]: S[F] extends Computed<infer Source>
    ? Row extends Source
      ? S[F]
      : never
    : F extends keyof Row
      ? Row[F] extends Value<S[F]>
        ? S[F]
        : never
      : never;
};

/**
 * Implements the type of a resource. `createFields` adds the fields that only GraphQL has: relations, lists, and values
 * with separate needs. A resource with an id of the gateway is a node.
 */
export function objectType<Row extends object, S extends z.ZodRawShape & Readable<Row, S>>(
  type: ObjectRef<Types, Row>,
  resource: z.ZodObject<S>,
  createFields: (t: FieldBuilder<Row>) => FieldMap = () => ({}),
): ObjectRef<Types, Row> {
  return implement(type, resource, createFields);
}

/** The types of resources by name. A type that only other resources contain is created at its first use. */
const typesByName = new Map<string, ObjectRef<Types, object>>();

function implement<Row extends object>(
  type: ObjectRef<Types, Row>,
  resource: z.ZodObject,
  createFields: (t: FieldBuilder<Row>) => FieldMap,
): ObjectRef<Types, Row> {
  const declaration = getDeclaration(resource);
  const { name } = declaration;
  const isNode = (resource.shape.id as z.ZodType | undefined)?.meta()?.graphql === 'ID';
  const interfaces = isNode ? [Node as InterfaceParam<Types>] : [];
  typesByName.set(name, type as ObjectRef<Types, object>);
  builder.objectType(type, {
    description: printDescription(declaration.description, 'GRAPHQL'),
    interfaces,
    fields: (t: FieldBuilder<Row>) => ({ ...resourceFields(t, resource), ...createFields(t) }),
  } as never);
  return type;
}

function getDeclaration(schema: z.ZodObject) {
  const declaration = findDeclaration(schema);
  if (!declaration) throw new Error('Bug: a type of GraphQL needs a resource.');
  return declaration;
}

/** Returns the fields of a resource, for its type or for an interface. */
export function resourceFields(t: FieldsBuilder, { shape }: z.ZodObject): FieldMap {
  const fields = Object.entries<z.ZodType>(shape).map(([name, schema]) =>
    name === 'projectId'
      ? ['project', projectField(t as never)]
      : [name, createField(t, name, schema)],
  );
  return Object.fromEntries(fields);
}

function createField(t: FieldsBuilder, name: string, schema: z.ZodType) {
  const { inner, isOptional: nullable, description } = unwrapSchema(schema);
  if (!description) throw new Error(`The field ${name} needs a description.`);
  const compute = findComputation(schema);
  const options = {
    type: getOutputType(name, inner),
    nullable,
    description: printDescription(description, 'GRAPHQL'),
  };
  // An exposed column has no resolver, which compiled queries read fastest.
  return compute
    ? t.field({
        ...options,
        resolve: (row: unknown, _args: unknown, { call }: Context) => compute(row, call),
      } as never)
    : t.expose(name as never, options as never);
}

function getOutputType(name: string, schema: z.ZodType): unknown {
  if (schema instanceof z.ZodArray)
    return [getOutputType(name, unwrapSchema(schema.element as z.ZodType).inner)];
  if (!(schema instanceof z.ZodObject)) return getLeafType(name, schema);
  const { name: typeName } = getDeclaration(schema);
  return (
    typesByName.get(typeName) ?? implement(builder.objectRef<object>(typeName), schema, () => ({}))
  );
}
