/** Implements updates like `{ updateMask: ['name'], topic: { name: 'a' } }`, which change only the named fields. */
import { z } from 'zod';
import { toIssues } from '../../domain/base/issues.ts';
import type { Issue } from '../../kernel/errors.ts';
import { parseBounded } from '../../work/bounded-parse.ts';
import type { Locations } from './request-form.ts';

export interface Mask {
  /** The member of the body that holds the new values. */
  member: string;
  /** The names that a mask may contain, each with the members of the input that it covers. */
  fields: Map<string, string[]>;
}

/** Creates the mask of an endpoint. A name also covers the fields inside it: `metadata` covers `metadata.url`. */
export function createMask(member: string, locations: Locations): Mask {
  const fields = new Map<string, string[]>();
  for (const [name, location] of locations) {
    if (location.in !== 'body') continue;
    const parts = location.name.split('.');
    for (let length = 1; length <= parts.length; length += 1) {
      const field = parts.slice(0, length).join('.');
      fields.set(field, [...(fields.get(field) ?? []), name]);
    }
  }
  return { member, fields };
}

/** Returns the locations with those in the body moved into the member that holds the new values. */
export function locateInMember({ member }: Mask, locations: Locations): Locations {
  return new Map(
    [...locations].map(([name, location]) => [
      name,
      location.in === 'body' ? { ...location, name: `${member}.${location.name}` } : location,
    ]),
  );
}

/** Returns the schema of the body. `values` is the schema of the new values. */
export function createMaskedSchema(mask: Mask, values: z.ZodObject): z.ZodObject {
  return z.strictObject({
    updateMask: createNamesSchema(mask).describe(
      'The names of the fields to change, at least one. Other fields are ignored.',
    ),
    [mask.member]: values
      .partial()
      .loose()
      .describe('The new values of the fields that updateMask names.'),
  });
}

function createNamesSchema({ fields }: Mask) {
  return z
    .array(z.enum([...fields.keys()]))
    .min(1, 'must name at least one field.')
    .max(fields.size);
}

/** Returns the body with only the values that the mask names. Other values are ignored, even if they are invalid. */
export function pickMasked({ member, fields }: Mask, body: unknown): unknown {
  if (typeof body !== 'object' || body === null || Array.isArray(body)) return body;
  const { updateMask, [member]: values } = body as Record<string, unknown>;
  const names = Array.isArray(updateMask) ? updateMask.filter((name) => fields.has(name)) : [];
  return {
    ...body,
    [member]: pickValues(
      values,
      names.map((name: string) => name.split('.')),
    ),
  };
}

/** Lists the issues of a body's mask: unknown names, and names of fields without a value in the input. */
export function listMaskIssues(mask: Mask, body: unknown, members: object): Issue[] {
  const { updateMask } = body as { updateMask?: unknown };
  const { data = [], error } = parseBounded(createNamesSchema(mask), updateMask);
  const invalidNames = error ? toIssues(error, updateMask) : [];
  const missingValues = data.filter(
    (field) => !mask.fields.get(field)?.some((name) => Object.hasOwn(members, name)),
  );
  return [
    ...invalidNames.map((issue) => ({
      ...issue,
      path: ['updateMask', ...issue.path],
      in: 'body' as const,
    })),
    ...missingValues.map(
      (field): Issue => ({
        in: 'body',
        path: [mask.member, field],
        detail: 'is required, because updateMask names it.',
      }),
    ),
  ];
}

/** Returns the `remedy` of a problem, which lists the allowed names. Returns no member if the mask has no issue. */
export function suggestNames(
  issues: readonly Issue[],
  allowed: Iterable<string>,
): Record<string, string> {
  const hasInvalidName = issues.some(({ path: [member] }) => member === 'updateMask');
  return hasInvalidName ? { remedy: `updateMask may name ${[...allowed].join(', ')}.` } : {};
}

/** The names that lead to a value inside an object. */
export type Path = readonly string[];

/** Returns a copy of the object with only the values at these paths. */
export function pickValues(object: unknown, paths: readonly Path[]): unknown {
  return paths.reduce<unknown>((result, path) => {
    const value = getValue(object, path);
    return value === undefined ? result : withValue(result, path, value);
  }, {});
}

/** Returns the value at the path. Undefined if there is none. */
export function getValue(object: unknown, path: Path): unknown {
  return path.reduce(getMember, object);
}

/** Returns a copy of the object with the value at the path. Objects that the path names are created. */
export function withValue(object: unknown, [first, ...rest]: Path, value: unknown): unknown {
  if (first === undefined) return value;
  const members = typeof object === 'object' && object !== null ? object : {};
  return { ...members, [first]: withValue(getMember(members, first), rest, value) };
}

/** Returns an own member. An inherited one, like `constructor`, does not count. */
function getMember(object: unknown, name: string): unknown {
  const isOwn = typeof object === 'object' && object !== null && Object.hasOwn(object, name);
  return isOwn ? (object as Record<string, unknown>)[name] : undefined;
}
