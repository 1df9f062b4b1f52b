/**
 * Where each member of a domain input is in a request. A member is in the path if the path names it; else
 * a GET and a DELETE have it in the query, and the others in the body, unless its endpoint says otherwise.
 */
import { z } from 'zod';
import type { Issue } from '../../errors.ts';
import type { WireForm } from './wire-form.ts';

/** A name in a body may lie inside another: `metadata.url`. */
export interface Place {
  in: Issue['in'];
  name: string;
  /** The document has it as optional: `rewrite` of the endpoint makes it of something else. */
  isOptional?: boolean;
  /** If its form in requests is not the domain's. */
  form?: WireForm;
  /** Where a place inside the member is in this request. Default: as the domain names it. */
  inside?(rest: string): string;
}

export type Method = 'GET' | 'POST' | 'PUT' | 'PATCH' | 'DELETE';

/** The members of an input, by name, with their places. */
export type Places = Map<string, Place>;

interface Placed {
  method: Method;
  path: string;
  input: z.ZodObject;
  places?: { [member in string]?: Place | undefined };
}

export function placesOf({ method, path, input, places = {} }: Placed): Places {
  const inPath = namesInPath(path);
  const rest = method === 'GET' || method === 'DELETE' ? 'query' : 'body';
  const found: Places = new Map(
    Object.keys(input.shape).map((name) => {
      const usual: Place = { in: inPath.includes(name) ? 'path' : rest, name };
      return [name, places[name] ?? usual];
    }),
  );
  const placed = [...found.values()].filter((place) => place.in === 'path');
  const missing = inPath.filter((name) => !placed.some((place) => place.name === name));
  if (missing.length > 0) throw new Error(`${method} ${path}: no input is at ${missing.join()}.`);
  return found;
}

/** `projectIdOrName` of `/projects/{projectIdOrName}`. */
export function namesInPath(path: string): string[] {
  return [...path.matchAll(/\{(\w+)\}/g)].map(([, name]) => name as string);
}

/** An issue of the domain, with its place in the request: `input.name` becomes `name` of the body. */
export function issueInRequest(places: Places, issue: Issue): Issue {
  const [, first = '', rest = ''] = /^(?:input(?:\.|$))?([^.[]*)(.*)$/s.exec(issue.name) ?? [];
  const place = places.get(first);
  if (!place) return { ...issue, name: `${first}${rest}` };
  return { ...issue, in: place.in, name: `${place.name}${place.inside?.(rest) ?? rest}` };
}

/** The schema of one part of the request; null if nothing of the input is there. */
export function schemaOfPart(
  input: z.ZodObject,
  places: Places,
  part: Issue['in'],
): z.ZodObject | null {
  const members = [...places].filter(([, place]) => place.in === part);
  if (members.length === 0) return null;
  return nested(
    members.map(([member, { name, form, isOptional }]) => {
      const schema = form ? form.schema : (input.shape[member] as z.ZodType);
      // A path always has its members, whether or not the domain needs them.
      if (part === 'path') return [[name], required(schema)];
      return [name.split('.'), isOptional ? schema.optional() : schema];
    }),
  );
}

function required(schema: z.ZodType): z.ZodType {
  const isWrapped = schema instanceof z.ZodOptional || schema instanceof z.ZodNullable;
  return isWrapped ? required(schema.unwrap() as z.ZodType) : schema;
}

type Leaf = [path: string[], schema: z.ZodType];

/** `metadata.url` and `metadata.headers` are the members of one object. */
function nested(leaves: Leaf[]): z.ZodObject {
  const groups = Map.groupBy(leaves, ([[head]]) => head as string);
  const shape = [...groups].map(([name, inside]) => {
    const [first] = inside as [Leaf];
    if (first[0].length === 1) return [name, first[1]];
    const object = nested(inside.map(([path, schema]) => [path.slice(1), schema]));
    const isOptional = Object.values<z.ZodType>(object.shape).every(isLeftOut);
    const described = object.describe(`An object with ${Object.keys(object.shape).join(', ')}.`);
    return [name, isOptional ? described.optional() : described];
  });
  return z.strictObject(Object.fromEntries(shape));
}

function isLeftOut(schema: z.ZodType): boolean {
  return schema.safeParse(undefined).success;
}
