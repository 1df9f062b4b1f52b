/**
 * Members of an input that have another form in requests than in the domain, because the platform's clients
 * write them so: how they are read, and where in the request the domain's findings about them lie.
 */
import type { z } from 'zod';
import { addIssues, issuesOf } from '../../domain/issues.ts';
import type { Issue } from '../../errors.ts';
import type { Place, Places } from './places.ts';

export interface WireForm<W = unknown> {
  /** The form in requests; it stands for the domain's schema in the document. */
  schema: z.ZodType<W>;
  toDomain(wire: W): unknown;
  /** The place in the request of a place in the domain's form, like `.read[0].schedule`. */
  placeIn(wire: W, place: string): string;
}

/** For a W of its own, among forms of every W. */
export function wireForm<W>(form: WireForm<W>): WireForm {
  return form as unknown as WireForm;
}

interface Opened {
  /** The members in the domain's form; those that were not understood are left out, with issues. */
  given: Record<string, unknown>;
  /** With the places inside those members. */
  places: Places;
  issues: Issue[];
}

export function openWireForms(places: Places, given: Record<string, unknown>): Opened {
  const opened: Opened = { given: { ...given }, places: new Map(places), issues: [] };
  for (const [name, place] of places) {
    const { form } = place;
    const value = given[name];
    if (!form || value === undefined || value === null) continue;
    const { data, error } = form.schema.safeParse(value);
    opened.given[name] = error ? undefined : form.toDomain(data);
    opened.places.set(name, { ...place, inside: (rest) => form.placeIn(data, rest) });
    if (!error) continue;
    const found = issuesOf(error, value).map((issue) => within(place, issue));
    addIssues(opened.issues, found);
  }
  return opened;
}

function within({ name }: Place, issue: Issue): Issue {
  return { ...issue, name: issue.name === '' ? name : `${name}.${issue.name}` };
}
