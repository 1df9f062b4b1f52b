/** The same input over REST and over GraphQL, and what came of it, in words that both have in common. */
import {
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  isObjectType,
} from 'graphql';
import { z } from 'zod';
import { timestamp } from '../../../src/domain/timestamp.ts';
import { unwrapped } from '../../../src/domain/unwrapped.ts';
import { DomainError, type Problem } from '../../../src/errors.ts';
import { schema } from '../../../src/graphql/schema/schema.ts';
import type { Endpoint } from '../../../src/rest/endpoint/endpoint.ts';
import { errorInRestTerms } from '../../../src/rest/endpoint/rest-terms.ts';
import { wordOf } from '../../../src/rest/endpoint/words.ts';
import { ENDPOINTS } from '../../../src/rest/endpoints.ts';
import { PLACEHOLDER } from '../fuzz/fuzz.ts';
import type { RestTenant } from './rest-client.ts';

export type Input = Record<string, unknown>;

/** One change, as both surfaces have it. */
export interface Pair {
  endpoint: Endpoint;
  mutation: GraphQLField<unknown, unknown>;
}

const mutations = (schema.getMutationType() as GraphQLObjectType).getFields();

export function pairOf(endpointId: string, mutationName = endpointId): Pair {
  const endpoint = ENDPOINTS.find(({ id }) => id === endpointId);
  const mutation = mutations[mutationName];
  if (!endpoint || !mutation) throw new Error(`${endpointId} is not on both surfaces.`);
  return { endpoint, mutation };
}

/** What both surfaces tell of a call. */
export interface Outcome {
  status: number;
  type: string | null;
  /** Of a refusal without issues: theirs repeat the places. */
  detail: string | null;
  /** The first finding at each place. */
  issues: [place: string, detail: string][];
  /** The id of what was made or changed. */
  id: string | null;
}

export async function askRest(
  { ask }: RestTenant,
  { endpoint }: Pair,
  input: Input,
): Promise<Outcome> {
  const { path, query, body } = requestOf(endpoint, input);
  const search = new URLSearchParams(query).toString();
  const response = await ask(endpoint.method, search ? `${path}?${search}` : path, body);
  const { status, headers } = response;
  if (status >= 400) return refused(response.body, ({ name }) => name);
  const place = headers.location?.split('/').at(-1);
  return { ...DONE, id: place ?? response.body.id ?? null };
}

export async function askGraphql(
  { tenant }: RestTenant,
  { endpoint, mutation }: Pair,
  input: Input,
): Promise<Outcome> {
  const { name, args, type } = mutation;
  const query = `mutation ($input: ${args[0]?.type}) {
    made: ${name}(input: $input) { ${selectionOf(type)} }
  }`;
  const { data, errors } = await tenant.request(query, { input });
  const [error] = errors ?? [];
  if (error) {
    const refusal = refused(error.extensions.problem, ({ name: place }) => inRest(endpoint, place));
    const inTerms = (text: string) =>
      (errorInRestTerms(endpoint, new DomainError('CONFLICT', text)) as DomainError).message;
    return {
      ...refusal,
      detail: refusal.detail && inTerms(refusal.detail),
      issues: refusal.issues.map(([place, detail]) => [place, inTerms(detail)]),
    };
  }
  const ids = Object.values<{ id?: string } | string | null>(data.made).map((member) =>
    typeof member === 'string' ? null : member?.id,
  );
  return { ...DONE, id: ids.find((id) => id) ?? null };
}

const DONE = { status: 200, type: null, detail: null, issues: [] };

function refused(
  { status, type, detail, issues }: Problem,
  placeOf: (issue: { name: string }) => string,
): Outcome {
  const first = new Map<string, string>();
  for (const issue of issues ?? []) {
    if (!first.has(placeOf(issue))) first.set(placeOf(issue), issue.detail);
  }
  const sorted = [...first].sort(([a], [b]) => (a < b ? -1 : 1));
  return { status, type, detail: issues ? null : detail, issues: sorted, id: null };
}

