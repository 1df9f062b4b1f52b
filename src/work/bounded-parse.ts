/** Validates values from outside the process. The work to explain a refused value is bounded, whatever its size. */
import { z } from 'zod';

/** The maximum depth of values: far deeper than any record or configuration, and far less than overflows the stack. */
export const LEVELS_MAX = 64;
/** How much of a refused value is explained. Explaining one problem takes a thousand times as long as reading a value. */
const EXPLAINED_ITEMS_MAX = 100;
const EXPLAINED_MEMBERS_MAX = 1_000;
const EXPLAINED_VALUES_MAX = 10_000;

/** zod stops at the first problem, as `schema.validate` does, but returns the parsed value of a valid one. */
export const UNTIL_FIRST_PROBLEM: z.core.ParseContextInternal<z.core.$ZodIssue> = {
  abortEarly: true,
};

/**
 * Parses a value like `schema.safeParse`. Lists the problems of a refused value within its first items and levels, or else
 * its first problem.
 */
export function parseBounded<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.ZodSafeParseResult<z.output<Schema>> {
  const result = schema.safeParse(value, UNTIL_FIRST_PROBLEM);
  return result.success ? result : explainProblems(schema, value, result.error);
}

/** Returns the problems within the first items and levels of a refused value, or else its first problem. */
export function explainProblems<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
  firstProblem: z.ZodError<z.output<Schema>>,
): z.ZodSafeParseError<z.output<Schema>> {
  const cut: Cut = { values: 0, parts: new Set() };
  const copy = cutValue(value, cut);
  const issues = schema.safeParse(copy).error?.issues ?? [];
  const keptIssues = issues.filter((issue) => !concernsCut(issue, copy, cut));
  const error =
    keptIssues.length > 0 ? (new z.ZodError(keptIssues) as typeof firstProblem) : firstProblem;
  return { success: false, error };
}

/** True if an issue is about values that the copy lacks. */
function concernsCut({ code, path }: z.core.$ZodIssue, copy: unknown, { parts }: Cut): boolean {
  let value = copy;
  for (const key of path) {
    if (parts.has(value) && !Object.hasOwn(value as object, key)) return true;
    value = (value as Record<PropertyKey, unknown> | null | undefined)?.[key];
  }
  return parts.has(value) && code !== 'unrecognized_keys';
}

/** Returns a value that `parseBounded` accepts. Throws the ZodError of others. */
export function requireParsed<Schema extends z.ZodType>(
  schema: Schema,
  value: unknown,
): z.output<Schema> {
  const { data, error } = parseBounded(schema, value);
  if (error) throw error;
  return data;
}

/** True if lists or objects are nested deeper than LEVELS_MAX, which code that recurses can't process. */
export function isTooDeep(value: unknown, level = 0): boolean {
  if (typeof value !== 'object' || value === null) return false;
  if (level > LEVELS_MAX) return true;
  return Object.values(value).some((member) => isTooDeep(member, level + 1));
}

interface Cut {
  /** The number of values in the copy. */
  values: number;
  /** The lists and objects of the copy that lack items or members. */
  parts: Set<unknown>;
}

/** Returns a copy of the first items and levels. Lists and objects beyond these are empty. */
export function cutValue(
  value: unknown,
  cut: Cut = { values: 0, parts: new Set() },
  level = 0,
): unknown {
  cut.values += 1;
  if (typeof value !== 'object' || value === null || !isPlain(value)) return value;
  const isEmpty = level >= LEVELS_MAX || cut.values > EXPLAINED_VALUES_MAX;
  if (Array.isArray(value)) {
    const items = isEmpty ? [] : value.slice(0, EXPLAINED_ITEMS_MAX);
    const copy = items.map((item) => cutValue(item, cut, level + 1));
    if (copy.length < value.length) cut.parts.add(copy);
    return copy;
  }
  const copy: Record<string, unknown> = {};
  let members = 0;
  for (const name in value) {
    if (!Object.hasOwn(value, name)) continue;
    members += 1;
    if (isEmpty || members > EXPLAINED_MEMBERS_MAX) {
      cut.parts.add(copy);
      break;
    }
    copy[name] = cutValue((value as Record<string, unknown>)[name], cut, level + 1);
  }
  return copy;
}

/** False for instances of classes, such as times, which have no members to cut. */
function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value);
  return Array.isArray(value) || prototype === Object.prototype || prototype === null;
}
