/** Turns the parts of a request into the input of a domain function. Reports the issues of all parts together. */
import { z } from 'zod';
import { addIssues, toIssues } from '../../domain/issues.ts';
import { listUnstorable } from '../../domain/storable-input.ts';
import { ISSUES_MAX, type Issue, invalidInput } from '../../errors.ts';
import type { Endpoint, Part, Parts } from './endpoint.ts';
import { type Location, type Locations, locateIssue } from './locations.ts';
import { getValue, listMaskIssues, pickMasked, suggestNames } from './mask.ts';
import { PartDecoder } from './part-decoder.ts';

/** Validates with a zod schema, through the router's validator compiler. */
export type Validate = (schema: z.ZodObject, given: object) => Validated;

export type Validated = { value: object; error?: never } | { error: z.ZodError };

/** Returns the valid input and the location of each member in this request. `parts` is the result of `rewrite`. */
export function readInput(
  endpoint: Endpoint,
  parts: Parts,
  validate: Validate,
): { input: object; locations: Locations } {
  refuseUnstorable(parts);
  const decoded = decodeParts(endpoint, parts);
  const opened = openWireForms(endpoint.locations, decoded.members);
  const { value: input, error } = validate(endpoint.input, opened.members) as Partial<Validated> & {
    value?: object;
  };
  const issues = [...decoded.issues, ...opened.issues];
  if (input && issues.length === 0) return { input, locations: opened.locations };
  // A member whose wire form is invalid was reported and removed, so it is not missing.
  const reported = new Set(opened.issues.flatMap(({ name }) => listEnclosing(name)));
  const newIssues = (error ? toIssues(error, opened.members) : [])
    .map((issue) => locateIssue(opened.locations, issue))
    .filter(({ name }) => !reported.has(name));
  const all = keepFirstAtEachLocation([...issues, ...newIssues].slice(0, ISSUES_MAX));
  const { mask } = endpoint;
  throw invalidInput(all, mask ? { ...suggestNames(all, mask.fields.keys()) } : {});
}

const PARTS: readonly Part[] = ['path', 'query', 'header', 'body'];

/** Throws BAD_USER_INPUT for texts that the database cannot store. */
export function refuseUnstorable(parts: Parts): void {
  const issues = PARTS.flatMap((part) =>
    [...listUnstorable(parts[part], []).take(ISSUES_MAX)].map((issue) => ({ ...issue, in: part })),
  );
  if (issues.length > 0) throw invalidInput(issues);
}

interface Members {
  /** The members of the input that the request contains, by name. */
  members: Record<string, unknown>;
  issues: Issue[];
}

function decodeParts({ parts: schemas, locations, mask }: Endpoint, parts: Parts): Members {
  const decoders = PARTS.map((part) => ({ part, decoder: new PartDecoder(part) }));
  const values = new Map(
    decoders.map(({ part, decoder }) => {
      const sent = parts[part] ?? {};
      const value = mask && part === 'body' ? pickMasked(mask, sent) : sent;
      return [part, decoder.decode(schemas[part] ?? NOTHING, value)];
    }),
  );
  const present = [...locations].flatMap(([member, { in: part, name }]) => {
    const value = getValue(values.get(part), name.split('.'));
    return value === undefined ? [] : [[member, value] as const];
  });
  const members = Object.fromEntries(present);
  const maskIssues = mask ? listMaskIssues(mask, values.get('body'), members) : [];
  return { members, issues: [...maskIssues, ...decoders.flatMap(({ decoder }) => decoder.issues)] };
}

const NOTHING = z.strictObject({});

interface OpenedMembers extends Members {
  /** The locations, including those inside converted members. */
  locations: Locations;
}

/** Converts members whose form in requests differs from the domain's. Omits those with issues. */
function openWireForms(declared: Locations, sent: Record<string, unknown>): OpenedMembers {
  const members = { ...sent };
  const locations = new Map(declared);
  const issues: Issue[] = [];
  for (const [name, location] of declared) {
    const { form } = location;
    const value = sent[name];
    if (!form || value === undefined || value === null) continue;
    const { data, error } = form.schema.safeParse(value);
    members[name] = error ? undefined : form.toDomain(data);
    locations.set(name, { ...location, inside: (rest) => form.locate(data, rest) });
    if (error) {
      const nested = toIssues(error, value).map((issue) => nestIssue(location, issue));
      addIssues(issues, nested);
    }
  }
  return { members, locations, issues };
}

function nestIssue({ name }: Location, issue: Issue): Issue {
  return { ...issue, name: issue.name === '' ? name : `${name}.${issue.name}` };
}

const NESTED_MAX = 8;

/** Lists the locations that enclose a location: `a` and `a.b` for `a.b.c`. */
function listEnclosing(name: string): string[] {
  return [...name.matchAll(/\./g).take(NESTED_MAX)].map(({ index }) => name.slice(0, index));
}

/** A value of the wrong type breaks no further rule. */
function keepFirstAtEachLocation(issues: Issue[]): Issue[] {
  const byLocation = Map.groupBy(issues, (issue) => `${issue.in} ${issue.name}`);
  return [...byLocation.values()].map(([first]) => first as Issue);
}