/** `input.url` of the mutation is `metadata.url` of the request. */
function inRest({ places }: Endpoint, name: string): string {
  const [, first = '', rest = ''] = /^input\.?([^.[]*)(.*)$/s.exec(name) ?? [];
  return `${places.get(first)?.name ?? first}${rest}`;
}

/** Whether every value has the form that its place asks for: rules alone are left to break. */
export function isWellFormed({ endpoint }: Pair, input: Input): boolean {
  const { error } = endpoint.input.safeParse(withTimes(input));
  if (hasUnknownMembers(endpoint.input, input)) return false;
  return !error?.issues.some(({ code }) => FORMS.includes(code));
}
const FORMS = ['invalid_type', 'invalid_value', 'invalid_union', 'unrecognized_keys'];

/**
 * What REST can't say: a segment of a path that is no name or id, and a mask of nothing. What is nested too
 * deep is told by both, at places that differ by the level that the mutation's input adds.
 */
export function isSayable({ endpoint: { places, mask } }: Pair, input: Input): boolean {
  const given = [...places].filter(([name]) => input[name] !== undefined);
  const inPath = [...places].filter(([, place]) => place.in === 'path');
  return (
    !/(\{"a":|\[){50}/.test(JSON.stringify(input)) &&
    inPath.every(([name]) => /^[\w~-]{1,500}$/.test(String(input[name]))) &&
    (!mask || given.some(([, place]) => place.in === 'body')) &&
    // In a form of its own; its rules are tested where it is read.
    given.every(([, place]) => !place.form)
  );
}

function withTimes(value: Input): Input {
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      name.endsWith('Timestamp') ? (timestamp.safeParse(member).data ?? member) : member,
    ]),
  );
}

interface Request {
  path: string;
  query: Record<string, string>;
  body: Input | undefined;
}

function requestOf({ path, input: schemaOfInput, places, mask }: Endpoint, input: Input): Request {
  const request: Request = { path, query: {}, body: undefined };
  const named: string[] = [];
  for (const [name, place] of places) {
    // A query has no null; leaving out what has a default is the same.
    if (place.in === 'query' ? input[name] == null : input[name] === undefined) continue;
    const value = inWords(schemaOfInput.shape[name] as z.ZodType, input[name]);
    if (place.in === 'path') {
      request.path = request.path.replace(`{${place.name}}`, encodeURIComponent(String(value)));
    } else if (place.in === 'query') request.query[place.name] = String(value);
    else {
      request.body ??= {};
      put(request.body, place.name.split('.'), value);
      named.push(place.name.slice((mask?.member.length ?? -1) + 1));
    }
  }
  if (mask && request.body) request.body.updateMask = named;
  return request;
}

function put(target: Input, [first = '', ...rest]: string[], value: unknown): void {
  if (rest.length === 0) target[first] = value;
  else {
    target[first] ??= {};
    put(target[first] as Input, rest, value);
  }
}

/** Names of enums as REST writes them. */
function inWords(schemaOfValue: z.ZodType, value: unknown): unknown {
  const { inner } = unwrapped(schemaOfValue);
  if (inner instanceof z.ZodEnum && typeof value === 'string') {
    return wordOf(inner.meta()?.id, value);
  }
  if (Array.isArray(value) && inner instanceof z.ZodArray) {
    return value.map((item) => inWords(inner.element as z.ZodType, item));
  }
  if (!(inner instanceof z.ZodObject) || !isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const type = inner.shape[name] as z.ZodType | undefined;
      return [name, type ? inWords(type, member) : member];
    }),
  );
}

function hasUnknownMembers(schemaOfValue: z.ZodType, value: unknown): boolean {
  const { inner } = unwrapped(schemaOfValue);
  if (Array.isArray(value) && inner instanceof z.ZodArray) {
    return value.some((item) => hasUnknownMembers(inner.element as z.ZodType, item));
  }
  if (!(inner instanceof z.ZodObject) || !isObject(value)) return false;
  return Object.entries(value).some(([name, member]) => {
    const type = inner.shape[name] as z.ZodType | undefined;
    return !type || hasUnknownMembers(type, member);
  });
}

function isObject(value: unknown): value is Input {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** The ids of what a payload holds. */
function selectionOf(type: GraphQLOutputType): string {
  const payload = getNamedType(type);
  if (!isObjectType(payload)) throw new Error(`${payload.name} is no payload.`);
  return Object.values(payload.getFields())
    .map(({ name, type: member }) => {
      const inner = getNamedType(member);
      if (!isObjectType(inner)) return name;
      return `${name} { ${inner.getFields().id ? 'id' : '__typename'} }`;
    })
    .join(' ');
}

/** Ids of the same thing on both sides, by prefix, the newest first. */
export class TwinIds {
  readonly #known = new Map<string, [string, string][]>();

  learn(ids: [string, string]): void {
    const prefix = ids[0].slice(0, 3);
    this.#known.set(prefix, [ids, ...(this.#known.get(prefix) ?? [])]);
  }

  /** The input of one side, with what its placeholders stand for. */
  fill(input: Input, side: 0 | 1): Input {
    const text = JSON.stringify(input).replaceAll(PLACEHOLDER, (_all, kinds, index) => {
      const known = String(kinds)
        .split('|')
        .flatMap((kind) => this.#known.get(kind) ?? []);
      return JSON.stringify(known[Number(index) % known.length]?.[side] ?? 'unknown');
    });
    return JSON.parse(text) as Input;
  }
}
