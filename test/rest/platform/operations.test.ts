/**
 * The platform's operations one by one: which are here, and that they take and answer what its clients know.
 *
 * @module-tag all/walk
 */
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { sharedApp } from '../../support/app.ts';
import {
  differencesFrom,
  membersOf,
  PLATFORM_OPERATIONS,
  type PlatformOperation,
  type Shape,
} from '../../support/rest/platform.ts';
import { type DocumentSchema, resolved, sampleOf } from '../../support/rest/samples.ts';

interface Documented {
  parameters?: { name: string; in: string }[];
  requestBody?: { content: Record<string, { schema: DocumentSchema }> };
  responses: Record<string, { content?: Record<string, { schema: DocumentSchema }> }>;
}

interface Document {
  paths: Record<string, Record<string, Documented>>;
  components: { schemas: Record<string, DocumentSchema> };
}

/** Why an operation is not here. */
const LEFT_OUT: Record<string, string> = {};

/** What an operation has beside the platform's members, and why. */
const HAS_MORE: Record<string, string> = {
  writeRecords:
    "the platform's; a write that failed (422) is a problem with these members if `Accept` names application/problem+json; what is refused before a write is a problem document and no plain text (400)",
};

/** The word of the gateway for parameters has no meaning to a client: `/topics/{id}` is `/topics/{topicId}`. */
const shapeOfPath = (path: string) => path.replaceAll(/\{\w+\}/g, '{}');

const app = await sharedApp();
const document = app.app.rest.swagger() as unknown as Document;
const { schemas: components } = document.components;

function documented({ method, path, host }: PlatformOperation): Documented | undefined {
  const fitting = Object.entries(document.paths).filter(
    ([template]) => shapeOfPath(template) === shapeOfPath(READ_PATHS[`${host} ${path}`] ?? path),
  );
  return fitting.map(([, methods]) => methods[method.toLowerCase()]).find((one) => one);
}

/** Where one address has a path for a write, its read has a verb behind it. */
const READ_PATHS: Record<string, string> = {
  'read /projects/{projectIdOrName}/integrations/{integrationId}/objects/{objectName}':
    '/projects/{projectIdOrName}/integrations/{integrationId}/objects/{objectName}:read',
};

function differencesOf(operation: PlatformOperation, here: Documented): string[] {
  return [...differencesOfInput(operation, here), ...differencesOfAnswers(operation, here)];
}

function differencesOfInput({ query = [], body }: PlatformOperation, here: Documented): string[] {
  const parameters = here.parameters?.map(({ name }) => name) ?? [];
  const given = here.requestBody?.content['application/json']?.schema ?? {};
  const taken = Object.keys(resolved(given, { components, isWhole: true }).properties ?? {});
  return [
    ...query.filter((name) => !parameters.includes(name)).map((name) => `no query ${name}`),
    ...(body ? membersOf(body) : [])
      .filter((name) => !taken.includes(name))
      .map((name) => `no ${name} in the body`),
  ];
}

function differencesOfAnswers({ answers }: PlatformOperation, here: Documented): string[] {
  return Object.entries(answers).flatMap(([status, shape]) => {
    const answer = here.responses[status];
    if (!answer) return [`no answer ${status}`];
    return shape ? differencesOfAnswer(shape, answer) : [];
  });
}

function differencesOfAnswer(shape: Shape, { content = {} }: Documented['responses'][string]) {
  const [{ schema } = { schema: {} }] = Object.values(content);
  return [true, false].flatMap((isWhole) =>
    differencesFrom(shape, sampleOf(schema, { components, isWhole }), NO_RULES_OF_SAMPLES),
  );
}

/** A sample knows types, and no limits of numbers. */
const NO_RULES_OF_SAMPLES = ['minimum'];

function rowOf(operation: PlatformOperation): string[] {
  const here = documented(operation);
  const differences = here ? [...new Set(differencesOf(operation, here))] : [];
  const state = here
    ? (HAS_MORE[operation.id] ?? (differences.join('; ') || 'the same'))
    : `not here${LEFT_OUT[operation.id] ?? ''}`;
  return [operation.host, operation.method, operation.path, state];
}

test('each operation takes and answers what the platform does, or the table says why not', async () => {
  const rows = PLATFORM_OPERATIONS.map(rowOf);
  const same = rows.filter(([, , , state]) => state === 'the same').length;
  const table = [
    "# The platform's operations over REST",
    '',
    'Which operations of the platform are here, and whether their parameters, bodies and answers have its shapes.',
    'Made by `npx vitest run test/rest/platform -u`.',
    '',
    `${same} of ${rows.length} are the same.`,
    '',
    '| host | method | path | here |',
    '| --- | --- | --- | --- |',
    ...rows.map(
      ([host, method, path, state]) => `| ${host} | ${method} | \`${path}\` | ${state} |`,
    ),
    '',
  ];
  const file = join(import.meta.dirname, '../../../docs/rest-operations.md');
  await expect(table.join('\n')).toMatchFileSnapshot(file);
});
