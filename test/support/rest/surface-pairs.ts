/** Sends the same input over REST and over GraphQL, and returns comparable outcomes. */
import {
  type GraphQLEnumType,
  type GraphQLField,
  type GraphQLObjectType,
  type GraphQLOutputType,
  getNamedType,
  isInputObjectType,
  isObjectType,
} from 'graphql';
import { z } from 'zod';
import { timestamp } from '../../../src/domain/base/input-schemas.ts';
import { schema } from '../../../src/graphql/schema/schema.ts';
import type { Problem } from '../../../src/kernel/errors.ts';
import { unwrapSchema } from '../../../src/kernel/unwrap-schema.ts';
import type { Endpoint } from '../../../src/rest/endpoint/endpoint.ts';
import { findEnumName, toWord } from '../../../src/rest/endpoint/words.ts';
import { ENDPOINTS } from '../../../src/rest/endpoints.ts';
import type { RestTenant } from './rest-client.ts';

export type Input = Record<string, unknown>;

/** A change that exists on both surfaces. */
export interface Pair {
  endpoint: Endpoint;
  mutation: GraphQLField<unknown, unknown>;
}

/** The words of the enum that problems name, but no input contains. */
const CAPABILITY_WORDS = (schema.getType('ProviderCapability') as GraphQLEnumType)
  .getValues()
  .map(({ name }) => [name, toWord('ProviderCapability', name)] as const);

const mutations = (schema.getMutationType() as GraphQLObjectType).getFields();

export function findPair(endpointId: string, mutationName = endpointId): Pair {
  const endpoint = ENDPOINTS.find(({ id }) => id === endpointId);
  const mutation = mutations[mutationName];
  if (!endpoint || !mutation) throw new Error(`${endpointId} does not exist on both surfaces.`);
  return { endpoint, mutation };
}

/** The outcome of a call, in a form that both surfaces share. */
export interface Outcome {
  status: number;
  type: string | null;
  /** The detail of an error without issues. With issues, the detail only repeats their paths. */
  detail: string | null;
  /** The first issue at each path. */
  issues: [path: string, detail: string][];
  /** The ID of the created or changed object. */
  id: string | null;
}

const SUCCESS = { status: 200, type: null, detail: null, issues: [] };

export async function sendRest(
  { request }: RestTenant,
  { endpoint, mutation }: Pair,
  input: Input,
): Promise<Outcome> {
  const { path, query, body } = buildRequest(endpoint, flatten(mutation, input));
  const search = new URLSearchParams(query).toString();
  const response = await request(endpoint.method, search ? `${path}?${search}` : path, body);
  const { status, headers } = response;
  if (status >= 400) return toRefusal(response.body, ({ name }) => name);
  const locationId = headers.location?.split('/').at(-1);
  return { ...SUCCESS, id: locationId ?? response.body.id ?? null };
}

export async function sendGraphql(
  { tenant }: RestTenant,
  { endpoint, mutation }: Pair,
  input: Input,
): Promise<Outcome> {
  const { name, args, type } = mutation;
  const query = `mutation RunMutation($input: ${args[0]?.type}) {
    payload: ${name}(input: $input) { ${selectIds(type)} }
  }`;
  const { data, errors } = await tenant.request(query, { input });
  const [error] = errors ?? [];
  if (error) {
    const refusal = toRefusal(error.extensions.problem, ({ name: location }) =>
      toRestPath({ endpoint, mutation }, location),
    );
    const toRestTerms = (text: string) => translateTerms({ endpoint, mutation }, text);
    return {
      ...refusal,
      detail: refusal.detail && toRestTerms(refusal.detail),
      issues: refusal.issues.map(([location, detail]) => [location, toRestTerms(detail)]),
    };
  }
  const ids = Object.values<{ id?: string } | string | null>(data.payload).map((member) =>
    typeof member === 'string' ? null : member?.id,
  );
  return { ...SUCCESS, id: ids.find((id) => id) ?? null };
}

