/**
 * Maps each member of the domain's input to its location in a request. A member is in the path if the path names it, in
 * the query of a GET or DELETE, and in the body of other methods. An endpoint may declare another location.
 */
import { z } from 'zod';
import { DomainError, type Issue, invalidInput } from '../../kernel/errors.ts';

/** A location in a request. In a body, the name may be nested: `metadata.url`. */
export interface Location {
  in: Issue['in'];
  name: string;
  /** True if the OpenAPI document shows the member as optional, because `rewrite` can derive it. */
  isOptional?: boolean;
  /** Set if the form in requests differs from the domain's. */
  form?: WireForm;
  /** Maps a subpath of the domain's member to the request. By default, both have the same subpath. */
  locateInside?(subpath: string): string;
}

/** The form of a member in requests, if it differs from the domain's. */
export interface WireForm<W = unknown> {
  /** Replaces the domain's schema in the OpenAPI document. */
  schema: z.ZodType<W>;
  toDomain(wire: W): unknown;
  /** Maps a subpath in the domain's form, like `.read[0].schedule`, to the one in the request. */
  locate(wire: W, subpath: string): string;
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

/** Returns the error with its issues located in the request. Errors without issues are returned unchanged. */
export function locateError(locations: Locations, error: unknown): unknown {
  if (!(error instanceof DomainError) || !error.issues) return error;
  const issues = error.issues.map((issue) => locateIssue(locations, issue));
  if (error.code === 'BAD_USER_INPUT') return invalidInput(issues, error.extra);
  return new DomainError(error.code, error.message, { ...error.extra, issues });
}

/** Returns the issue with its location in the request: `input.name` becomes `name` of the body. */
export function locateIssue(locations: Locations, issue: Issue): Issue {
  const [, member = '', subpath = ''] = /^(?:input(?:\.|$))?([^.[]*)(.*)$/s.exec(issue.name) ?? [];
  const location = locations.get(member);
  if (!location) return { ...issue, name: `${member}${subpath}` };
  return {
    ...issue,
    in: location.in,
    name: `${location.name}${location.locateInside?.(subpath) ?? subpath}`,
  };
}

/** Returns the schema of one part of the request. Null if the part contains no member of the input. */
export function createPartSchema(
  input: z.ZodObject,
  locations: Locations,
  part: Issue['in'],
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
