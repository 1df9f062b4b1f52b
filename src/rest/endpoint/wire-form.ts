/**
 * Converts members whose form in requests differs from the domain's, as clients of the reference API write them, and
 * maps the locations of the domain's issues back to the request.
 */
import type { z } from 'zod';
import { addIssues, toIssues } from '../../domain/issues.ts';
import type { Issue } from '../../errors.ts';
import type { Place, Places } from './places.ts';

export interface WireForm<W = unknown> {
  /** The form in requests, which the OpenAPI document shows instead of the domain's schema. */
  schema: z.ZodType<W>;
  toDomain(wire: W): unknown;
  /** Maps a location in the domain's form, like `.read[0].schedule`, to the location in the request. */
  placeIn(wire: W, place: string): string;
}

/** Erases the type of the wire form, so that forms of different types fit into one list. */
export function wireForm<W>(form: WireForm<W>): WireForm {
  return form as unknown as WireForm;
}

interface OpenedInput {
  /** The members in the domain's form. Invalid members are omitted and have issues. */
  given: Record<string, unknown>;
  /** The locations, including those inside converted members. */
  places: Places;
  issues: Issue[];
}

export function openWireForms(places: Places, given: Record<string, unknown>): OpenedInput {
  const opened: OpenedInput = { given: { ...given }, places: new Map(places), issues: [] };
  for (const [name, place] of places) {
    const { form } = place;
    const value = given[name];
    if (!form || value === undefined || value === null) continue;
    const { data, error } = form.schema.safeParse(value);
    opened.given[name] = error ? undefined : form.toDomain(data);
    opened.places.set(name, { ...place, inside: (rest) => form.placeIn(data, rest) });
    if (!error) continue;
    const newIssues = toIssues(error, value).map((issue) => prefixIssue(place, issue));
    addIssues(opened.issues, newIssues);
  }
  return opened;
}

function prefixIssue({ name }: Place, issue: Issue): Issue {
  return { ...issue, name: issue.name === '' ? name : `${name}.${issue.name}` };
}
