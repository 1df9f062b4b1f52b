/** Compares docs/problem-extensions.ts with the problem schema and with responses of both surfaces. */
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { createProblemTypes, TYPES_PATH } from '../../scripts/problem-types.ts';
import { problem, problemExtensions } from '../../src/kernel/problem-schema.ts';
import { getSharedApp } from '../support/app.ts';
import { createRestTenant } from '../support/rest/rest-client.ts';

const app = await getSharedApp();

test('generates docs/problem-extensions.ts', async () => {
  expect(readFileSync(TYPES_PATH, 'utf8'), 'Run `npm run problem-types` to update it.').toBe(
    await createProblemTypes(),
  );
});

const UUID = /^urn:uuid:[\da-f]{8}-[\da-f]{4}-4[\da-f]{3}-[\da-f]{4}-[\da-f]{12}$/;

test('returns GraphQL errors that match the problem schema, with a unique instance', async () => {
  const tenant = await app.createTenant();
  const reader = await tenant.withScopes('read');
  const createTopic = `mutation CreateTopic($input: CreateTopicInput!) {
    createTopic(input: $input) { topic { id } }
  }`;
  const input = { projectIdOrName: tenant.projectId, name: 'taken' };
  await tenant.query(createTopic, { input });
  const responses = [
    await tenant.request(createTopic, { input }),
    await tenant.request(createTopic, { input }),
    await tenant.request(createTopic, { input: { ...input, name: '' } }),
    await tenant.request(createTopic, {}),
    await tenant.request(createTopic, { input: { ...input, projectIdOrName: 'none' } }),
    await reader.request(createTopic, { input }),
    await app.createClient().request('{ viewer { kind } }'),
    await tenant.request('{ nothing }'),
    await tenant.request('{'),
    await tenant.request(`{ viewer { ${'a: kind '.repeat(2_000)} } }`),
  ];
  const extensions = responses.flatMap(({ errors }) => errors?.map((error) => error.extensions));
  expect(extensions.map((extension) => problemExtensions.parse(extension).code)).toEqual([
    'CONFLICT',
    'CONFLICT',
    'BAD_USER_INPUT',
    'BAD_USER_INPUT',
    'NOT_FOUND',
    'FORBIDDEN',
    'UNAUTHENTICATED',
    'GRAPHQL_VALIDATION_FAILED',
    'GRAPHQL_PARSE_FAILED',
    'QUERY_LIMIT_EXCEEDED',
  ]);
  const instances = extensions.map((extension) => extension?.problem.instance);
  for (const instance of instances) expect(instance).toMatch(UUID);
  expect(new Set(instances).size).toBe(instances.length);
});

test('returns REST problems that match the schema, with a unique instance', async () => {
  const rest = await createRestTenant(app);
  const keyHeaders = { 'x-api-key': rest.tenant.apiKey };
  const jsonHeaders = { ...keyHeaders, 'content-type': 'application/json' };
  const topicsPath = `/v1${rest.base}/topics`;
  const largeBody = JSON.stringify({ name: 'x'.repeat(app.app.services.config.LIMIT_BODY_BYTES) });
  const requests: [path: string, init: RequestInit, status: number, name: string, title: string][] =
    [
      ['/v1/nothing', { headers: keyHeaders }, 404, 'not-found', 'Not Found'],
      ['/v1/nothing', { headers: keyHeaders }, 404, 'not-found', 'Not Found'],
      [topicsPath, {}, 401, 'unauthenticated', 'Unauthenticated'],
      [
        topicsPath,
        { method: 'POST', headers: jsonHeaders, body: '{}' },
        400,
        'bad-user-input',
        'Bad Request',
      ],
      [
        topicsPath,
        { method: 'PUT', headers: keyHeaders },
        405,
        'method-not-allowed',
        'Method Not Allowed',
      ],
      [
        topicsPath,
        { method: 'POST', headers: { ...keyHeaders, 'content-type': 'text/plain' }, body: 'x' },
        415,
        'unsupported-media-type',
        'Unsupported Media Type',
      ],
      [
        topicsPath,
        { method: 'POST', headers: { ...jsonHeaders, 'content-encoding': 'gzip' }, body: '{}' },
        415,
        'unsupported-media-type',
        'Unsupported Media Type',
      ],
      [
        topicsPath,
        { method: 'POST', headers: jsonHeaders, body: largeBody },
        413,
        'content-too-large',
        'Content Too Large',
      ],
    ];
  const instances: unknown[] = [];
  for (const [path, init, status, name, title] of requests) {
    const response = await app.fetch(path, init);
    const { type, instance, ...members } = problem.parse(await response.json());
    expect([response.status, type, members.title, members.status]).toEqual([
      status,
      `urn:problem:${name}`,
      title,
      status,
    ]);
    expect(instance).toMatch(UUID);
    instances.push(instance);
  }
  expect(new Set(instances).size).toBe(instances.length);
});

test('returns a problem for an unsupported method, an unsupported content type and an oversized body', async () => {
  const { apiKey } = await app.createTenant();
  const headers = { 'x-api-key': apiKey, 'content-type': 'application/json' };
  const query = 'x'.repeat(app.app.services.config.LIMIT_BODY_BYTES);
  const fetchCode = async (init: RequestInit) => {
    const response = await app.fetch('/graphql', init);
    const { errors } = (await response.json()) as { errors: { extensions: unknown }[] };
    const { code, problem: document } = problemExtensions.parse(errors[0]?.extensions);
    return [response.status, code, document.title];
  };
  expect(await fetchCode({ method: 'PUT', headers, body: '{}' })).toEqual([
    405,
    'METHOD_NOT_ALLOWED',
    'Method Not Allowed',
  ]);
  expect(
    await fetchCode({
      method: 'POST',
      headers: { ...headers, 'content-type': 'text/plain' },
      body: 'x',
    }),
  ).toEqual([415, 'UNSUPPORTED_MEDIA_TYPE', 'Unsupported Media Type']);
  expect(await fetchCode({ method: 'POST', headers, body: JSON.stringify({ query }) })).toEqual([
    413,
    'CONTENT_TOO_LARGE',
    'Content Too Large',
  ]);
});
