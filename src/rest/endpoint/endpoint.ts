/** Defines endpoints. One definition yields the route, the validation and the OpenAPI operation of an endpoint. */
import type { z } from 'zod';
import type { Call } from '../../domain/access/call.ts';
import type { Relations } from '../../domain/access/relations.ts';
import { authorize, describeNeed, type Need } from '../../domain/access/viewer/needs.ts';
import type { Viewer } from '../../domain/access/viewer/viewer.ts';
import type { DomainError } from '../../kernel/errors.ts';
import type { MemberLocation } from '../../kernel/text.ts';
import { createResponseForm } from '../openapi/response-form.ts';
import { createMask, createMaskedSchema, locateInMember, type Mask } from './mask.ts';
import {
  createPartSchema,
  type Location,
  type Locations,
  locateMembers,
  type Method,
} from './request-form.ts';

/** The context of a request, which an endpoint's function receives with the input. */
export interface RestRequest extends Relations {
  call: Call;
  /** Path and query as received. */
  url: string;
  /** Sets a header of the response. */
  setHeader(name: string, value: string): void;
  /** The header `If-None-Match`. */
  knownVersions: string | undefined;
  /** Warnings that `rewrite` has added, for the header `Warning` of the response. */
  warnings: string[];
  /** Set by `rewrite` if a text has the input. Returns the error with the locations that its values have in the text. */
  locateError?: (error: DomainError) => Promise<DomainError>;
}

/** Returned in place of a result that the client already has. */
export const NOT_MODIFIED = Symbol('304');

export type Part = MemberLocation['in'];

/** The parts of a request, as the router parsed them. */
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
  /** Converts an alternative form of the request, which the reference API also accepts, to the form of `input`. */
  rewrite?(parts: Parts, request: RestRequest): Parts | Promise<Parts>;
  /** The page size of a list if the request names none. */
  pageSizeDefault?: number;
}

/**
 * Returns the first sentence of the function's description as the summary, and the other sentences as the description.
 */
export function describeEndpoint(
  declaration: { description: string },
  { summary, description }: Pick<EndpointBase, 'summary' | 'description'>,
) {
  const [first = '', ...rest] = declaration.description.split(/(?<=[.:]) (?=[A-Z`])/);
  const sentences = summary === undefined ? [...rest, description] : [description];
  return { summary: summary ?? first, description: sentences.filter(Boolean).join(' ') };
}

/** The response of an endpoint. */
export interface EndpointResponse {
  /** The form of the response. Null for a response without a body. */
  resource: z.ZodType | null;
  /** Set if the response is text and not JSON. */
  mediaType?: 'text/plain';
  failure?: Failure;
}

/**
 * The response to failed work, with the status 422: the value of `resource`, or a problem document if the client accepts
 * those.
 */
interface Failure {
  isFailed(shown: unknown): boolean;
  /** The schema of the problem document. */
  problem: z.ZodType;
  showProblem(shown: unknown): unknown;
}

/** The locations of input members that differ from the defaults. */
export type DeclaredLocations<I extends z.ZodObject> = {
  [member in keyof I['shape'] & string]?: Location;
};

export interface EndpointDefinition<I extends z.ZodObject> extends EndpointBase, EndpointResponse {
  summary: string;
  method: Method;
  status: Status;
  /** The need of every caller. It is checked before the input is validated. */
  needs: Need;
  /** The number of requests to a provider that a request counts as, in addition to itself. */
  providerCalls?: number;
  /** Further needs of a caller whose request sets these members of the input. */
  memberNeeds?: MemberNeeds<I>;
  /** The domain's own schema, which validates the input. */
  input: I;
  locations?: DeclaredLocations<I>;
  /** The member of the body that holds the new values, if `updateMask` names the fields to change. */
  mask?: string;
  /** True if responses have an ETag and can have the status 304. */
  hasEtag?: boolean;
  /** Returns the value of `resource`, like a row, or NOT_MODIFIED. */
  run(request: RestRequest, input: z.output<I>): Promise<unknown>;
}

/** An endpoint, with properties that are derived from its definition. */
export interface Endpoint
  extends Omit<EndpointDefinition<z.ZodObject>, 'locations' | 'mask' | 'run'> {
  locations: Locations;
  mask: Mask | null;
  /** The schema of the response. Null for a response without a body. */
  output: z.ZodType | null;
  partSchemas: Record<Part, z.ZodObject | null>;
  run(request: RestRequest, input: object): Promise<unknown>;
}

/** Defines an endpoint. Prefer the functions for lists, reads and mutations, which call this one. */
export function endpoint<I extends z.ZodObject>(definition: EndpointDefinition<I>): Endpoint {
  const { memberNeeds, resource } = definition;
  const input = memberNeeds ? describeNeeds(definition.input, memberNeeds) : definition.input;
  const unmaskedLocations = locateMembers(definition);
  const mask =
    definition.mask === undefined ? null : createMask(definition.mask, unmaskedLocations);
  const createPart = (name: Part) => createPartSchema(input, unmaskedLocations, name);
  const body = createPart('body');
  const form = resource && createResponseForm(resource);
  return {
    ...(definition as Omit<EndpointDefinition<z.ZodObject>, 'run'>),
    output: form ? form.schema : null,
    locations: mask ? locateInMember(mask, unmaskedLocations) : unmaskedLocations,
    mask,
    partSchemas: {
      path: createPart('path'),
      query: createPart('query'),
      header: createPart('header'),
      body: mask && body ? createMaskedSchema(mask, body) : body,
    },
    async run(request, input) {
      // Must precede the work: a refused request leaves no new secret or token behind.
      if (memberNeeds) authorizeMembers(request.call.viewer, memberNeeds, input);
      const result = await definition.run(request, input as z.output<I>);
      return result === NOT_MODIFIED ? result : form?.show(result, request.call);
    },
  };
}

type MemberNeeds<I extends z.ZodObject> = { [member in keyof I['shape'] & string]?: Need };

/** Throws FORBIDDEN if the viewer lacks what a member of the input needs. Absent and false members need nothing. */
function authorizeMembers(viewer: Viewer, needs: MemberNeeds<z.ZodObject>, input: object) {
  const memberValues = new Map(Object.entries(input));
  for (const [member, need] of Object.entries(needs)) {
    if (need && memberValues.get(member)) authorize(viewer, need);
  }
}

/** Adds the needs to the descriptions of their members. */
function describeNeeds(input: z.ZodObject, needs: MemberNeeds<z.ZodObject>): z.ZodObject {
  const describedMembers = Object.entries(needs).flatMap(([member, need]) => {
    const schema = input.shape[member] as z.ZodType;
    return need ? [[member, schema.describe(`${schema.description} ${describeNeed(need)}`)]] : [];
  });
  return input.extend(Object.fromEntries(describedMembers));
}

/** Sets the Location header to the URL of the created object. Use it for responses without a body. */
export function setLocation({ url, setHeader }: RestRequest, id: string): void {
  setHeader('location', `${url.split('?')[0]}/${id}`);
}
