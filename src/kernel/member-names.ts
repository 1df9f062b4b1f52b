/** Suggests, for an unknown member of an input, the member that the caller probably meant. */
import { z } from 'zod';
import { createNameFinder, type NameFinder, suggestName } from './nearest-name.ts';
import { findValueAt, type Path } from './text.ts';
import { unwrapSchema } from './unwrap-schema.ts';

/**
 * Returns a function that suggests the nearest member for the last name of a path, to follow a sentence about the name. It
 * searches for the first distinct names at each object only.
 */
export function createMemberSuggester(schema: z.ZodType, input: unknown): (path: Path) => string {
  const finders = new Map<string, NameFinder>();
  return (path) => {
    const names = [...new Set(listMemberNames(schema, input, path.slice(0, -1)))];
    const key = names.join();
    const findNearestName = finders.get(key) ?? createNameFinder(names);
    finders.set(key, findNearestName);
    return suggestName(findNearestName, String(path.at(-1)));
  };
}

/** Lists the members of the object at the path. If it can have several forms, lists the members of all of them. */
function listMemberNames(schema: z.ZodType, value: unknown, path: Path): string[] {
  const { inner } = unwrapSchema(schema);
  if (inner instanceof z.ZodUnion) {
    return listForms(inner, value).flatMap((form) => listMemberNames(form, value, path));
  }
  const [key, ...inside] = path;
  if (key === undefined) return inner instanceof z.ZodObject ? Object.keys(inner.shape) : [];
  const innerType = findInnerType(inner, key);
  return innerType ? listMemberNames(innerType, findValueAt(value, [key]), inside) : [];
}

/** Returns the forms that a value can have. The discriminator names the only one. */
function listForms(union: z.ZodUnion, value: unknown): z.ZodType[] {
  const forms = union.options as z.ZodType[];
  if (!(union instanceof z.ZodDiscriminatedUnion)) return forms;
  const { discriminator } = union.def;
  const kind = findValueAt(value, [discriminator]);
  return forms.filter(
    (form) => form instanceof z.ZodObject && form.shape[discriminator].safeParse(kind).success,
  );
}

function findInnerType(schema: z.ZodType, key: PropertyKey): z.ZodType | undefined {
  if (schema instanceof z.ZodObject) {
    const name = String(key);
    return Object.hasOwn(schema.shape, name) ? (schema.shape[name] as z.ZodType) : undefined;
  }
  if (schema instanceof z.ZodArray) return schema.element as z.ZodType;
  return schema instanceof z.ZodRecord ? (schema.valueType as z.ZodType) : undefined;
}