/** Replaces the paths and the enum names of GraphQL in a text with those of REST, outside of quoted values. */
function translateTerms({ endpoint, mutation }: Pair, text: string): string {
  const { input, locations } = endpoint;
  const groups = listOneOfMembers(mutation).map((name) => `${name}\\.`);
  const words = new Map([...CAPABILITY_WORDS, ...listWords(input)]);
  const names = words.size > 0 ? `|\\b(${[...words.keys()].join('|')})\\b` : '';
  const pattern = new RegExp(
    `"(?:[^"\\\\]|\\\\.)*"|\\binput\\.(?:${groups.join('|')})?(\\w+)${names}`,
    'g',
  );
  return text.replace(pattern, (match, member?: string, name?: unknown) => {
    if (member !== undefined) return locations.get(member)?.name ?? member;
    return (typeof name === 'string' && words.get(name)) || match;
  });
}

/** Yields the names of all enums in a schema, with their words. */
function* listWords(type: z.ZodType): Generator<[name: string, word: string]> {
  const { inner } = unwrapSchema(type);
  if (inner instanceof z.ZodEnum) {
    for (const name of inner.options as string[]) yield [name, toWord(findEnumName(inner), name)];
  }
  if (inner instanceof z.ZodArray) yield* listWords(inner.element as z.ZodType);
  if (inner instanceof z.ZodObject) {
    for (const member of Object.values<z.ZodType>(inner.shape)) yield* listWords(member);
  }
}

function toRefusal(
  { status, type, detail, issues }: Problem,
  toPath: (issue: { name: string }) => string,
): Outcome {
  const firstIssues = new Map<string, string>();
  for (const issue of issues ?? []) {
    if (!firstIssues.has(toPath(issue))) firstIssues.set(toPath(issue), issue.detail);
  }
  const sorted = [...firstIssues].sort(([a], [b]) => (a < b ? -1 : 1));
  return { status, type, detail: issues ? null : detail, issues: sorted, id: null };
}

/**
 * Converts a path in the mutation's input, such as `input.url`, to the path in the request, such as
 * `metadata.url`.
 */
