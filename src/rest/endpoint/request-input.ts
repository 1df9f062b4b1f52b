/** Turns the parts of a request into the input of a domain function, and reports the issues of all parts together. */
import { z } from 'zod';
import { addIssues, toIssues } from '../../domain/issues.ts';
import { listUnstorable } from '../../domain/storable-input.ts';
import { ISSUES_MAX, type Issue, invalidInput } from '../../errors.ts';
import type { Endpoint, Part, Parts } from './endpoint.ts';
import { type Location, type Locations, locateIssue } from './locations.ts';
import { getValue, listMaskIssues, pickMasked, suggestNames } from './mask.ts';
import { PartDecoder } from './part-decoder.ts';

const PARTS: readonly Part[] = ['path', 'query', 'header', 'body'];
const EMPTY_SCHEMA = z.strictObject({});
/** Bounds the work for a name with many dots. */
const ENCLOSING_NAMES_MAX = 8;

/**
 * Returns the valid input, and the location of each member in this request. `parts` have the form that `rewrite`
 * returns. Throws BAD_USER_INPUT with all issues.
 */
export function readInput(
  endpoint: Endpoint,
  parts: Parts,
): { input: object; locations: Locations } {
  refuseUnstorable(parts);
  const decodedParts = decodeParts(endpoint, parts);
  const domainMembers = convertWireForms(endpoint.locations, decodedParts.members);
  const { data: input, error } = endpoint.input.safeParse(domainMembers.members);
  const issues = [...decodedParts.issues, ...domainMembers.issues];
  if (input && issues.length === 0) return { input, locations: domainMembers.locations };
  // Members with an invalid wire form are already reported and removed. The domain's schema would report them as missing.
  const reportedNames = new Set(
    domainMembers.issues.flatMap(({ name }) => listEnclosingNames(name)),
  );
  const newIssues = (error ? toIssues(error, domainMembers.members) : [])
    .map((issue) => locateIssue(domainMembers.locations, issue))
    .filter(({ name }) => !reportedNames.has(name));
  const allIssues = keepFirstAtEachLocation([...issues, ...newIssues].slice(0, ISSUES_MAX));
  const { mask } = endpoint;
  throw invalidInput(allIssues, mask ? suggestNames(allIssues, mask.fields.keys()) : {});
}

/** Throws BAD_USER_INPUT for strings that the database cannot store. */
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

function decodeParts({ partSchemas, locations, mask }: Endpoint, parts: Parts): Members {
  const decoders = PARTS.map((part) => ({ part, decoder: new PartDecoder(part) }));
  const values = new Map(
    decoders.map(({ part, decoder }) => {
      const receivedValue = parts[part] ?? {};
      const value = mask && part === 'body' ? pickMasked(mask, receivedValue) : receivedValue;
      return [part, decoder.decode(partSchemas[part] ?? EMPTY_SCHEMA, value)];
    }),
  );
  const entries = [...locations].flatMap(([member, { in: part, name }]) => {
    const value = getValue(values.get(part), name.split('.'));
    return value === undefined ? [] : [[member, value] as const];
  });
  const members = Object.fromEntries(entries);
  const maskIssues = mask ? listMaskIssues(mask, values.get('body'), members) : [];
  return { members, issues: [...maskIssues, ...decoders.flatMap(({ decoder }) => decoder.issues)] };
}

interface DomainMembers extends Members {
  /** The locations, including those inside converted members. */
  locations: Locations;
}

/** Converts members whose form in requests differs from the domain's. Omits members with issues. */
function convertWireForms(
  wireLocations: Locations,
  wireMembers: Record<string, unknown>,
): DomainMembers {
  const members = { ...wireMembers };
  const locations = new Map(wireLocations);
  const issues: Issue[] = [];
  for (const [name, location] of wireLocations) {
    const { form } = location;
    const value = wireMembers[name];
    if (!form || value === undefined || value === null) continue;
    const { data, error } = form.schema.safeParse(value);
    members[name] = error ? undefined : form.toDomain(data);
    locations.set(name, { ...location, locateInside: (subpath) => form.locate(data, subpath) });
    if (error) {
      const nestedIssues = toIssues(error, value).map((issue) => nestIssue(location, issue));
      addIssues(issues, nestedIssues);
    }
  }
  return { members, locations, issues };
}

function nestIssue({ name }: Location, issue: Issue): Issue {
  return { ...issue, name: issue.name === '' ? name : `${name}.${issue.name}` };
}

/** Lists the locations that enclose a location: `a` and `a.b` for `a.b.c`. */
function listEnclosingNames(name: string): string[] {
  return [...name.matchAll(/\./g).take(ENCLOSING_NAMES_MAX)].map(({ index }) =>
    name.slice(0, index),
  );
}

/** Keeps one issue for each location, because a value of the wrong type also violates other rules. */
function keepFirstAtEachLocation(issues: Issue[]): Issue[] {
  const issuesByLocation = Map.groupBy(issues, (issue) => `${issue.in} ${issue.name}`);
  return [...issuesByLocation.values()].map(([first]) => first as Issue);
}
