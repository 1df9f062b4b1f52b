/** Endpoints: routing, validation and the OpenAPI document of each come from one definition. */
import type { z } from 'zod';
import type { Call } from '../../domain/call.ts';
import type { Relations } from '../../domain/relations.ts';
import { authorize, type Need, needText } from '../../domain/viewer/needs.ts';
import type { Viewer } from '../../domain/viewer/viewer.ts';
import type { Issue } from '../../errors.ts';
import { responseOf, showResource, toRestTerms } from '../openapi/shown-resource.ts';
import { type Mask, maskedBody, maskedPlaces, maskOf } from './mask.ts';
import { type Method, type Place, type Places, placesOf, schemaOfPart } from './places.ts';

/** The request of an endpoint's function, which also gets the input. */
export interface RestRequest extends Relations {
  call: Call;
  /** Path and query as received. */
  url: string;
  /** Sets a header of the response. */
  setHeader(name: string, value: string): void;
  /** Sets the ETag of the response. True if the client has this version already. */
  hasVersion(version: string): boolean;
  /** Members that were accepted and ignored. The endpoint passes them to `sendWarnings`. */
  warnings: string[];
}

/** The result of an endpoint whose client has the response already. */
export const NOT_MODIFIED = Symbol('304');

export type Part = Issue['in'];

/** The parts of a request from the router. */
export type Parts = Record<Part, unknown>;
type Status = 200 | 201 | 204;

/** The members of every endpoint's declaration. */
export interface EndpointBase {
  /** The operation id, which names the function in generated clients. Unique. */
  id: string;
  /** The path below /v1, like `/projects/{projectIdOrName}/topics`. */
  path: string;
  tag: string;
  /** Replaces the description of the domain function, for an endpoint that differs from it. */
  summary?: string;
  /** Sentences that follow the description of the domain function. */
  description?: string;
  /** Converts a second form of the request, which the reference API accepts, into the form that `input` describes. */
  rewrite?(parts: Parts, request: RestRequest): Parts | Promise<Parts>;
  /** For lists: the page size of a request without one. */
  pageSizeDefault?: number;
}

