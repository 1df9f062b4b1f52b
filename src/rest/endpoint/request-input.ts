/** Turns the parts of a request into the input of a domain function, and reports the issues of all parts together. */
import { z } from 'zod';
import { timestamp } from '../../domain/base/input-schemas.ts';
import { addIssues, createInputIssue, isSecret, toIssues } from '../../domain/base/issues.ts';
import { parseInSteps } from '../../domain/base/parse-in-steps.ts';
import { listUnstorable } from '../../domain/base/storable-input.ts';
import { type DomainError, ISSUES_MAX, type Issue, invalidInput } from '../../kernel/errors.ts';
import { createNameFinder, suggestName } from '../../kernel/nearest-name.ts';
import { formatPath } from '../../kernel/text.ts';
import { findItemsMax, unwrapSchema } from '../../kernel/unwrap-schema.ts';
import { isLongValue, runSteps, runStepsInLoopTurns, type Steps } from '../../work/steps.ts';
import type { Endpoint, Part, Parts } from './endpoint.ts';
import { getValue, listMaskIssues, pickMasked, suggestNames } from './mask.ts';
import { type Location, type Locations, locateIssue } from './request-form.ts';
import { findEnumName, toWord } from './words.ts';

const PARTS: readonly Part[] = ['path', 'query', 'header', 'body'];
const EMPTY_SCHEMA = z.strictObject({});
/** Bounds the work for a name with many dots. */
const ENCLOSING_NAMES_MAX = 8;

/** Validates with a zod schema, through the router's validator compiler. */
export type Validate = (schema: z.ZodObject, input: object) => ValidationResult;

export type ValidationResult =
  | { value: object; error?: never }
  | { value?: never; error: z.ZodError };

interface Located {
  /** The locations of the members in this request, by which its problems are spelled. */
  locations: Locations;
}

type RequestInput = Located &
  ({ input: object; error?: never } | { input?: never; error: DomainError });

/**
 * Returns the valid input or the error with all issues. `parts` have the form that `rewrite` returns. Throws
 * BAD_USER_INPUT if a part cannot be decoded. Long inputs are read in several turns of the event loop.
 */
export async function readInput(
  endpoint: Endpoint,
  parts: Parts,
  validate: Validate,
): Promise<RequestInput> {
  const steps = readInSteps(endpoint, parts, validate);
  return isLongValue(parts.body) ? runStepsInLoopTurns(steps) : runSteps(steps);
}

function* readInSteps(endpoint: Endpoint, parts: Parts, validate: Validate): Steps<RequestInput> {
  refuseUnstorable(parts);
  yield;
  const decodedParts = yield* decodeParts(endpoint, parts);
  const domainMembers = yield* convertWireForms(endpoint.locations, decodedParts.members);
  const { members, locations } = domainMembers;
  const { value: input, error } = isLongValue(members)
    ? yield* validateInSteps(endpoint.input, members)
    : validate(endpoint.input, members);
  const issues = [...decodedParts.issues, ...domainMembers.issues];
  if (input && issues.length === 0) return { input, locations };
  // Members with an invalid wire form are already reported and removed. The domain's schema would report them as missing.
  const reportedNames = new Set(
    domainMembers.issues.flatMap(({ path }) => listEnclosingNames(formatPath(path))),
  );
  const newIssues = (error ? toIssues(error, members) : [])
    .map((issue) => locateIssue(locations, issue))
    .filter(({ path }) => !reportedNames.has(formatPath(path)));
  const allIssues = keepFirstAtEachLocation([...issues, ...newIssues].slice(0, ISSUES_MAX));
  const { mask } = endpoint;
  const remedy = mask ? suggestNames(allIssues, mask.fields.keys()) : {};
  return { error: invalidInput(allIssues, remedy), locations };
}

function* validateInSteps(schema: z.ZodObject, input: object): Steps<ValidationResult> {
  const { data, error } = yield* parseInSteps(schema, input);
  return error ? { error } : { value: data };
}

/** Throws BAD_USER_INPUT for strings that the database cannot store. */
export function refuseUnstorable(parts: Parts): void {
  const issues = PARTS.flatMap((part) =>
    [...listUnstorable(parts[part]).take(ISSUES_MAX)].map((issue) => ({ ...issue, in: part })),
  );
  if (issues.length > 0) throw invalidInput(issues);
}

