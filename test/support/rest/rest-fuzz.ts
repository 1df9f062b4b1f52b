/**
 * Generates random requests from the OpenAPI document: every endpoint, with right, wrong and hostile values.
 */
import fc, { type Arbitrary } from 'fast-check';
import {
  arbitraryObject,
  arbitraryText,
  chooseRarely,
  type FuzzCall,
  HOSTILE,
  type Hostility,
  PLAUSIBLE,
} from '../fuzz/fuzz.ts';
import {
  HOSTILE_JSON,
  HOSTILE_TEXTS,
  MALFORMED_BODIES,
  MALFORMED_QUERIES,
  NUMBERS,
  PRESENCE_PERCENT,
  TIMES,
} from '../fuzz/fuzz-values.ts';

export interface RestOperation {
  method: string;
  /** The path below /v1. */
  path: string;
  operationId: string;
  parameters?: {
    name: string;
    in: 'path' | 'query' | 'header';
    required?: boolean;
    schema: Schema;
  }[];
  requestBody?: { content: Record<string, { schema: Schema }> };
}

interface Schema {
  type?: string | string[];
  enum?: unknown[];
  const?: unknown;
  format?: string;
  anyOf?: Schema[];
  items?: Schema;
  properties?: Record<string, Schema>;
  required?: string[];
}

/** The values of a request by their location. */
export interface RestParts {
  path: Record<string, unknown>;
  query: Record<string, unknown>;
  header: Record<string, unknown>;
  body: unknown;
  /** Malformed texts that replace the query string and the body. Null keeps the generated values. */
  malformedQuery: string | null;
  malformedBody: string | null;
}

export interface RestCall extends FuzzCall {
  /** The ID of the operation. */
  query: string;
  variables: RestParts & Record<string, unknown>;
}

/**
 * Returns requests of all operations with equal frequency. Deletions are rarer, so that rows remain that
 * other requests can change.
 */
export function generateRestCalls(
  operations: readonly RestOperation[],
  { seed, count }: { seed: number; count: number },
): RestCall[] {
  const arbitraryCallOfAnyOperation = (hostility: Hostility) =>
    fc.oneof(
      ...operations.map((operation) => ({
        arbitrary: arbitraryCall(operation, hostility),
        weight: operation.method === 'DELETE' ? 1 : 4,
      })),
    );
  const call = fc.oneof(
    { arbitrary: arbitraryCallOfAnyOperation(PLAUSIBLE), weight: 2 },
    { arbitrary: arbitraryCallOfAnyOperation(HOSTILE), weight: 1 },
  );
  return fc.sample(call, { seed, numRuns: count });
}

function arbitraryCall(operation: RestOperation, hostility: Hostility): Arbitrary<RestCall> {
  const { operationId, parameters = [], requestBody } = operation;
  const arbitraryParameters = (name: 'path' | 'query' | 'header') => {
    const declaredParameters = parameters.filter((parameter) => parameter.in === name);
    const properties = Object.fromEntries(
      declaredParameters.map((parameter) => [parameter.name, parameter.schema]),
    );
    const required = declaredParameters
      .filter((parameter) => parameter.required)
      .map((parameter) => parameter.name);
    return arbitraryMembers({ properties, required }, hostility, name === 'path');
  };
  const schema = requestBody?.content['application/json']?.schema;
  const arbitraryMalformedText = (texts: readonly string[]) =>
    chooseRarely<string | null>(hostility / 2, fc.constantFrom(...texts), fc.constant(null));
  return fc
    .record({
      path: arbitraryParameters('path'),
      query: arbitraryParameters('query'),
      header: arbitraryParameters('header'),
      body: schema ? arbitraryValue('body', schema, hostility) : fc.constant(undefined),
      malformedQuery: arbitraryMalformedText(MALFORMED_QUERIES),
      malformedBody: schema ? arbitraryMalformedText(MALFORMED_BODIES) : fc.constant(null),
    })
    .map((variables) => ({ query: operationId, variables }));
}

function arbitraryMembers(
  { properties = {}, required = [] }: Schema,
  hostility: Hostility,
  hasAllMembers = false,
): Arbitrary<Record<string, unknown>> {
  return arbitraryObject(
    Object.entries(properties).map(([name, schema]) => {
      const value = arbitraryValue(name, schema, hostility);
      if (hasAllMembers) return [name, { presence: 100, value }];
      const presence = required.includes(name)
        ? 100 - hostility / 4
        : (PRESENCE_PERCENT[name] ?? 20 + hostility);
      return [name, { presence, value }];
    }),
  );
}

function arbitraryValue(name: string, schema: Schema, hostility: Hostility): Arbitrary<unknown> {
  const invalid = fc.oneof(
    fc.constantFrom<unknown>(null, ...HOSTILE_TEXTS, ...NUMBERS, ...HOSTILE_JSON),
    fc.jsonValue(),
  );
  return chooseRarely(hostility / 4, invalid, arbitrarySingleValue(name, schema, hostility));
}

function arbitrarySingleValue(
  name: string,
  schema: Schema,
  hostility: Hostility,
): Arbitrary<unknown> {
  if (schema.anyOf)
    return fc.oneof(
      ...schema.anyOf.map((schemaOption) => arbitraryValue(name, schemaOption, hostility)),
    );
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.properties) return arbitraryMembers(schema, hostility);
  switch (schema.type) {
    case 'object':
      return fc.constantFrom<unknown>({ email: 'a@b.example' }, { id: '1' }, {}, ...HOSTILE_JSON);
    case 'array':
      return fc.array(arbitraryValue(name, schema.items ?? {}, hostility), { maxLength: 3 });
    case 'integer':
    case 'number':
      return fc.constantFrom(...NUMBERS);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'string':
      return schema.format === 'date-time'
        ? fc.constantFrom(...TIMES)
        : arbitraryText(name, hostility);
    default:
      return fc.jsonValue();
  }
}

/** Returns the URL below /v1, with every segment and value encoded. */
export function buildUrl(
  { path: template }: RestOperation,
  { path, query, malformedQuery }: RestParts,
) {
  const filled = template.replace(/\{(\w+)\}/g, (_all, name: string) => encode(path[name]));
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((item) => `${encode(name)}=${encode(item)}`),
  );
  const search = malformedQuery ?? pairs.join('&');
  return search === '' ? filled : `${filled}?${search}`;
}

function encode(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  return encodeURIComponent(text.toWellFormed());
}

/** Returns the headers, with characters replaced that HTTP does not allow. */
export function buildHeaders({ header }: RestParts): Record<string, string> {
  return Object.fromEntries(
    Object.entries(header).map(([name, value]) => [
      name,
      String(value).replace(/[^\x20-\x7e]/g, '?'),
    ]),
  );
}
