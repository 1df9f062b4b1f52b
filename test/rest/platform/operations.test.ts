/**
 * Compares each operation of the reference API with the gateway's: whether the gateway has it, and whether
 * it accepts the same parameters and bodies and returns the same members.
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

interface DocumentedOperation {
  parameters?: { name: string; in: string }[];
  requestBody?: { content: Record<string, { schema: DocumentSchema }> };
  responses: Record<string, { content?: Record<string, { schema: DocumentSchema }> }>;
}

interface RestDocument {
  paths: Record<string, Record<string, DocumentedOperation>>;
  components: { schemas: Record<string, DocumentSchema> };
}

/** Operations that the gateway does not have, with the reason. */
const OMITTED_MEMBERS: Record<string, string> = {};

/** Operations that return more members than the reference API's, with the reason. */
const HAS_MORE: Record<string, string> = {
  writeRecords:
    'more: a failed write (422) is a problem with these members if `Accept` names application/problem+json, and a request that is refused before the write (400) gets a problem instead of plain text; names of a record that are not written are in `omittedFields`, which is absent if there are none, and in a `Warning` header',
};

/** Removes the names of path parameters, which clients do not see: `/topics/{id}` equals `/topics/{topicId}`. */
const normalizePath = (path: string) => path.replaceAll(/\{\w+\}/g, '{}');

const app = await getSharedApp();
const document = app.app.rest.swagger() as unknown as RestDocument;
const { schemas: components } = document.components;

function findDocumented({
  method,
  path,
  host,
}: ReferenceOperation): DocumentedOperation | undefined {
  const matches = Object.entries(document.paths).filter(
    ([template]) =>
      normalizePath(template) === normalizePath(READ_PATHS[`${host} ${path}`] ?? path),
  );
  return matches.map(([, methods]) => methods[method.toLowerCase()]).find((operation) => operation);
}

/** Paths of reads that end in a verb at the gateway, because writes have the path without it. */
const READ_PATHS: Record<string, string> = {
  'read /projects/{projectIdOrName}/integrations/{integrationId}/objects/{objectName}':
    '/projects/{projectIdOrName}/integrations/{integrationId}/objects/{objectName}:read',
};

function findDifferences(operation: ReferenceOperation, documented: DocumentedOperation): string[] {
  return [
    ...findInputDifferences(operation, documented),
    ...findResponseDifferences(operation, documented),
  ];
}

function findInputDifferences(
  { query = [], body }: ReferenceOperation,
  documented: DocumentedOperation,
): string[] {
  const parameters = documented.parameters?.map(({ name }) => name) ?? [];
  const schema = documented.requestBody?.content['application/json']?.schema ?? {};
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

function findResponseDifferences(
  { responses }: ReferenceOperation,
  documented: DocumentedOperation,
): string[] {
  return Object.entries(responses).flatMap(([status, shape]) => {
    const response = documented.responses[status];
    if (!response) return [`no response ${status}`];
    return shape ? findShapeDifferences(shape, response) : [];
  });
}

function findShapeDifferences(
  shape: Shape,
  { content = {} }: DocumentedOperation['responses'][string],
) {
  const [{ schema } = { schema: {} }] = Object.values(content);
  return [true, false].flatMap((isWhole) =>
    listDifferences(shape, createSample(schema, { components, isWhole }), RULES_WITHOUT_SAMPLES),
  );
}

/** The rules that samples can't show: a sample has types, but no limits of numbers. */
const RULES_WITHOUT_SAMPLES = ['minimum'];

function createRow(operation: ReferenceOperation): string[] {
  const documented = findDocumented(operation);
  const differences = documented ? [...new Set(findDifferences(operation, documented))] : [];
  const support = documented
    ? (HAS_MORE[operation.id] ?? (differences.join('; ') || 'yes'))
    : `no${OMITTED_MEMBERS[operation.id] ?? ''}`;
  return [operation.host, operation.method, operation.path, support];
}

test("accepts and returns the reference API's members in each operation, or states the reason", async () => {
  const rows = REFERENCE_OPERATIONS.map(createRow);
  const sameCount = rows.filter(([, , , support]) => support === 'yes').length;
  const lines = [
    '# REST operations of the reference API',
    '',
    'The table lists the operations of the reference API, and whether the gateway accepts and returns the same',
    'shapes for each. `npx vitest run test/rest/platform -u` generates this page.',
    '',
    `In ${sameCount} of ${rows.length} operations, all parameters, bodies and responses have the same shapes.`,
    '',
    '| host | method | path | same shapes |',
    '| --- | --- | --- | --- |',
    ...rows.map(
      ([host, method, path, support]) => `| ${host} | ${method} | \`${path}\` | ${support} |`,
    ),
    '',
  ];
  const file = join(import.meta.dirname, '../../../docs/rest-operations.md');
  await expect(lines.join('\n')).toMatchFileSnapshot(file);
});
