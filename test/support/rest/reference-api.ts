/**
 * Validates responses against the schemas of the reference API in test/rest/platform/, for which its clients
 * are written.
 */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'vitest';
import type { ResponseCheck, RestExchange } from './openapi.ts';

export interface ReferenceOperation {
  id: string;
  /** The main host, or the host of reads, writes or searches. */
  host: 'api' | 'read' | 'write' | 'search';
  method: string;
  path: string;
  query?: string[];
  body?: Shape;
  /** Schemas by status. Null has no body. Problems are not listed, because every operation may return one. */
  responses: Record<string, Shape | null>;
}

export interface Shape {
  $ref?: string;
  type?: string;
  enum?: string[];
  minItems?: number;
  properties?: Record<string, Shape>;
  allOf?: Shape[];
  anyOf?: Shape[];
}

const folder = join(import.meta.dirname, '..', '..', 'rest', 'platform');
const readJson = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'));

export const REFERENCE_OPERATIONS: ReferenceOperation[] = readJson('operations.json');
const { $defs: DEFINITIONS }: { $defs: Record<string, Shape> } = readJson('schemas.json');

/** Event types that only the gateway has. Routes of these types return them. */
export const OWN_EVENT_TYPES = [
  'destination.webhook.failing',
  'delivery.failed',
  'proposal.created',
  'proposal.approved',
  'proposal.rejected',
  'proposal.committed',
  'proposal.expired',
  'proposal.stale',
  'setup.failed',
];
DEFINITIONS.NotificationEventType?.enum?.push(...OWN_EVENT_TYPES);

/** Results of writes that have the member `omittedFields` if names were omitted. Only the gateway has it. */
for (const name of [
  'WriteResponseSingleSuccess',
  'WriteResponseSingleFail',
  'WriteResponseBatch',
]) {
  const { properties } = DEFINITIONS[name] as Shape;
  if (properties) properties.omittedFields = { type: 'array', minItems: 1 };
}

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
const VALIDATORS = new Map<string, ValidateFunction>();

/** Returns the differences between a value and the schema. `ignored` lists keywords that are not checked. */
export function listDifferences(shape: Shape, value: unknown, ignored: string[] = []): string[] {
  const key = JSON.stringify(shape);
  const validate = VALIDATORS.get(key) ?? ajv.compile({ ...shape, $defs: DEFINITIONS });
  VALIDATORS.set(key, validate);
  validate(value);
  return (validate.errors ?? [])
    .filter(({ keyword }) => !ignored.includes(keyword))
    .map(({ instancePath, message }) => `${instancePath || 'the response'} ${message}`);
}

/** Returns the members that a body may have. */
export function listMembers(shape: Shape): string[] {
  const { $ref, properties = {}, allOf = [], anyOf = [] } = shape;
  const inner = $ref ? [DEFINITIONS[$ref.replace('#/$defs/', '')] as Shape] : [];
  const nested = [...inner, ...allOf, ...anyOf].flatMap(listMembers);
  return [...new Set([...Object.keys(properties), ...nested])];
}

const PROBLEM: Shape = { $ref: '#/$defs/InputValidationProblem' };

const MATCHERS = REFERENCE_OPERATIONS.map((operation) => ({
  operation,
  pattern: new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, '[^/:]+')}$`),
}));

/** Fails if the reference API has the operation and its response has another shape. */
export const checkReferenceShape: ResponseCheck = (exchange) => {
  const { method, path, status, contentType, body } = exchange;
  const operation = findOperation(exchange);
  if (!operation) return;
  const description = `${method} ${operation.path} ${status}, in the shape of the reference API`;
  if (contentType?.startsWith('application/problem+json')) {
    return expect(listDifferences(PROBLEM, body), description).toEqual([]);
  }
  const shape = operation.responses[status];
  expect(shape, `${path} may respond with ${status} in the reference API`).toBeDefined();
  if (!shape) return expect(body, description).toBe('');
  expect(listDifferences(shape, body), description).toEqual([]);
};

/** Reads and writes have the same path on different hosts. The status distinguishes them. */
function findOperation({ method, path, status }: RestExchange): ReferenceOperation | undefined {
  const [pathname = ''] = path.split('?');
  const matchingOperations = MATCHERS.filter(
    ({ operation, pattern }) => operation.method === method && pattern.test(pathname),
  ).map(({ operation }) => operation);
  return (
    matchingOperations.find(({ responses }) => String(status) in responses) ?? matchingOperations[0]
  );
}