function toRestPath({ endpoint: { locations }, mutation }: Pair, name: string): string {
  const groups = listOneOfMembers(mutation).join('|');
  const flatName = groups ? name.replace(new RegExp(`^input\\.(${groups})\\.`), 'input.') : name;
  const [, firstStep = '', rest = ''] = /^input\.?([^.[]*)(.*)$/s.exec(flatName) ?? [];
  // REST names the input itself `body`.
  if (firstStep === '') return 'body';
  return `${locations.get(firstStep)?.name ?? firstStep}${rest}`;
}

/** Returns the names of the members of a mutation's input that are `@oneOf` inputs. */
function listOneOfMembers({ args }: Pair['mutation']): string[] {
  const input = getNamedType(args[0]?.type);
  if (!isInputObjectType(input)) return [];
  return Object.values(input.getFields()).flatMap(({ name, type }) => {
    const namedType = getNamedType(type);
    return isInputObjectType(namedType) && namedType.isOneOf ? [name] : [];
  });
}

/** Converts an input to REST's form, which has the members of `@oneOf` inputs next to the other members. */
function flatten(mutation: Pair['mutation'], input: Input): Input {
  const groups = listOneOfMembers(mutation);
  const otherMembers = Object.entries(input).filter(([name]) => !groups.includes(name));
  const members = groups.flatMap((name) => (isObject(input[name]) ? [input[name]] : []));
  return Object.assign(Object.fromEntries(otherMembers), ...members);
}

/** True if GraphQL accepts the value for a `@oneOf` input: one member, which is not null. */
function isOneOf(value: unknown): boolean {
  if (value == null) return true;
  return isObject(value) && Object.keys(value).length === 1 && Object.values(value)[0] != null;
}

const FORM_ISSUE_CODES = ['invalid_type', 'invalid_value', 'invalid_union', 'unrecognized_keys'];

/**
 * True if every value has the right type and no member is unknown. Such an input can only break other rules.
 */
export function isWellFormed({ endpoint, mutation }: Pair, input: Input): boolean {
  if (!listOneOfMembers(mutation).every((name) => isOneOf(input[name]))) return false;
  const members = flatten(mutation, input);
  const { error } = endpoint.input.safeParse(parseTimes(members));
  if (hasUnknownMembers(endpoint.input, members)) return false;
  return !error?.issues.some(({ code }) => FORM_ISSUE_CODES.includes(code));
}

/**
 * True if REST can express the input. It cannot express a path segment that is no name or ID, or an empty
 * mask. Deeply nested values are excluded too: both surfaces refuse them, but at paths that differ by one
 * level.
 */
export function isExpressible({ endpoint, mutation }: Pair, groupedInput: Input): boolean {
  const { locations, mask } = endpoint;
  const input = flatten(mutation, groupedInput);
  const presentMembers = [...locations].filter(([name]) => input[name] !== undefined);
  const pathMembers = [...locations].filter(([, location]) => location.in === 'path');
  return (
    !/(\{"a":|\[){50}/.test(JSON.stringify(input)) &&
    pathMembers.every(([name]) => /^[\w~-]{1,500}$/.test(String(input[name]))) &&
    (!mask || presentMembers.some(([, location]) => location.in === 'body')) &&
    // Members with their own REST format have their own tests.
    presentMembers.every(([, location]) => !location.form)
  );
}

function parseTimes(value: Input): Input {
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => [
      name,
      /^(since|until)Time$/.test(name) ? (timestamp.safeParse(member).data ?? member) : member,
    ]),
  );
}

interface Request {
  path: string;
  query: Record<string, string>;
  body: Input | undefined;
}

function buildRequest(
  { path, input: schemaOfInput, locations, mask }: Endpoint,
  input: Input,
): Request {
  const request: Request = { path, query: {}, body: undefined };
  const maskedMembers: string[] = [];
  for (const [name, location] of locations) {
    // A query string has no null. Omitting a member is equivalent if it has a default.
    if (location.in === 'query' ? input[name] == null : input[name] === undefined) continue;
    const value = toWireValue(schemaOfInput.shape[name] as z.ZodType, input[name]);
    if (location.in === 'path') {
      request.path = request.path.replace(`{${location.name}}`, encodeURIComponent(String(value)));
    } else if (location.in === 'query') request.query[location.name] = String(value);
    else {
      request.body ??= {};
      setMember(request.body, location.name.split('.'), value);
      maskedMembers.push(location.name.slice((mask?.member.length ?? -1) + 1));
    }
  }
  if (mask && request.body) request.body.updateMask = maskedMembers;
  return request;
}

function setMember(target: Input, [firstStep = '', ...rest]: string[], value: unknown): void {
  if (rest.length === 0) target[firstStep] = value;
  else {
    target[firstStep] ??= {};
    setMember(target[firstStep] as Input, rest, value);
  }
}

/** Replaces the names of enum values by the values that REST uses. */
function toWireValue(schemaOfValue: z.ZodType, value: unknown): unknown {
  const { inner } = unwrapSchema(schemaOfValue);
  if (inner instanceof z.ZodEnum && typeof value === 'string') {
    return toWord(findEnumName(inner), value);
  }
  if (Array.isArray(value) && inner instanceof z.ZodArray) {
    return value.map((item) => toWireValue(inner.element as z.ZodType, item));
  }
  if (!(inner instanceof z.ZodObject) || !isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, member]) => {
      const type = inner.shape[name] as z.ZodType | undefined;
      return [name, type ? toWireValue(type, member) : member];
    }),
  );
}

function hasUnknownMembers(schemaOfValue: z.ZodType, value: unknown): boolean {
  const { inner } = unwrapSchema(schemaOfValue);
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

/** Selects the IDs of the objects in a payload. */
function selectIds(type: GraphQLOutputType): string {
  const payload = getNamedType(type);
  if (!isObjectType(payload)) throw new Error(`${payload.name} is no object type.`);
  return Object.values(payload.getFields())
    .map(({ name, type: member }) => {
      const inner = getNamedType(member);
      if (!isObjectType(inner)) return name;
      return `${name} { ${inner.getFields().id ? 'id' : '__typename'} }`;
    })
    .join(' ');
}
