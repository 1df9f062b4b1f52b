/**
 * Validates long values in steps. zod validates a value in one turn of the event loop, so the items of lists are parsed one
 * by one, and then the value around them.
 */
import { z } from 'zod';
import { findItemsMax, unwrapSchema } from '../../kernel/unwrap-schema.ts';
import { explainProblems, UNTIL_FIRST_PROBLEM } from '../../work/bounded-parse.ts';
import { isObject } from '../../work/is-object.ts';
import { isLongValue, type Steps } from '../../work/steps.ts';

/** Parses a value like `parseBounded`. A step parses at most one item of a long list. */
export function* parseInSteps<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): Steps<z.ZodSafeParseResult<z.output<Schema>>> {
  try {
    return { success: true, data: (yield* parsePart(schema, value, [])) as z.output<Schema> };
  } catch (error) {
    if (!(error instanceof z.ZodError)) throw error;
    yield;
    return explainProblems(schema, value, error as z.ZodError<z.output<Schema>>);
  }
}

type Path = readonly PropertyKey[];

/** Returns the parsed value. Throws a ZodError with the first problem. */
function* parsePart(schema: z.ZodType, value: unknown, path: Path): Steps<unknown> {
  const isLong = isLongValue(value);
  const [partSchema, part] = isLong
    ? [getOuterSchema(schema), yield* parseItems(schema, value, path)]
    : [schema, value];
  const { data, error } = partSchema.safeParse(part, UNTIL_FIRST_PROBLEM);
  yield;
  if (!error) return data;
  throw new z.ZodError(error.issues.map((issue) => ({ ...issue, path: [...path, ...issue.path] })));
}

/** Returns a copy of the value, in which the items of its outermost lists and records are parsed. */
function* parseItems(schema: z.ZodType, value: unknown, path: Path): Steps<unknown> {
  const { inner } = unwrapSchema(schema);
  if (inner instanceof z.ZodArray && Array.isArray(value)) {
    // The schema of the list refuses a longer one without reading its items.
    if (value.length > (findItemsMax(inner) ?? Number.POSITIVE_INFINITY)) return value;
    const items: unknown[] = [];
    for (const [index, item] of value.entries()) {
      items.push(yield* parsePart(inner.element as z.ZodType, item, [...path, index]));
    }
    return items;
  }
  const isRecord = inner instanceof z.ZodRecord;
  if (!isObject(value) || !(isRecord || inner instanceof z.ZodObject)) return value;
  const copy = { ...value };
  for (const name of Object.keys(value)) {
    const memberPath = [...path, name];
    if (isRecord) {
      copy[name] = yield* parsePart(inner.valueType as z.ZodType, value[name], memberPath);
    } else if (Object.hasOwn(inner.shape, name)) {
      copy[name] = yield* parseItems(inner.shape[name], value[name], memberPath);
    }
  }
  return copy;
}

const outerSchemas = new WeakMap<z.ZodType, z.ZodType>();

function getOuterSchema(schema: z.ZodType): z.ZodType {
  const knownSchema = outerSchemas.get(schema);
  if (knownSchema) return knownSchema;
  const outerSchema = createOuterSchema(schema);
  outerSchemas.set(schema, outerSchema);
  return outerSchema;
}

/** Returns the schema of a value whose items `parseItems` has parsed: it keeps them. */
function createOuterSchema(schema: z.ZodType): z.ZodType {
  if (schema instanceof z.ZodArray) return schema.clone({ ...schema.def, element: z.unknown() });
  if (schema instanceof z.ZodRecord) return schema.clone({ ...schema.def, valueType: z.unknown() });
  if (schema instanceof z.ZodObject) {
    const members = Object.entries<z.ZodType>(schema.shape);
    const shape = Object.fromEntries(
      members.map(([name, member]) => [name, createOuterSchema(member)]),
    );
    return schema.clone({ ...schema.def, shape });
  }
  if (schema instanceof z.ZodPipe) {
    return schema.clone({ ...schema.def, in: createOuterSchema(schema.in as z.ZodType) });
  }
  // Each kind needs its own branch, because their definitions have different types.
  const createInner = (innerType: unknown) => createOuterSchema(innerType as z.ZodType);
  if (schema instanceof z.ZodOptional) {
    return schema.clone({ ...schema.def, innerType: createInner(schema.def.innerType) });
  }
  if (schema instanceof z.ZodNullable) {
    return schema.clone({ ...schema.def, innerType: createInner(schema.def.innerType) });
  }
  if (schema instanceof z.ZodDefault) {
    return schema.clone({ ...schema.def, innerType: createInner(schema.def.innerType) });
  }
  return schema;
}
