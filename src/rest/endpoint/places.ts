/**
 * The location of each domain input member in a request. A member is in the path if the path names it. Otherwise it
 * is in the query of a GET or DELETE, and in the body of other methods, unless the endpoint declares another
 * location.
 */
import { z } from 'zod';
import type { Issue } from '../../errors.ts';
import type { WireForm } from './wire-form.ts';

/** A location in a request. In a body, the name may be nested: `metadata.url`. */
export interface Place {
  in: Issue['in'];
  name: string;
  /**
   * True if the document shows the member as optional, because the endpoint's `rewrite` derives it from another one.
   */
  isOptional?: boolean;
  /** Set if the form in requests differs from the domain's. */
  form?: WireForm;
  /** Maps a location inside the member to this request. Default: the domain's location. */
  inside?(rest: string): string;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The members of an input by name, with their locations. */
export type Places = Map<string, Place>;

interface PlacesInput {
  method: Method;
  path: string;
  input: z.ZodObject;
  places?: { [member in string]?: Place | undefined };
}

export function placesOf({ method, path, input, places: declared = {} }: PlacesInput): Places {
  const inPath = namesInPath(path);
  const defaultPart = method === 'GET' || method === 'DELETE' ? 'query' : 'body';
  const places: Places = new Map(
    Object.keys(input.shape).map((name) => {
      const usual: Place = { in: inPath.includes(name) ? 'path' : defaultPart, name };
      return [name, declared[name] ?? usual];
    }),
  );
  const pathPlaces = [...places.values()].filter((place) => place.in === 'path');
  const missingNames = inPath.filter((name) => !pathPlaces.some((place) => place.name === name));
  if (missingNames.length > 0)
    throw new Error(`${method} ${path}: no input is at ${missingNames.join()}.`);
  return places;
}

/** Returns the parameter names of a path: `projectIdOrName` for `/projects/{projectIdOrName}`. */
function namesInPath(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
}

/** Returns an issue of the domain with its location in the request: `input.name` becomes `name` of the body. */
export function issueInRequest(places: Places, issue: Issue): Issue {
  const [, first = '', rest = ''] = /^(?:input(?:\.|$))?([^.[]*)(.*)$/s.exec(issue.name) ?? [];
  const place = places.get(first);
  if (!place) return { ...issue, name: `${first}${rest}` };
  return { ...issue, in: place.in, name: `${place.name}${place.inside?.(rest) ?? rest}` };
}

/** Returns the schema of one part of the request. Null if the part contains no member of the input. */
export function schemaOfPart(
  input: z.ZodObject,
  places: Places,
  part: Issue['in'],
): z.ZodObject | null {
  const members = [...places].filter(([, place]) => place.in === part);
  if (members.length === 0) return null;
  return nestLeaves(
    members.map(([member, { name, form, isOptional }]) => {
      const schema = form ? form.schema : (input.shape[member] as z.ZodType);
      // A path always has its members, whether or not the domain needs them.
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

/** Combines nested names into objects: `metadata.url` and `metadata.headers` are members of one object. */
function nestLeaves(leaves: Leaf[]): z.ZodObject {
  const groups = Map.groupBy(leaves, ([[head]]) => head as string);
  const shape = [...groups].map(([name, inside]) => {
    const [first] = inside as [Leaf];
    if (first[0].length === 1) return [name, first[1]];
    const object = nestLeaves(inside.map(([path, schema]) => [path.slice(1), schema]));
    const isOptional = Object.values<z.ZodType>(object.shape).every(mayBeOmitted);
    const described = object.describe(`An object with ${Object.keys(object.shape).join(', ')}.`);
    return [name, isOptional ? described.optional() : described];
  });
  return z.strictObject(Object.fromEntries(shape));
}

function mayBeOmitted(schema: z.ZodType): boolean {
  return schema.safeParse(undefined).success;
}