/** Returns the first sentence of the function's description as the summary, and the rest as the description. */
export function describe(
  declared: { description: string },
  { summary, description }: EndpointBase,
) {
  const [first, ...rest] = toRestTerms(declared.description).split(/(?<=[.:]) (?=[A-Z`])/);
  const sentences = summary === undefined ? [...rest, description] : [description];
  return { summary: summary ?? first ?? '', description: sentences.filter(Boolean).join(' ') };
}

/** The response of an endpoint. */
interface Output<Shown> {
  /** Null for a response without a body. */
  output: z.ZodType<unknown, Shown> | null;
  /** Set if the response is text and not JSON. */
  mediaType?: 'text/plain';
  failure?: Failure<Shown>;
}

/** How a result of the domain is formatted: as its resource, or by the endpoint's own schema and function. */
export type EndpointResponse<R, Shown, A extends unknown[] = []> =
  | { resource: z.ZodObject }
  | (Output<Shown> & { show(result: R, request: RestRequest, ...rest: A): Shown | Promise<Shown> });

type ShowingResponse<R, Shown, A extends unknown[]> = Extract<
  EndpointResponse<R, Shown, A>,
  { show: unknown }
>;

/** Returns the schema of a response and the function that creates it. */
export function respond<R, Shown, A extends unknown[] = []>(
  response: EndpointResponse<R, Shown, A>,
): ShowingResponse<R, Shown, A> {
  if (!('resource' in response)) return response;
  const { resource } = response;
  const show = (...[row, request]: [row: R, request: RestRequest, ...unknown[]]) =>
    showResource(resource, row as object, request) as Shown;
  return { output: responseOf(resource) as z.ZodType<unknown, Shown>, show };
}

/**
 * The response for work that was attempted and failed: `output` with another status, or a problem for clients that
 * accept one.
 */
interface Failure<Shown> {
  status: 422;
  isFailed(shown: Shown): boolean;
  problem: z.ZodType;
  showProblem(shown: Shown): unknown;
}

/** Input members whose location or name in the request differs from the default. */
export type OtherPlaces<I extends z.ZodObject> = { [member in keyof I['shape'] & string]?: Place };

export interface Definition<I extends z.ZodObject, Shown> extends EndpointBase, Output<Shown> {
  summary: string;
  method: Method;
  status: Status;
  /** The need of the domain function. It is checked before the input is validated. */
  needs: Need;
  /** The needs of members, checked if the request contains them: those of the domain functions that they call. */
  memberNeeds?: MemberNeeds<I>;
  /** The domain's own schema, which validates the input. */
  input: I;
  places?: OtherPlaces<I>;
  /** The member of the body with the new values, for endpoints whose updateMask names the fields to change. */
  mask?: string;
  /** True if responses have an ETag, and may be 304. */
  hasEtag?: boolean;
  run(request: RestRequest, input: z.output<I>): Promise<Shown | typeof NOT_MODIFIED>;
}

/** An endpoint with the properties that are derived from its definition. */
export interface Endpoint
  extends Omit<Definition<z.ZodObject, unknown>, 'places' | 'mask' | 'run' | 'failure'> {
  places: Places;
  mask: Mask | null;
  parts: Record<Part, z.ZodObject | null>;
  failure?: Failure<unknown>;
  run(request: RestRequest, input: object): Promise<unknown>;
}

/** Defines an endpoint. Lists, reads and mutations have their own helpers. */
export function endpoint<I extends z.ZodObject, Shown>(definition: Definition<I, Shown>): Endpoint {
  const { memberNeeds } = definition;
  const input = memberNeeds ? withNeeds(definition.input, memberNeeds) : definition.input;
  const unmasked = placesOf(definition);
  const mask = definition.mask === undefined ? null : maskOf(definition.mask, unmasked);
  const part = (name: Part) => schemaOfPart(input, unmasked, name);
  const body = part('body');
  return {
    ...(definition as Omit<Definition<z.ZodObject, unknown>, 'run' | 'failure' | 'memberNeeds'>),
    places: mask ? maskedPlaces(mask, unmasked) : unmasked,
    mask,
    parts: {
      path: part('path'),
      query: part('query'),
      header: part('header'),
      body: mask && body ? maskedBody(mask, body) : body,
    },
    failure: definition.failure as Endpoint['failure'],
    async run(request, input) {
      // Must precede the work: a refused request leaves no new secret or token behind.
      if (memberNeeds) authorizeMembers(request.call.viewer, memberNeeds, input);
      return definition.run(request, input as z.output<I>);
    },
  };
}

/** The needs of single input members, in addition to the need of the endpoint. */

type MemberNeeds<I extends z.ZodObject> = { [member in keyof I['shape'] & string]?: Need };

/** Throws FORBIDDEN if the viewer lacks the need of a member in the input. A member that is false needs nothing. */
function authorizeMembers(viewer: Viewer, needs: MemberNeeds<z.ZodObject>, input: object) {
  const memberValues = new Map(Object.entries(input));
  for (const [member, need] of Object.entries(needs)) {
    if (need && memberValues.get(member)) authorize(viewer, need);
  }
}

/** Returns the input with descriptions that name the needs. */
function withNeeds(input: z.ZodObject, needs: MemberNeeds<z.ZodObject>): z.ZodObject {
  const describedMembers = Object.entries(needs).flatMap(([member, need]) => {
    const schema = input.shape[member] as z.ZodType;
    return need ? [[member, schema.describe(`${schema.description} ${needText(need)}`)]] : [];
  });
  return input.extend(Object.fromEntries(describedMembers));
}

/** Sets the Location header to the created resource, for endpoints whose responses have no body. */
export function setLocation({ url, setHeader }: RestRequest, id: string): void {
  setHeader('location', `${url.split('?')[0]}/${id}`);
}
