import { createConfig, lintFromString } from '@redocly/openapi-core';
import { expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';
import { createResponseCheck, type OpenapiDocument } from '../../support/rest/openapi.ts';

const app = await getSharedApp();
const text = (await app.app.rest.inject('/v1/openapi.json')).body;
const document: OpenapiDocument = JSON.parse(text);
const operations = Object.entries(document.paths).flatMap(([path, methods]) =>
  Object.entries(methods).map(([method, operation]) => ({ path, method, ...operation })),
);

test('passes the recommended rules of a public linter', async () => {
  const config = await createConfig({ extends: ['recommended-strict'] });
  const findings = await lintFromString({ source: text, absoluteRef: '/openapi.json', config });
  expect(
    findings.map(({ ruleId, message, location }) => [ruleId, message, location[0]?.pointer]),
  ).toEqual([]);
});

test('describes everything in the OpenAPI document', () => {
  expect([...listUndescribed(document, '')]).toEqual([]);
  expect(operations.length).toBeGreaterThan(20);
});

/** Yields parameters, and members of bodies and components, that have no description. */
function* listUndescribed(value: unknown, pointer: string): Generator<string> {
  if (typeof value !== 'object' || value === null) return;
  const node = value as Record<string, unknown>;
  const isParameter = typeof node.in === 'string' && 'schema' in node;
  if (isParameter && !node.description) yield `${pointer} ${node.name}`;
  for (const [name, member] of Object.entries(node)) {
    if (name === 'properties') yield* listUndescribedMembers(member, pointer);
    yield* listUndescribed(member, `${pointer}/${name}`);
  }
}

function* listUndescribedMembers(members: unknown, pointer: string): Generator<string> {
  for (const [name, member] of Object.entries(members as Record<string, object>)) {
    if (!('description' in member) && !('$ref' in member)) yield `${pointer}.${name}`;
  }
}

test('declares no default outside of its enum', () => {
  const defaults = [...listDefaults(document)];
  expect(defaults.length).toBeGreaterThan(1);
  for (const { values, allowed } of defaults)
    expect(allowed).toEqual(expect.arrayContaining(values));
});

/** Yields each default of an enum, or of a list of them, with the words of the enum. */
function* listDefaults(value: unknown): Generator<{ values: unknown[]; allowed: unknown[] }> {
  if (typeof value !== 'object' || value === null) return;
  const schema = value as { default?: unknown; enum?: unknown[]; items?: { enum?: unknown[] } };
  const allowed = schema.enum ?? schema.items?.enum;
  if (schema.default !== undefined && allowed) yield { values: [schema.default].flat(), allowed };
  for (const member of Object.values(value)) yield* listDefaults(member);
}

test('gives each operation a unique id and a declared tag', () => {
  const ids = operations.map(({ operationId }) => operationId);
  expect(new Set(ids).size).toBe(ids.length);
  const { tags } = document as unknown as { tags: { name: string }[] };
  const declaredTags = tags.map(({ name }) => name);
  const usedTags = operations.flatMap((operation) => (operation as { tags?: string[] }).tags ?? []);
  expect([...new Set(usedTags)].sort()).toEqual(declaredTags.sort());
});

test('rejects a response that the OpenAPI document does not declare', () => {
  const check = createResponseCheck(document);
  const response = {
    method: 'GET',
    path: '/projects/x/topics',
    status: 200,
    contentType: 'application/json; charset=utf-8',
  };
  const topic = { id: 'top_1', projectId: 'prj_1', name: 'x', createTime: '2026-01-31T12:00:00Z' };
  check({ ...response, body: [topic] });
  for (const wrong of [
    { body: [{ ...topic, name: undefined }] },
    { body: [{ ...topic, createTime: 'today' }] },
    { body: [{ ...topic, secret: 'x' }] },
    { body: [topic], status: 201 },
    { body: [topic], contentType: 'text/plain' },
    { body: [topic], path: '/nowhere' },
  ]) {
    expect(() => check({ ...response, ...wrong })).toThrow();
  }
});