interface Members {
  /** The members of the input that the request contains, by name. */
  members: Record<string, unknown>;
  issues: Issue[];
}

function* decodeParts({ partSchemas, locations, mask }: Endpoint, parts: Parts): Steps<Members> {
  const issues: Issue[] = [];
  const values = new Map<Part, unknown>();
  for (const part of PARTS) {
    const receivedValue = parts[part] ?? {};
    const value = mask && part === 'body' ? pickMasked(mask, receivedValue) : receivedValue;
    const decoder = new PartDecoder(part);
    values.set(part, yield* decoder.decode(partSchemas[part] ?? EMPTY_SCHEMA, value));
    issues.push(...decoder.issues);
  }
  const entries = [...locations].flatMap(([member, { in: part, name }]) => {
    const value = getValue(values.get(part), name.split('.'));
    return value === undefined ? [] : [[member, value] as const];
  });
  const members = Object.fromEntries(entries);
  const maskIssues = mask ? listMaskIssues(mask, parts.body ?? {}, members) : [];
  return { members, issues: [...maskIssues, ...issues] };
}

interface DomainMembers extends Members {
  /** The locations, including those inside converted members. */
  locations: Locations;
}

/** Converts members whose form in requests differs from the domain's. Omits members with issues. */
function* convertWireForms(
  wireLocations: Locations,
  wireMembers: Record<string, unknown>,
): Steps<DomainMembers> {
  const members = { ...wireMembers };
  const locations = new Map(wireLocations);
  const issues: Issue[] = [];
  for (const [name, location] of wireLocations) {
    const { form } = location;
    const value = wireMembers[name];
    if (!form || value === undefined || value === null) continue;
    const { data, error } = yield* parseInSteps(form.schema, value);
    members[name] = error ? undefined : form.decode(data);
    locations.set(name, { ...location, locateInside: (path) => form.locate(data, path) });
    if (error) {
      const nestedIssues = toIssues(error, value, form.schema).map((issue) =>
        nestIssue(location, issue),
      );
      addIssues(issues, nestedIssues);
    }
  }
  return { members, locations, issues };
}

function nestIssue({ in: part, name }: Location, { value, ...issue }: Issue): Issue {
  const path = [...name.split('.'), ...issue.path];
  return { ...issue, in: part, path, ...(value !== undefined && !isSecret(path) && { value }) };
}

/** Lists the locations that enclose a location: `a` and `a.b` for `a.b.c`. */
function listEnclosingNames(name: string): string[] {
  return [...name.matchAll(/\./g).take(ENCLOSING_NAMES_MAX)].map(({ index }) =>
    name.slice(0, index),
  );
}

/** Keeps one issue for each location, because a value of the wrong type also violates other rules. */
function keepFirstAtEachLocation(issues: Issue[]): Issue[] {
  const issuesByLocation = Map.groupBy(
    issues,
    ({ in: part, path }) => `${part} ${formatPath(path)}`,
  );
  return [...issuesByLocation.values()].map(([first]) => first as Issue);
}

type Path = readonly PropertyKey[];

/**
 * Converts a part of a request into values that the domain's schema accepts: words into names of enums, ISO strings
 * into times, and strings of a query into numbers and booleans. Reports unknown members, unknown words and invalid
 * times. The domain's schema reports all other invalid values.
 */
class PartDecoder {
  readonly issues: Issue[] = [];
  readonly #part: Part;

  constructor(part: Part) {
    this.#part = part;
  }

