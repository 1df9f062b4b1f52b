/** Turns the parts of a request into the input of a domain function. Reports the issues of all parts together. */
import { z } from 'zod';
import { addIssues, issueAt, toIssues } from '../../domain/issues.ts';
import { listUnstorable } from '../../domain/storable-input.ts';
import { timestamp } from '../../domain/timestamp.ts';
import { unwrapped } from '../../domain/unwrapped.ts';
import { ISSUES_MAX, type Issue, invalidInput } from '../../errors.ts';
import type { Endpoint, Part, Parts } from './endpoint.ts';
import { applyMask, maskRemedy } from './mask.ts';
import { issueInRequest, type Places } from './places.ts';
import { openWireForms } from './wire-form.ts';
import { enumNameOf, wordOf } from './words.ts';

const PARTS: readonly Part[] = ['path', 'query', 'header', 'body'];

/** Validates with a zod schema, through the router's validator compiler. */
export type Validate = (schema: z.ZodObject, given: object) => Validated;

export type Validated = { value: object; error?: never } | { error: z.ZodError };

/**
 * Returns the valid input and the location of each member in this request. `sent` contains the parts after `rewrite`.
 */
export function readInput(
  endpoint: Endpoint,
  sent: Parts,
  validate: Validate,
): { input: object; places: Places } {
  refuseUnstorable(sent);
  const issues: Issue[] = [];
  const members = readParts(endpoint, sent, issues);
  const { given, places, issues: misread } = openWireForms(endpoint.places, members);
  addIssues(issues, misread);
  const valid = validate(endpoint.input, given);
  if (!valid.error && issues.length === 0) return { input: valid.value, places };
  // openWireForms has reported and removed these members, so they are not missing.
  const reportedNames = new Set(misread.flatMap(({ name }) => listAround(name)));
  const newIssues = valid.error ? toIssues(valid.error, given) : [];
  addIssues(
    issues,
    newIssues
      .map((issue) => issueInRequest(places, issue))
      .filter(({ name }) => !reportedNames.has(name)),
  );
  const remedy = endpoint.mask ? maskRemedy(issues, endpoint.mask.fields.keys()) : {};
  throw invalidInput(firstAtEachPlace(issues), { ...remedy });
}

/** Returns the input members in the request. With a mask, only those that the mask names. */
function readParts(endpoint: Endpoint, parts: Parts, issues: Issue[]): Record<string, unknown> {
  const { places, mask } = endpoint;
  const newIssues: Issue[] = [];
  const partValues = new Map(
    PARTS.map((part) => [part, readPart(endpoint, part, { parts, issues: newIssues })]),
  );
  const members = [...places].flatMap(([name, place]) => {
    const value = valueAt(partValues.get(place.in), place.name.split('.'));
    return value === undefined ? [] : [[name, value] as const];
  });
  const given = Object.fromEntries(members);
  if (!mask) {
    addIssues(issues, newIssues);
    return given;
  }
  const masked = applyMask(mask, { body: partValues.get('body'), given, places }, issues);
  const ignored = [...places].filter(([name]) => name in given && !(name in masked));
  addIssues(
    issues,
    newIssues.filter((issue) => !ignored.some(([, place]) => isWithin(place.name, issue.name))),
  );
  return masked;
}

function isWithin(place: string, name: string): boolean {
  return name === place || name.startsWith(`${place}.`) || name.startsWith(`${place}[`);
}

function readPart(
  { parts: schemas }: Endpoint,
  part: Part,
  { parts, issues }: { parts: Parts; issues: Issue[] },
): unknown {
  const value = parts[part] ?? {};
  const schema = schemas[part] ?? NOTHING;
  if (typeof value !== 'object' || Array.isArray(value)) {
    throw invalidInput([{ in: part, name: part, detail: 'must be a JSON object.' }]);
  }
  const newIssues: Issue[] = [];
  const parsedValue = readValue(
    schema,
    { value, path: [] },
    { issues: newIssues, isText: part !== 'body' },
  );
  addIssues(
    issues,
    newIssues.map((issue) => ({ ...issue, in: part })),
  );
  return parsedValue;
}

const NOTHING = z.strictObject({});

/** Throws BAD_USER_INPUT for texts that the database cannot store. */
export function refuseUnstorable(parts: Parts): void {
  const issues = PARTS.flatMap((part) =>
    [...listUnstorable(parts[part], []).take(ISSUES_MAX)].map((issue) => ({ ...issue, in: part })),
  );
  if (issues.length > 0) throw invalidInput(issues);
}

function valueAt(value: unknown, path: string[]): unknown {
  return path.reduce<unknown>(
    (inner, name) => (inner as Record<string, unknown> | null | undefined)?.[name],
    value,
  );
}

