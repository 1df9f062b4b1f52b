/** What an endpoint is: one definition, from which routing, validation and the document come. */
import type { z } from 'zod';
import type { Call } from '../../domain/call.ts';
import type { Relations } from '../../domain/relations.ts';
import type { Scope } from '../../domain/viewer/scopes.ts';
import type { Issue } from '../../errors.ts';
import { type Mask, maskedBody, maskedPlaces, maskOf } from './mask.ts';
import { type Method, type Place, type Places, placesOf, schemaOfPart } from './places.ts';

/** What the endpoint's function gets beside its input. */
export interface Asked extends Relations {
  call: Call;
  /** Path and query, as they were asked for. */
  url: string;
  /** A header of the answer. */
  setHeader(name: string, value: string): void;
}

export type Part = Issue['in'];
type Status = 200 | 201 | 204;

interface Definition<I extends z.ZodObject, Given, Shown> {
  /** Unique: the name of the function in generated clients. */
  id: string;
  method: Method;
  /** Below /v1, like `/projects/{projectIdOrName}/topics`. */
  path: string;
  tag: string;
  summary: string;
  description?: string;
  /** What a caller needs: a scope, or a builder's bearer token. */
  needs: Scope | 'bearer';
  /** The domain's own schema. */
  input: I;
  /** Members of the input that are elsewhere, or have another name, than usual. */
  places?: { [member in keyof I['shape'] & string]?: Place };
  /** The member of the body that holds the new values, where an updateMask says which are meant. */
  mask?: string;
  status: Status;
  /** Null for an answer without a body. */
  output: z.ZodType<unknown, Shown> | null;
  /** Of an answer that is a text and not JSON. */
  mediaType?: 'text/plain';
  /** Work that was asked for, done, and has failed: the same body with another status. */
  failure?: { status: 422; isFailed(shown: Shown): boolean };
  run(asked: Asked, input: Given): Promise<Shown>;
}

/** An endpoint with what is derived from its definition; its types are settled. */
export interface Endpoint
  extends Omit<Definition<z.ZodObject, never, unknown>, 'places' | 'mask' | 'run' | 'failure'> {
  places: Places;
  mask: Mask | null;
  parts: Record<Part, z.ZodObject | null>;
  /** Whether the input is checked before the domain function gets it. */
  isCheckedHere: boolean;
  failure?: { status: 422; isFailed(shown: unknown): boolean };
  run(asked: Asked, input: unknown): Promise<unknown>;
}

/** An endpoint whose domain function takes an input that was checked. */
export function endpoint<I extends z.ZodObject, Shown>(
  definition: Definition<I, z.output<I>, Shown>,
): Endpoint {
  return derived(definition, true);
}

/**
 * An endpoint whose domain function checks the input itself, so that its findings come in one answer with
 * those that need the database.
 */
export function uncheckedEndpoint<I extends z.ZodObject, Shown>(
  definition: Definition<I, z.input<I>, Shown>,
): Endpoint {
  return derived(definition, false);
}

function derived<I extends z.ZodObject, Given, Shown>(
  definition: Definition<I, Given, Shown>,
  isCheckedHere: boolean,
): Endpoint {
  const { input } = definition;
  const unmasked = placesOf(definition);
  const mask = definition.mask === undefined ? null : maskOf(definition.mask, unmasked);
  const part = (name: Part) => schemaOfPart(input, unmasked, name);
  const body = part('body');
  return {
    ...(definition as Definition<z.ZodObject, never, unknown>),
    places: mask ? maskedPlaces(mask, unmasked) : unmasked,
    mask,
    parts: {
      path: part('path'),
      query: part('query'),
      header: part('header'),
      body: mask && body ? maskedBody(mask, body) : body,
    },
    isCheckedHere,
    failure: definition.failure as Endpoint['failure'],
    run: definition.run as Endpoint['run'],
  };
}
