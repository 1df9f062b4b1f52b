/**
 * Maps each member of the domain's input to its location in a request. A member is in the path if the path names it, in
 * the query of a GET or DELETE, and in the body of other methods. An endpoint may declare another location.
 */
import { z } from 'zod';
import type { Issue } from '../../kernel/errors.ts';
import { formatPath, type MemberLocation, type Path } from '../../kernel/text.ts';
import type { Form } from './form.ts';

/** A location in a request. In a body, the name may be nested: `metadata.url`. */
export interface Location extends MemberLocation {
  /** True if the OpenAPI document shows the member as optional, because `rewrite` can derive it. */
  isOptional?: boolean;
  /** Set if the form in requests differs from the domain's. */
  form?: Form;
  /** Maps a path inside the domain's member to the request. By default, both are equal. */
  locateInside?(path: Path): Path;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The locations of an input's members, by name. */
export type Locations = Map<string, Location>;

/** The reference API calls the path parameter `integrationId`, although it also takes a name. */
export const integrationInPath: Record<'integrationIdOrName', Location> = {
  integrationIdOrName: { in: 'path', name: 'integrationId' },
};

interface MembersToLocate {
  method: Method;
  path: string;
  input: z.ZodObject;
  locations?: { [member in string]?: Location | undefined };
}

/** Returns the location of each member. Throws if a parameter of the path has no member. */
export function locateMembers({
  method,
  path,
  input,
  locations: declaredLocations,
}: MembersToLocate): Locations {
  const parameters = [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
  const defaultPart = method === 'GET' || method === 'DELETE' ? 'query' : 'body';
  const locations: Locations = new Map(
    Object.keys(input.shape).map((name) => {
      const defaultLocation: Location = {
        in: parameters.includes(name) ? 'path' : defaultPart,
        name,
      };
      return [name, declaredLocations?.[name] ?? defaultLocation];
    }),
  );
  const inPath = [...locations.values()].filter((location) => location.in === 'path');
  const unmapped = parameters.filter((name) => !inPath.some((location) => location.name === name));
  if (unmapped.length > 0) {
    throw new Error(`Bug: ${method} ${path} has no input for ${unmapped.join(', ')}.`);
  }
  return locations;
}

/** Returns the location of a path in the domain's input. Undefined if no location is declared for its member. */
function findLocation(
  locations: Locations,
  [member, ...inside]: Path,
): { in: MemberLocation['in']; path: Path } | undefined {
  const location = locations.get(String(member));
  if (!location) return undefined;
  const names = location.name.split('.').filter(Boolean);
  return { in: location.in, path: [...names, ...(location.locateInside?.(inside) ?? inside)] };
}

/** Returns the name of a member in the request. A member without a location has the same name in the body. */
export function locateMember(locations: Locations, path: Path): MemberLocation {
  const location = findLocation(locations, path) ?? { in: 'body' as const, path };
  return { in: location.in, name: formatPath(location.path) || location.in };
}

/** Returns the issue with its location in the request. */
export function locateIssue(locations: Locations, issue: Issue): Issue {
  return { ...issue, in: 'body', ...findLocation(locations, issue.path) };
}

/** Returns the schema of one part of the request. Null if the part contains no member of the input. */
export function createPartSchema(
  input: z.ZodObject,
  locations: Locations,
  part: MemberLocation['in'],
): z.ZodObject | null {
  const members = [...locations].filter(([, location]) => location.in === part);
  if (members.length === 0) return null;
  return nestLeaves(
    members.map(([member, { name, form, isOptional }]) => {
      const schema = form ? form.schema : (input.shape[member] as z.ZodType);
      // A path always has its parameters, even if the domain's member is optional.
      if (part === 'path') return [[name], unwrapOptional(schema)];
      return [name.split('.'), isOptional ? schema.optional() : schema];
    }),
  );
}

function unwrapOptional(schema: z.ZodType): z.ZodType {
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable;
  return isWrapped ? unwrapOptional(schema.unwrap() as z.ZodType) : schema;
}

type Leaf = [path: string[], schema: z.ZodType];

/** Combines dotted names into objects: `metadata.url` and `metadata.headers` become members of `metadata`. */
function nestLeaves(leaves: Leaf[]): z.ZodObject {
  const groups = Map.groupBy(leaves, ([[head]]) => head as string);
  const shape = [...groups].map(([name, members]) => {
    const [[firstPath, firstSchema]] = members as [Leaf];
    if (firstPath.length === 1) return [name, firstSchema];
    const innerObject = nestLeaves(members.map(([path, schema]) => [path.slice(1), schema]));
    const { shape: innerShape } = innerObject;
    const isOptional = Object.values<z.ZodType>(innerShape).every(isOmittable);
    const object = innerObject.describe(`An object with ${Object.keys(innerShape).join(', ')}.`);
    return [name, isOptional ? object.optional() : object];
  });
  return z.strictObject(Object.fromEntries(shape));
}

function isOmittable(schema: z.ZodType): boolean {
  return schema.safeParse(undefined).success;
}
