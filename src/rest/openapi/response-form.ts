/**
 * Derives the form of REST responses from the domain's types: with REST's names and words for enums, and without nulls.
 * Resources become components of the OpenAPI document.
 */
import { z } from 'zod';
import type { Call } from '../../domain/access/call.ts';
import {
  type Declaration,
  findComputation,
  findDeclaration,
  printDescription,
} from '../../domain/base/resource.ts';
import { problem, problemIssue } from '../../kernel/problem-schema.ts';
import { unwrapSchema } from '../../kernel/unwrap-schema.ts';
import { findEnumName, toWord } from '../endpoint/words.ts';

/** The components of the document, which describes inputs inline. */
export const components = z.registry<{ id?: string }>();
components.add(problemIssue, { id: 'Issue' });
components.add(problem, { id: 'Problem' });

/** Fields by name. Null for a field of the resource that REST omits. */
type RestFields = Record<string, z.ZodType | null>;

const extensions = new Map<string, RestFields>();

/**
 * Declares the fields of a resource that REST adds, has in another form, or omits. Returns the resource. Must precede the
 * first use of the resource in a response.
 */
export function extendResource<R extends z.ZodObject>(resource: R, fields: RestFields): R {
  const { name } = findDeclaration(resource) ?? {};
  if (name === undefined) throw new Error('Bug: only a resource can be extended.');
  if (resourceForms.has(name)) throw new Error(`Bug: ${name} is extended after its first use.`);
  extensions.set(name, fields);
  return resource;
}

/** The form of a type in responses. */
interface ResponseForm {
  schema: z.ZodType;
  /** Converts a value of the domain. Returns a promise if a part of it is loaded. */
  show(value: unknown, call: Call): unknown;
}

interface Member extends ResponseForm {
  name: string;
}

/** The forms of resources by name, each created at its first use. */
const resourceForms = new Map<string, ResponseForm>();

/** Returns the form of a type. A type without resources and enums keeps its own schema and values. */
export function createResponseForm(type: z.ZodType): ResponseForm {
  const { inner, description } = unwrapSchema(type);
  const declaration = inner instanceof z.ZodObject ? findDeclaration(inner) : undefined;
  const form = declaration
    ? createResourceForm(inner as z.ZodObject, declaration)
    : createValueForm(inner);
  if (!description || description === declaration?.description) return form;
  return { ...form, schema: form.schema.describe(printDescription(description, 'REST')) };
}

function createResourceForm(
  { shape }: z.ZodObject,
  { name, description }: Declaration,
): ResponseForm {
  const existingForm = resourceForms.get(name);
  if (existingForm) return existingForm;
  const { schema, show } = createObjectForm({ ...shape, ...extensions.get(name) });
  const component = schema.describe(printDescription(description, 'REST'));
  components.add(component, { id: name });
  const form = { schema: component, show };
  resourceForms.set(name, form);
  return form;
}

function createObjectForm(fields: RestFields): ResponseForm {
  const members = Object.entries(fields).flatMap(([name, type]) =>
    type ? [createMember(name, type)] : [],
  );
  const shape = Object.fromEntries(members.map(({ name, schema }) => [name, schema]));
  return {
    schema: z.object(shape),
    show(row, call) {
      const values = members.map(({ show }) => show(row, call));
      return useWhenLoaded(values, (loadedValues) =>
        Object.fromEntries(members.map(({ name }, index) => [name, loadedValues[index]])),
      );
    },
  };
}

function createMember(name: string, type: z.ZodType): Member {
  const { schema, show } = createResponseForm(type);
  const read = findComputation(type) ?? ((row: unknown) => (row as Record<string, unknown>)[name]);
  const { wireName = name } = type.meta() ?? {};
  return {
    name: String(wireName),
    schema: unwrapSchema(type).isOptional ? schema.optional() : schema,
    show(row, call) {
      const showPresent = (value: unknown) => (value == null ? undefined : show(value, call));
      const value = read(row, call);
      return value instanceof Promise ? value.then(showPresent) : showPresent(value);
    },
  };
}

const showUnchanged = (value: unknown) => value;

function createValueForm(type: z.ZodType): ResponseForm {
  if (type instanceof z.ZodObject) {
    const isUnchanged = Object.values<z.ZodType>(type.shape).every(
      (field) => createResponseForm(field).show === showUnchanged && !findComputation(field),
    );
    return isUnchanged ? { schema: type, show: showUnchanged } : createObjectForm(type.shape);
  }
  if (type instanceof z.ZodArray) {
    const item = createResponseForm(type.element as z.ZodType);
    if (item.show === showUnchanged) return { schema: type, show: showUnchanged };
    return {
      schema: z.array(item.schema),
      show: (items, call) =>
        useWhenLoaded(
          (items as unknown[]).map((value) => item.show(value, call)),
          (loadedItems) => loadedItems,
        ),
    };
  }
  if (type instanceof z.ZodRecord) {
    const entry = createResponseForm(type.valueType as z.ZodType);
    if (entry.show === showUnchanged) return { schema: type, show: showUnchanged };
    return {
      schema: z.record(z.string(), entry.schema),
      show(entries, call) {
        const names = Object.keys(entries as object);
        const values = Object.values(entries as object).map((value) => entry.show(value, call));
        return useWhenLoaded(values, (loadedValues) =>
          Object.fromEntries(names.map((name, index) => [name, loadedValues[index]])),
        );
      },
    };
  }
  if (type instanceof z.ZodEnum) {
    const enumName = findEnumName(type);
    const words = new Map(type.options.map((name) => [name, toWord(enumName, String(name))]));
    if ([...words].every(([name, word]) => word === name)) {
      return { schema: type, show: showUnchanged };
    }
    return { schema: z.enum([...words.values()]), show: (name) => words.get(name as string) };
  }
  const isJson = type.meta()?.graphql === 'JSONObject';
  const schema = isJson ? z.record(z.string(), z.unknown()) : type;
  return { schema, show: showUnchanged };
}

/** Calls `use` with the resolved values. Calls it immediately if none of them is a promise, which is usual. */
function useWhenLoaded<R>(
  values: readonly unknown[],
  use: (loadedValues: readonly unknown[]) => R,
) {
  const isLoading = values.some((value) => value instanceof Promise);
  return isLoading ? Promise.all(values).then(use) : use(values);
}
