/** Bodies of the form `{ updateMask: [...], topic: {...} }`: what the mask names is changed, and no more. */
import { z } from 'zod';
import { issueAt } from '../domain/issues.ts';
import type { Issue } from '../errors.ts';
import type { Places } from './places.ts';

const MASK_DESCRIPTION = 'The fields to change, at least one; the others are ignored.';

export interface Mask {
  /** The member of the body that holds the new values. */
  member: string;
  /** What may be named, each with the members of the input that it stands for. */
  fields: Map<string, string[]>;
}

/** A field that lies inside another is changed with it, too: `metadata` names `metadata.url`. */
export function maskOf(member: string, places: Places): Mask {
  const fields = new Map<string, string[]>();
  for (const [name, place] of places) {
    if (place.in !== 'body') continue;
    const parts = place.name.split('.');
    for (let length = 1; length <= parts.length; length += 1) {
      const field = parts.slice(0, length).join('.');
      fields.set(field, [...(fields.get(field) ?? []), name]);
    }
  }
  return { member, fields };
}

/** The places inside the body's member of a masked input. */
export function maskedPlaces({ member }: Mask, places: Places): Places {
  return new Map(
    [...places].map(([name, place]) => [
      name,
      place.in === 'body' ? { ...place, name: `${member}.${place.name}` } : place,
    ]),
  );
}

export function maskedBody({ member, fields }: Mask, values: z.ZodObject): z.ZodObject {
  const names = z.enum([...fields.keys()]);
  return z.object({
    updateMask: z.array(names).min(1, 'must name a field.').describe(MASK_DESCRIPTION),
    [member]: values.partial().describe('The new values.'),
  });
}

/** What of the values the mask names; an issue for each field that it names and the values lack. */
export function applyMask(
  { member, fields }: Mask,
  updateMask: unknown,
  values: Record<string, unknown>,
): { masked: Record<string, unknown>; issues: Issue[] } {
  const issues: Issue[] = [];
  const masked: Record<string, unknown> = {};
  for (const field of Array.isArray(updateMask) ? updateMask : []) {
    const given = (fields.get(String(field)) ?? []).filter((name) => values[name] !== undefined);
    for (const name of given) masked[name] = values[name];
    if (given.length > 0 || !fields.has(String(field))) continue;
    issues.push(issueAt([member, field], 'is named by updateMask, but it is left out.'));
  }
  return { masked, issues };
}
