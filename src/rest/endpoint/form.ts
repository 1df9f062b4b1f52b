/**
 * Declares how requests and responses write a value of the domain, if its members have other names or places there. One
 * declaration decodes requests, encodes responses, and locates problems.
 */
import { z } from 'zod';
import { boundedName } from '../../domain/base/names.ts';
import type { Path } from '../../kernel/text.ts';
import { toCamelCase } from './words.ts';

export interface Form {
  /** The schema in requests. */
  schema: z.ZodType;
  /** Returns the domain's value. */
  decode(wire: unknown): unknown;
  /** Returns the value in responses. Undefined for a value that they omit. */
  encode?(value: unknown): unknown;
  /** Maps a path in the domain's value, like `['read', 0, 'schedule']`, to the one in the request. */
  locate(wire: unknown, path: Path): Path;
}

/** A form for requests and responses. */
export type FullForm = Required<Form>;

export type Json = Readonly<Record<string, unknown>>;

export function same(schema: z.ZodType): FullForm {
  const keep = (value: unknown) => value;
  return { schema, decode: keep, encode: keep, locate: (_wire, path) => path };
}

/** The name of an enum's value as a word: `ifEmpty` for `IF_EMPTY`. A stored word stays the same. */
export function word(schema: z.ZodType): FullForm {
  return {
    ...same(schema),
    decode: (wire) => String(wire).replace(/[A-Z]/g, '_$&').toUpperCase(),
    encode: (name) => toCamelCase(String(name)),
  };
}

/** Makes a value optional in requests. */
export function optional<F extends Form>(form: F, description: string): F {
  return { ...form, schema: form.schema.describe(description).optional() };
}

/** Omits an empty list from responses. */
export function unlessEmpty(form: FullForm): FullForm {
  const isEmpty = (items: unknown) => (items as unknown[]).length === 0;
  return { ...form, encode: (items) => (isEmpty(items) ? undefined : form.encode(items)) };
}

/** A list. Responses omit an empty one. */
export function list(item: FullForm): FullForm {
  return unlessEmpty({
    schema: z.array(item.schema),
    decode: (wire) => (wire as unknown[]).map(item.decode),
    encode: (items) => (items as unknown[]).map(item.encode),
    locate(wire, [index, ...inside]) {
      if (index === undefined) return [];
      return [index, ...item.locate((wire as unknown[] | undefined)?.[Number(index)], inside)];
    },
  });
}

/**
 * A list as an object: the member `key` of an item is the name of its entry. Entries that `isItem` refuses stand for no
 * item.
 */
export function byName(
  key: string,
  item: FullForm,
  isItem: (wire: unknown) => boolean = () => true,
): FullForm {
  const listEntries = (wire: unknown) =>
    Object.entries((wire ?? {}) as Json).filter(([, value]) => isItem(value));
  return {
    schema: z.record(boundedName, item.schema),
    decode: (wire) =>
      listEntries(wire).map(([name, value]) => ({ [key]: name, ...(item.decode(value) as Json) })),
    encode: (items) =>
      Object.fromEntries((items as Json[]).map((value) => [value[key], item.encode(value)])),
    locate(wire, [index, ...inside]) {
      if (index === undefined) return [];
      const [name = index, value] = listEntries(wire)[Number(index)] ?? [];
      return [name, ...(inside[0] === key ? [] : item.locate(value, inside))];
    },
  };
}

/** An object as the value of its only member, apart from the one that names it. */
export function only(name: string, form: FullForm): FullForm {
  return {
    schema: form.schema,
    decode: (wire) => ({ [name]: form.decode(wire) }),
    encode: (value) => form.encode((value as Json)[name]),
    locate: (wire, [member, ...inside]) => (member === name ? form.locate(wire, inside) : []),
  };
}

/** An object, or some of the members of one. */
export interface ObjectForm extends FullForm {
  schema: z.ZodObject;
  /** The names of the members in the domain. */
  names: readonly string[];
}

type Member = z.ZodType | FullForm;

/** The members of the domain's object `D`, with their names in requests if these differ. Responses omit nulls. */
export function members<D extends object>(
  forms: {
    readonly [M in keyof D]-?: Member | [wireName: string, form: Member];
  },
): ObjectForm {
  const rows = Object.entries<Member | [string, Member]>(forms).map(([name, declared]) => {
    const [wireName, form] = Array.isArray(declared) ? declared : [name, declared];
    return { name, wireName, form: form instanceof z.ZodType ? same(form) : form };
  });
  const createObject = (toEntry: (row: (typeof rows)[number]) => [string, unknown]) =>
    Object.fromEntries(rows.map(toEntry).filter(([, value]) => value !== undefined));
  return {
    schema: z.strictObject(
      Object.fromEntries(rows.map(({ wireName, form }) => [wireName, form.schema])),
    ),
    names: rows.map(({ name }) => name),
    decode: (wire) =>
      createObject(({ name, wireName, form }) => {
        const value = (wire as Json)[wireName];
        return [name, value == null ? value : form.decode(value)];
      }),
    encode: (object) =>
      createObject(({ name, wireName, form }) => {
        const value = (object as Json)[name];
        return [wireName, value == null ? undefined : form.encode(value)];
      }),
    locate(wire, path) {
      const row = rows.find(({ name }) => name === path[0]);
      if (!row) return path;
      const { wireName, form } = row;
      return [wireName, ...form.locate((wire as Json | undefined)?.[wireName], path.slice(1))];
    },
  };
}

/** An object with the members of all forms. */
export function merge(...forms: readonly ObjectForm[]): ObjectForm {
  const assign = (objects: readonly unknown[]): object => Object.assign({}, ...objects);
  return {
    schema: z.strictObject(assign(forms.map(({ schema }) => schema.shape)) as z.ZodRawShape),
    names: forms.flatMap(({ names }) => names),
    decode: (wire) => assign(forms.map((form) => form.decode(wire))),
    encode: (object) => assign(forms.map((form) => form.encode(object))),
    locate(wire, path) {
      const form = forms.find(({ names }) => names.includes(String(path[0])));
      return form ? form.locate(wire, path) : path;
    },
  };
}

/** Members of the domain's object that requests have inside the member `wireName`. */
export function nested(
  wireName: string,
  form: ObjectForm,
  wrap: (schema: z.ZodType) => z.ZodType,
): ObjectForm {
  const getWire = (wire: unknown) => (wire as Json | undefined)?.[wireName] ?? {};
  return {
    schema: z.strictObject({ [wireName]: wrap(form.schema) }),
    names: form.names,
    decode: (wire) => form.decode(getWire(wire)),
    encode(object) {
      const wire = form.encode(object) as object;
      return Object.keys(wire).length > 0 ? { [wireName]: wire } : {};
    },
    locate: (wire, path) => [wireName, ...form.locate(getWire(wire), path)],
  };
}