/** Returns the locations that enclose a location: `a` and `a.b` for `a.b.c`. */
function listAround(name: string): string[] {
  return [...name.matchAll(/\./g).take(NESTED_MAX)].map(({ index }) => name.slice(0, index));
}
const NESTED_MAX = 8;

/** Keeps the first issue at each location, because a value of the wrong type breaks no further rule. */
function firstAtEachPlace(issues: Issue[]): Issue[] {
  return [...Map.groupBy(issues, (issue) => `${issue.in} ${issue.name}`).values()].map(
    ([first]) => first as Issue,
  );
}

interface ParseContext {
  /** Collects the issues, each with its path in the input. */
  issues: Issue[];
  /** True for the path, the query and headers, whose values are all text. */
  isText: boolean;
}

interface LocatedValue {
  value: unknown;
  path: readonly PropertyKey[];
}

/**
 * Converts a value of a request into one that the domain's zod schema accepts: words into names, ISO texts into times,
 * and texts of a query into numbers. The schema reports other values with an invalid form.
 */
function readValue(
  schema: z.ZodType,
  { value, path }: LocatedValue,
  reading: ParseContext,
): unknown {
  if (value === undefined || value === null) return value;
  const { inner } = unwrapped(schema);
  if (inner instanceof z.ZodObject) return readMembers(inner, { value, path }, reading);
  if (inner instanceof z.ZodRecord) return readEntries(inner, { value, path }, reading);
  if (inner instanceof z.ZodArray) return readItems(inner, { value, path }, reading);
  if (inner instanceof z.ZodEnum) return readWord(inner, { value, path }, reading);
  if (inner instanceof z.ZodDate) return readTime({ value, path }, reading);
  return reading.isText ? readText(inner, value) : value;
}

function readMembers(
  schema: z.ZodObject,
  { value, path }: LocatedValue,
  reading: ParseContext,
): unknown {
  if (typeof value !== 'object' || Array.isArray(value)) return value;
  const given = value as Record<string, unknown>;
  // Otherwise a misspelled member would be ignored silently.
  const unknown = isLoose(schema)
    ? []
    : Object.keys(given).filter((name) => !(name in schema.shape));
  for (const name of unknown) {
    const issue = issueAt([...path, name], 'is not a field of this request.');
    reading.issues.push({ ...issue, kind: 'unknown-name' });
  }
  return Object.fromEntries(
    Object.entries<z.ZodType>(schema.shape).flatMap(([name, type]) => {
      const ownValue = Object.hasOwn(given, name) ? given[name] : undefined;
      const memberValue = readValue(type, { value: ownValue, path: [...path, name] }, reading);
      return memberValue === undefined ? [] : [[name, memberValue]];
    }),
  );
}

function readEntries(
  schema: z.ZodRecord,
  { value, path }: LocatedValue,
  reading: ParseContext,
): unknown {
  if (typeof value !== 'object' || Array.isArray(value)) return value;
  const type = schema.valueType as z.ZodType;
  return Object.fromEntries(
    Object.entries(value as object).map(([name, entry]) => [
      name,
      readValue(type, { value: entry, path: [...path, name] }, reading),
    ]),
  );
}

function isLoose(schema: z.ZodObject): boolean {
  return schema.def.catchall instanceof z.ZodUnknown;
}

function readItems(
  schema: z.ZodArray,
  { value, path }: LocatedValue,
  reading: ParseContext,
): unknown {
  const items = reading.isText && !Array.isArray(value) ? [value] : value;
  if (!Array.isArray(items)) return items;
  const element = schema.element as z.ZodType;
  return items.map((item, index) =>
    readValue(element, { value: item, path: [...path, index] }, reading),
  );
}

function readWord(
  schema: z.ZodEnum,
  { value, path }: LocatedValue,
  { issues }: ParseContext,
): unknown {
  const enumName = enumNameOf(schema);
  const names = schema.options as string[];
  const name = names.find((name) => wordOf(enumName, name) === value);
  if (name !== undefined) return name;
  const allowed = names.map((name) => wordOf(enumName, name)).join(', ');
  issues.push(issueAt(path, `must be one of ${allowed}.`, value));
  // The value may be the domain's name, which the schema would accept.
  return null;
}

function readTime({ value, path }: LocatedValue, { issues }: ParseContext): unknown {
  const parsed = timestamp.safeParse(value);
  if (parsed.success) return parsed.data;
  issues.push(issueAt(path, 'must be a timestamp like 2026-01-31T12:00:00Z.'));
  return value;
}

function readText(schema: z.ZodType, value: unknown): unknown {
  if (schema instanceof z.ZodNumber && /^-?\d+(\.\d+)?$/.test(String(value))) return Number(value);
  if (schema instanceof z.ZodBoolean && value === 'true') return true;
  if (schema instanceof z.ZodBoolean && value === 'false') return false;
  return value;
}
