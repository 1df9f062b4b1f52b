/** What a caller needs for single members of an input, beside what the endpoint needs. */
import type { z } from 'zod';
import { authorize, type Need, needText } from '../../domain/viewer/needs.ts';
import type { Viewer } from '../../domain/viewer/viewer.ts';

export type MemberNeeds<I extends z.ZodObject> = { [member in keyof I['shape'] & string]?: Need };

/** Throws FORBIDDEN if the viewer lacks what a given member needs. A member that is false needs nothing. */
export function authorizeMembers(viewer: Viewer, needs: MemberNeeds<z.ZodObject>, input: object) {
  const given = new Map(Object.entries(input));
  for (const [member, need] of Object.entries(needs)) {
    if (need && given.get(member)) authorize(viewer, need);
  }
}

/** The input, with descriptions that tell the needs. */
export function withNeedsTold(input: z.ZodObject, needs: MemberNeeds<z.ZodObject>): z.ZodObject {
  const told = Object.entries(needs).flatMap(([member, need]) => {
    const schema = input.shape[member] as z.ZodType;
    return need ? [[member, schema.describe(`${schema.description} ${needText(need)}`)]] : [];
  });
  return input.extend(Object.fromEntries(told));
}
