/** Turns the parts of a request into the input of a domain function. Reports the issues of all parts together. */
import { z } from 'zod';
import { addIssues, issuesOf } from '../../domain/issues.ts';
import { listUnstorable } from '../../domain/storable-input.ts';
import { ISSUES_MAX, type Issue, invalidInput } from '../../errors.ts';
import type { Endpoint, Part, Parts } from './endpoint.ts';
import { applyMask, maskRemedy } from './mask.ts';
import { issueInRequest, type Places } from './places.ts';
import { readValue } from './values.ts';
import { openWireForms } from './wire-form.ts';

const PARTS: readonly Part[] = ['path', 'query', 'header', 'body'];

/** Validates with a schema of zod, by the validator compiler of the router. */
export type Validate = (schema: z.ZodObject, given: object) => Validated;

export type Validated = { value: object; error?: never } | { error: z.ZodError };

/** Returns the valid input, and where each of its members is in this request. `sent` are the parts after `rewrite`. */
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
  // A member that openWireForms removed is not missing.
  const said = new Set(misread.flatMap(({ name }) => listAround(name)));
  const found = valid.error ? issuesOf(valid.error, given) : [];
  addIssues(
    issues,
    found.map((issue) => issueInRequest(places, issue)).filter(({ name }) => !said.has(name)),
  );
  const remedy = endpoint.mask ? maskRemedy(issues, endpoint.mask.fields.keys()) : {};
  throw invalidInput(firstAtEachPlace(issues), { ...remedy });
}

/** Returns the members of the input that were given and, if there is a mask, that it names. */
function readParts(endpoint: Endpoint, parts: Parts, issues: Issue[]): Record<string, unknown> {
  const { places, mask } = endpoint;
  const found: Issue[] = [];
  const read = new Map(
    PARTS.map((part) => [part, readPart(endpoint, part, { parts, issues: found })]),
  );
  const members = [...places].flatMap(([name, place]) => {
    const value = valueAt(read.get(place.in), place.name.split('.'));
    return value === undefined ? [] : [[name, value] as const];
  });
  const given = Object.fromEntries(members);
  if (!mask) {
    addIssues(issues, found);
    return given;
  }
  const masked = applyMask(mask, { body: read.get('body'), given, places }, issues);
  const ignored = [...places].filter(([name]) => name in given && !(name in masked));
  addIssues(
    issues,
    found.filter((issue) => !ignored.some(([, place]) => isWithin(place.name, issue.name))),
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
  const found: Issue[] = [];
  const read = readValue(schema, { value, path: [] }, { issues: found, isText: part !== 'body' });
  addIssues(
    issues,
    found.map((issue) => ({ ...issue, in: part })),
  );
  return read;
}

const NOTHING = z.strictObject({});

/** Texts that the database can't store. */
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

/** The places that a place is in, as far as members of an input are nested: `a` and `a.b` for `a.b.c`. */
function listAround(name: string): string[] {
  return [...name.matchAll(/\./g).take(NESTED_MAX)].map(({ index }) => name.slice(0, index));
}
const NESTED_MAX = 8;

/** The first finding at each place: a value of a wrong form breaks no further rule. */
function firstAtEachPlace(issues: Issue[]): Issue[] {
  return [...Map.groupBy(issues, (issue) => `${issue.in} ${issue.name}`).values()].map(
    ([first]) => first as Issue,
  );
}
