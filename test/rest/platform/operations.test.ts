/**
 * Compares the reference API's operations one by one: which exist here, and whether they accept and return
 * what its clients know.
 *
 * @module-tag all/walk
 */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';
import {
  listDifferences,
  listMembers,
  REFERENCE_OPERATIONS,
  type ReferenceOperation,
  type Shape,
} from '../../support/rest/reference-api.ts';
import { createSample, type DocumentSchema, resolveReference } from '../../support/rest/samples.ts';

interface Documented {
  parameters?: { name: string; in: string }[];
  requestBody?: { content: Record<string, { schema: DocumentSchema }> };
  responses: Record<string, { content?: Record<string, { schema: DocumentSchema }> }>;
}

interface Document {
  paths: Record<string, Record<string, Documented>>;
  components: { schemas: Record<string, DocumentSchema> };
}

/** Operations that do not exist here, with the reason. */
const OMITTED: Record<string, string> = {};

/** Operations with further members than the reference API's, with the reason. */
const HAS_MORE: Record<string, string> = {
  writeRecords:
    'more: a failed write (422) is a problem with these members if `Accept` names application/problem+json, and a request that is refused before the write (400) gets a problem instead of plain text',
};

/** Clients do not see the names of path parameters: `/topics/{id}` equals `/topics/{topicId}`. */
const normalizePath = (path: string) => path.replaceAll(/\{\w+\}/g, '{}');

const app = await getSharedApp();
const document = app.app.rest.swagger() as unknown as Document;
const { schemas: components } = document.components;

function findDocumented({ method, path, host }: ReferenceOperation): Documented | undefined {
  const matches = Object.entries(document.paths).filter(
    ([template]) =>
      normalizePath(template) === normalizePath(READ_PATHS[`${host} ${path}`] ?? path),
  );
  return matches.map(([, methods]) => methods[method.toLowerCase()]).find((operation) => operation);
}

/** Reads that have a verb here, because writes have their path. */
const READ_PATHS: Record<string, string> = {
  'read /projects/{projectIdOrName}/integrations/{integrationId}/objects/{objectName}':
    '/projects/{projectIdOrName}/integrations/{integrationId}/objects/{objectName}:read',
};

function findDifferences(operation: ReferenceOperation, documented: Documented): string[] {
  return [
    ...findInputDifferences(operation, documented),
    ...findResponseDifferences(operation, documented),
  ];
}

function findInputDifferences(
  { query = [], body }: ReferenceOperation,
  here: Documented,
): string[] {
  const parameters = here.parameters?.map(({ name }) => name) ?? [];
  const schema = here.requestBody?.content['application/json']?.schema ?? {};
  const members = Object.keys(
    resolveReference(schema, { components, isWhole: true }).properties ?? {},
  );
  return [
    ...query.filter((name) => !parameters.includes(name)).map((name) => `no query ${name}`),
    ...(body ? listMembers(body) : [])
      .filter((name) => !members.includes(name))
      .map((name) => `no ${name} in the body`),
  ];
}

function findResponseDifferences({ responses }: ReferenceOperation, here: Documented): string[] {
  return Object.entries(responses).flatMap(([status, shape]) => {
    const response = here.responses[status];
    if (!response) return [`no response ${status}`];
    return shape ? findShapeDifferences(shape, response) : [];
  });
}

function findShapeDifferences(shape: Shape, { content = {} }: Documented['responses'][string]) {
  const [{ schema } = { schema: {} }] = Object.values(content);
  return [true, false].flatMap((isWhole) =>
    listDifferences(shape, createSample(schema, { components, isWhole }), NO_RULES_OF_SAMPLES),
  );
}

/** Samples define types, and no limits of numbers. */
const NO_RULES_OF_SAMPLES = ['minimum'];

function createRow(operation: ReferenceOperation): string[] {
  const documented = findDocumented(operation);
  const differences = documented ? [...new Set(findDifferences(operation, documented))] : [];
  const state = documented
    ? (HAS_MORE[operation.id] ?? (differences.join('; ') || 'yes'))
    : `no${OMITTED[operation.id] ?? ''}`;
  return [operation.host, operation.method, operation.path, state];
}

test("accepts and returns the reference API's members in each operation, or states the reason", async () => {
  const rows = REFERENCE_OPERATIONS.map(createRow);
  const same = rows.filter(([, , , state]) => state === 'yes').length;
  const table = [
    '# REST operations of the reference API',
    '',
    'Each row shows whether the gateway has the operation with the same parameters, bodies and responses.',
    'Written by `npx vitest run test/rest/platform -u`.',
    '',
    `${same} of ${rows.length} have the same shapes.`,
    '',
    '| host | method | path | same shapes |',
    '| --- | --- | --- | --- |',
    ...rows.map(
      ([host, method, path, state]) => `| ${host} | ${method} | \`${path}\` | ${state} |`,
    ),
    '',
  ];
  const file = join(import.meta.dirname, '../../../docs/rest-operations.md');
  await expect(table.join('\n')).toMatchFileSnapshot(file);
});