  /** Throws BAD_USER_INPUT if the part is not an object. */
  *decode(schema: z.ZodObject, value: unknown): Steps<unknown> {
    const isObject = typeof value === 'object' && !Array.isArray(value);
    if (isObject) return yield* this.#decode(schema, value, []);
    throw invalidInput([{ in: this.#part, path: [], detail: 'must be a JSON object.' }]);
  }

  *#decode(schema: z.ZodType, value: unknown, path: Path): Steps<unknown> {
    if (value === undefined || value === null) return value;
    const { inner } = unwrapSchema(schema);
    if (inner instanceof z.ZodObject) return yield* this.#decodeMembers(inner, value, path);
    if (inner instanceof z.ZodRecord) return yield* this.#decodeEntries(inner, value, path);
    if (inner instanceof z.ZodArray) return yield* this.#decodeItems(inner, value, path);
    if (inner instanceof z.ZodEnum) return this.#decodeWord(inner, value, path);
    if (inner instanceof z.ZodDate) return this.#decodeTime(value, path);
    return this.#hasOnlyStrings ? decodeString(inner, value) : value;
  }

  *#decodeMembers(schema: z.ZodObject, value: unknown, path: Path): Steps<unknown> {
    if (typeof value !== 'object' || Array.isArray(value)) return value;
    const members = value as Record<string, unknown>;
    if (!(schema.def.catchall instanceof z.ZodUnknown)) {
      // An ignored member may be a misspelled one.
      const unknownNames = Object.keys(members).filter(
        (name) => !Object.hasOwn(schema.shape, name),
      );
      if (unknownNames.length > 0) this.#reportUnknown(schema, unknownNames, path);
    }
    const decodedMembers: Record<string, unknown> = {};
    for (const name of Object.keys(schema.shape)) {
      if (!Object.hasOwn(members, name)) continue;
      const member = yield* this.#decode(schema.shape[name], members[name], [...path, name]);
      if (member !== undefined) decodedMembers[name] = member;
    }
    return decodedMembers;
  }

  #reportUnknown(schema: z.ZodObject, names: readonly string[], path: Path): void {
    const findNearestName = createNameFinder(Object.keys(schema.shape));
    for (const name of names) {
      if (this.issues.length === ISSUES_MAX) return;
      const detail = `is not a field of this request.${suggestName(findNearestName, name)}`;
      this.#report({ ...createInputIssue([...path, name], detail), kind: 'unknown-name' });
    }
  }

  *#decodeEntries({ valueType }: z.ZodRecord, value: unknown, path: Path): Steps<unknown> {
    if (typeof value !== 'object' || Array.isArray(value)) return value;
    const entries: [name: string, entry: unknown][] = [];
    for (const [name, entry] of Object.entries(value as object)) {
      entries.push([name, yield* this.#decode(valueType as z.ZodType, entry, [...path, name])]);
      yield;
    }
    return Object.fromEntries(entries);
  }

  *#decodeItems(list: z.ZodArray, value: unknown, path: Path): Steps<unknown> {
    const { element } = list;
    const items = this.#hasOnlyStrings && !Array.isArray(value) ? [value] : value;
    if (!Array.isArray(items)) return items;
    // The domain's schema refuses a longer list without reading its items.
    if (items.length > (findItemsMax(list) ?? Number.POSITIVE_INFINITY)) return items;
    const decodedItems: unknown[] = [];
    for (const [index, item] of items.entries()) {
      decodedItems.push(yield* this.#decode(element as z.ZodType, item, [...path, index]));
      yield;
    }
    return decodedItems;
  }

  #decodeWord(schema: z.ZodEnum, value: unknown, path: Path): unknown {
    const enumName = findEnumName(schema);
    const names = schema.options as string[];
    const name = names.find((name) => toWord(enumName, name) === value);
    if (name !== undefined) return name;
    const words = names.map((name) => toWord(enumName, name)).join(', ');
    this.#report(createInputIssue(path, `must be one of ${words}.`, isSecret(path) ? null : value));
    // The domain's schema would accept the name of the enum's value, so the value must not reach it.
    return null;
  }

  #decodeTime(value: unknown, path: Path): unknown {
    const { data, success } = timestamp.safeParse(value);
    if (success) return data;
    this.#report(createInputIssue(path, 'must be a timestamp like 2026-01-31T12:00:00Z.', value));
    return value;
  }

  /** True for the path, the query and the headers. */
  get #hasOnlyStrings(): boolean {
    return this.#part !== 'body';
  }

  #report(issue: Issue): void {
    if (this.issues.length < ISSUES_MAX) this.issues.push({ ...issue, in: this.#part });
  }
}

function decodeString(schema: z.ZodType, value: unknown): unknown {
  if (schema instanceof z.ZodNumber && /^-?\d+(\.\d+)?$/.test(String(value))) return Number(value);
  if (schema instanceof z.ZodBoolean && value === 'true') return true;
  if (schema instanceof z.ZodBoolean && value === 'false') return false;
  return value;
}
