/** Calls made up from the OpenAPI document: every endpoint, with values that are right, wrong or hostile. */
import fc, { type Arbitrary } from 'fast-check';
import {
  type FuzzCall,
  HOSTILE,
  type Hostility,
  outOfHundred,
  PLAUSIBLE,
  textsOf,
} from '../fuzz/fuzz.ts';
import {
  DEEP_TEXTS,
  HOSTILE_JSON,
  HOSTILE_TEXTS,
  NUMBERS,
  ODD_QUERIES,
  PRESENT,
  TIMES,
} from '../fuzz/fuzz-values.ts';

export interface RestOperation {
  method: string;
  /** Below /v1. */
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

/** The parts of a request. */
export interface RestParts {
  path: Record<string, unknown>;
  query: Record<string, unknown>;
  header: Record<string, unknown>;
  body: unknown;
  /** Instead of the query and the body. */
  oddQuery: string | null;
  oddBody: string | null;
}

export interface RestCall extends FuzzCall {
  /** The operation's id. */
  query: string;
  variables: RestParts & Record<string, unknown>;
}

/** Each operation as often as the others, but deletions seldom, so that there is something to change. */
export function makeRestCalls(
  operations: readonly RestOperation[],
  { seed, count }: { seed: number; count: number },
): RestCall[] {
  const callsOf = (hostility: Hostility) =>
    fc.oneof(
      ...operations.map((operation) => ({
        arbitrary: callOf(operation, hostility),
        weight: operation.method === 'DELETE' ? 1 : 4,
      })),
    );
  const call = fc.oneof(
    { arbitrary: callsOf(PLAUSIBLE), weight: 2 },
    { arbitrary: callsOf(HOSTILE), weight: 1 },
  );
  return fc.sample(call, { seed, numRuns: count });
}

function callOf(operation: RestOperation, hostility: Hostility): Arbitrary<RestCall> {
  const { operationId, parameters = [], requestBody } = operation;
  const part = (name: 'path' | 'query' | 'header') => {
    const inPart = parameters.filter((parameter) => parameter.in === name);
    const properties = Object.fromEntries(inPart.map((one) => [one.name, one.schema]));
    const required = inPart.filter((one) => one.required).map((one) => one.name);
    return membersOf({ properties, required }, hostility, name === 'path');
  };
  const schema = requestBody?.content['application/json']?.schema;
  const odd = (texts: readonly string[]) =>
    outOfHundred<string | null>(hostility / 2, fc.constantFrom(...texts), fc.constant(null));
  return fc
    .record({
      path: part('path'),
      query: part('query'),
      header: part('header'),
      body: schema ? valuesOf('body', schema, hostility) : fc.constant(undefined),
      oddQuery: odd(ODD_QUERIES),
      oddBody: schema ? odd(DEEP_TEXTS) : fc.constant(null),
    })
    .map((variables) => ({ query: operationId, variables }));
}

const LEFT_OUT = Symbol('left out');

function membersOf(
  { properties = {}, required = [] }: Schema,
  hostility: Hostility,
  isWhole = false,
): Arbitrary<Record<string, unknown>> {
  const model = Object.entries(properties).map(([name, schema]) => {
    const isRequired = required.includes(name);
    const present = isRequired ? 100 - hostility / 4 : (PRESENT[name] ?? 20 + hostility);
    const value = valuesOf(name, schema, hostility);
    const given = outOfHundred(100 - present, fc.constant<unknown>(LEFT_OUT), value);
    return [name, isWhole ? value : given] as const;
  });
  return fc
    .record(Object.fromEntries(model))
    .map((all) =>
      Object.fromEntries(Object.entries(all).filter(([, value]) => value !== LEFT_OUT)),
    );
}

function valuesOf(name: string, schema: Schema, hostility: Hostility): Arbitrary<unknown> {
  const wrong = fc.oneof(
    fc.constantFrom<unknown>(null, ...HOSTILE_TEXTS, ...NUMBERS, ...HOSTILE_JSON),
    fc.jsonValue(),
  );
  return outOfHundred(hostility / 4, wrong, singleOf(name, schema, hostility));
}

function singleOf(name: string, schema: Schema, hostility: Hostility): Arbitrary<unknown> {
  if (schema.anyOf) return fc.oneof(...schema.anyOf.map((one) => valuesOf(name, one, hostility)));
  if (schema.enum) return fc.constantFrom(...schema.enum);
  if (schema.properties) return membersOf(schema, hostility);
  switch (schema.type) {
    case 'object':
      return fc.constantFrom<unknown>({ email: 'a@b.example' }, { id: '1' }, {}, ...HOSTILE_JSON);
    case 'array':
      return fc.array(valuesOf(name, schema.items ?? {}, hostility), { maxLength: 3 });
    case 'integer':
    case 'number':
      return fc.constantFrom(...NUMBERS);
    case 'boolean':
      return fc.boolean();
    case 'null':
      return fc.constant(null);
    case 'string':
      return schema.format === 'date-time' ? fc.constantFrom(...TIMES) : textsOf(name, hostility);
    default:
      return fc.jsonValue();
  }
}

/** The URL below /v1: every segment and every value is written so that it is read as it was meant. */
export function urlOf({ path: template }: RestOperation, { path, query, oddQuery }: RestParts) {
  const filled = template.replace(/\{(\w+)\}/g, (_all, name: string) => encoded(path[name]));
  const pairs = Object.entries(query).flatMap(([name, value]) =>
    [value].flat().map((one) => `${encoded(name)}=${encoded(one)}`),
  );
  const search = oddQuery ?? pairs.join('&');
  return search === '' ? filled : `${filled}?${search}`;
}

function encoded(value: unknown): string {
  const text = typeof value === 'string' ? value : JSON.stringify(value ?? null);
  return encodeURIComponent(text.toWellFormed());
}

/** Header values as HTTP can carry them. */
export function headersOf({ header }: RestParts): Record<string, string> {
  return Object.fromEntries(
    Object.entries(header).map(([name, value]) => [
      name,
      String(value).replace(/[^\x20-\x7e]/g, '?'),
    ]),
  );
}
