/** Updates of the form `{ updateMask: [...], topic: {...} }`, which change only the fields that the mask names. */
import { z } from 'zod';
import { addIssues, issueAt, toIssues } from '../../domain/issues.ts';
import type { Issue } from '../../errors.ts';
import type { Places } from './places.ts';

const MASK_DESCRIPTION =
  'The names of the fields to change, at least one. Other fields are ignored.';

export interface Mask {
  /** The member of the body with the new values. */
  member: string;
  /** The names that a mask may contain, each with the members of the input that it stands for. */
  fields: Map<string, string[]>;
}

/** A name also covers the fields inside it: `metadata` covers `metadata.url`. */
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

/** The locations of a masked input's members inside the body's member. */
export function maskedPlaces({ member }: Mask, places: Places): Places {
  return new Map(
    [...places].map(([name, place]) => [
      name,
      place.in === 'body' ? { ...place, name: `${member}.${place.name}` } : place,
    ]),
  );
}

export function maskedBody({ member, fields }: Mask, values: z.ZodObject): z.ZodObject {
  return z.strictObject({
    updateMask: updateMaskOf(fields).describe(MASK_DESCRIPTION),
    [member]: values
      .partial()
      .loose()
      .describe('The new values of the fields that updateMask names.'),
  });
}

interface MaskedInput {
  body: unknown;
  /** The members of the input that the request contains. */
  given: Record<string, unknown>;
  places: Places;
}

/** Returns the members that the mask names. Each must have a value. */
export function applyMask(
  { member, fields }: Mask,
  { body, given, places }: MaskedInput,
  issues: Issue[],
): Record<string, unknown> {
  const { updateMask } = body as { updateMask?: unknown };
  const { data = [], error } = updateMaskOf(fields).safeParse(updateMask);
  addIssues(issues, (error ? toIssues(error, updateMask) : []).map(inUpdateMask));
  const maskedMembers = new Set(data.flatMap((field) => fields.get(field) ?? []));
  for (const field of data) {
    if (fields.get(field)?.some((name) => Object.hasOwn(given, name))) continue;
    issues.push(issueAt([member, field], 'is required, because updateMask names it.'));
  }
  return Object.fromEntries(
    Object.entries(given).filter(
      ([name]) => places.get(name)?.in !== 'body' || maskedMembers.has(name),
    ),
  );
}

function updateMaskOf(fields: Mask['fields']) {
  return z
    .array(z.enum([...fields.keys()]))
    .min(1, 'must name at least one field.')
    .max(fields.size);
}

/** The member of the problem that lists the allowed names, if a name is not allowed. */
export function maskRemedy(issues: readonly Issue[], allowed: Iterable<string>): object {
  const isUnknown = issues.some(({ name }) => name.startsWith('updateMask'));
  return isUnknown ? { remedy: `updateMask may name ${[...allowed].join(', ')}.` } : {};
}

function inUpdateMask(issue: Issue): Issue {
  return { ...issue, name: `updateMask${issue.name}` };
}
