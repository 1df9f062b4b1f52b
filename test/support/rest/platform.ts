/** Holds answers to the shapes that the platform's own clients are made for: test/rest/platform/. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js';
import addFormats from 'ajv-formats';
import { expect } from 'vitest';
import type { AnswerCheck, Answered } from './openapi.ts';

export interface PlatformOperation {
  id: string;
  /** Main host, or that of reads, writes or searches. */
  host: 'api' | 'read' | 'write' | 'search';
  method: string;
  path: string;
  query?: string[];
  body?: Shape;
  /** By status; null has no body. Problems are left out: every operation may answer one. */
  answers: Record<string, Shape | null>;
}

export interface Shape {
  $ref?: string;
  enum?: string[];
  properties?: Record<string, Shape>;
  allOf?: Shape[];
  anyOf?: Shape[];
}

const folder = join(import.meta.dirname, '..', '..', 'rest', 'platform');
const readJson = (name: string) => JSON.parse(readFileSync(join(folder, name), 'utf8'));

export const PLATFORM_OPERATIONS: PlatformOperation[] = readJson('operations.json');
const { $defs: DEFINITIONS }: { $defs: Record<string, Shape> } = readJson('schemas.json');

/** The gateway's own: who routes one of these is answered with it. */
const OWN_EVENT_TYPES = ['destination.webhook.failing', 'delivery.failed'];
DEFINITIONS.NotificationEventType?.enum?.push(...OWN_EVENT_TYPES);

const ajv = new Ajv2020({ strict: false, allErrors: true });
addFormats.default(ajv);
const VALIDATORS = new Map<string, ValidateFunction>();

/** What in a value is not of the shape; `ignored` are rules that it is not held to. */
export function differencesFrom(shape: Shape, value: unknown, ignored: string[] = []): string[] {
  const key = JSON.stringify(shape);
  const validate = VALIDATORS.get(key) ?? ajv.compile({ ...shape, $defs: DEFINITIONS });
  VALIDATORS.set(key, validate);
  validate(value);
  return (validate.errors ?? [])
    .filter(({ keyword }) => !ignored.includes(keyword))
    .map(({ instancePath, message }) => `${instancePath || 'the answer'} ${message}`);
}

/** The members that a body may have. */
export function membersOf(shape: Shape): string[] {
  const { $ref, properties = {}, allOf = [], anyOf = [] } = shape;
  const inner = $ref ? [DEFINITIONS[$ref.replace('#/$defs/', '')] as Shape] : [];
  const nested = [...inner, ...allOf, ...anyOf].flatMap(membersOf);
  return [...new Set([...Object.keys(properties), ...nested])];
}

/** Fails where the platform knows the operation, and its answer has another shape. */
export const checkPlatformShape: AnswerCheck = (answered) => {
  const { method, path, status, contentType, body } = answered;
  const operation = operationOf(answered);
  if (!operation) return;
  const about = `${method} ${operation.path} ${status}, in the platform's shape`;
  if (contentType?.startsWith('application/problem+json')) {
    return expect(differencesFrom(PROBLEM, body), about).toEqual([]);
  }
  const shape = operation.answers[status];
  expect(shape, `${path} may answer ${status} by the platform's description`).toBeDefined();
  if (!shape) return expect(body, about).toBe('');
  expect(differencesFrom(shape, body), about).toEqual([]);
};

const PROBLEM: Shape = { $ref: '#/$defs/InputValidationProblem' };

const MATCHERS = PLATFORM_OPERATIONS.map((operation) => ({
  operation,
  pattern: new RegExp(`^${operation.path.replaceAll(/\{\w+\}/g, '[^/:]+')}$`),
}));

/** A read and a write have one path on two hosts: the status tells which it is. */
function operationOf({ method, path, status }: Answered): PlatformOperation | undefined {
  const [plain = ''] = path.split('?');
  const fitting = MATCHERS.filter(
    ({ operation, pattern }) => operation.method === method && pattern.test(plain),
  ).map(({ operation }) => operation);
  return fitting.find(({ answers }) => String(status) in answers) ?? fitting[0];
}
