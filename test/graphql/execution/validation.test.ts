import { expect, test } from 'vitest';
import { sharedApp } from '../../support/app.ts';

const app = await sharedApp();

test('what the schema does not have is refused with a problem document each', async () => {
  const tenant = await app.tenant();
  const { status, data, errors } = await tenant.request('{ nothing viewer { nobody } }');
  expect(status).toBe(200);
  expect(data).toBeUndefined();
  expect(errors).toHaveLength(2);
  for (const error of errors ?? []) {
    expect(error.extensions).toMatchObject({
      code: 'GRAPHQL_VALIDATION_FAILED',
      problem: {
        type: 'urn:problem:graphql-validation-failed',
        status: 400,
        detail: error.message,
      },
    });
  }
});

test('a refused value is not repeated, and its place is told', async () => {
  const tenant = await app.tenant();
  const inline = await tenant.refusal('{ node(id: ["planted"]) { id } }');
  expect(inline.problem.detail).toBe('ID cannot represent a non-string and non-integer value.');
  const query = 'query ($id: ID!) { node(id: $id) { id } }';
  const { code, problem } = await tenant.refusal(query, { id: { a: '; planted' } });
  expect(code).toBe('BAD_USER_INPUT');
  expect(problem.issues).toMatchObject([
    { in: 'body', name: 'id', detail: 'ID cannot represent value.' },
  ]);
});

test('JSON too deep to be walked is refused', async () => {
  const tenant = await app.tenant();
  const query = `mutation ($input: GenerateConnectionInput!) {
    generateConnection(input: $input) { connection { id } }
  }`;
  const providerMetadata = JSON.parse(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`);
  const who = { projectIdOrName: tenant.projectId, groupRef: 'g', consumerRef: 'c' };
  const input = { ...who, provider: 'sandbox', apiKey: 'sandbox-key', providerMetadata };
  const { code, problem } = await tenant.refusal(query, { input });
  expect(code).toBe('BAD_USER_INPUT');
  expect(problem.issues?.map(({ name }) => name)).toEqual(['input.providerMetadata']);
});

test('literals that are refused are not repeated either', async () => {
  const tenant = await app.tenant();
  const generate = (credentials: string) =>
    tenant.request(`mutation {
      generateConnection(input: {
        projectIdOrName: "p", groupRef: "g", consumerRef: "c", provider: "sandbox", ${credentials}
      }) { connection { id } }
    }`);
  for (const credentials of [
    'basicAuth: "planted"',
    'apiKey: planted',
    'authScheme: planted',
    'authScheme: "planted"',
    'customAuth: "planted"',
    'apiKey "planted"',
    'apiKey """planted"""',
  ]) {
    const { status, errors } = await generate(credentials);
    expect(status).toBe(200);
    expect(JSON.stringify(errors)).not.toContain('planted');
  }
});

test('a variable that is used wrongly is a mistake in the document', async () => {
  const tenant = await app.tenant();
  const unused = await tenant.refusal('query ($id: ID!) { viewer { kind } }', { id: 'x' });
  expect(unused.code).toBe('GRAPHQL_VALIDATION_FAILED');
  const nullable = await tenant.refusal('query ($id: ID) { node(id: $id) { id } }', { id: 'x' });
  expect(nullable.code).toBe('GRAPHQL_VALIDATION_FAILED');
});

test('a variable that is missing is named', async () => {
  const tenant = await app.tenant();
  const query = 'query ($id: ID!) { node(id: $id) { id } }';
  const type = 'urn:problem:missing-value';
  const issues = [{ type, in: 'body', name: 'id', detail: 'It is required: ID!.' }];
  for (const variables of [{}, { id: null }]) {
    const { code, problem } = await tenant.refusal(query, variables);
    expect({ code, issues: problem.issues }).toMatchObject({ code: 'BAD_USER_INPUT', issues });
  }
});

test('names that come close are told', async () => {
  const tenant = await app.tenant();
  const field = await tenant.refusal('{ viewr { kind } }');
  expect(field.problem.detail).toBe(
    'Cannot query field "viewr" on type "Query". Did you mean "viewer"?',
  );
  const argument = await tenant.request('{ node(idd: "x") { id } }');
  expect(argument.errors?.map(({ message }) => message)).toContain(
    'Unknown argument "idd" on field "Query.node". Did you mean "id"?',
  );
  const mutation =
    'mutation ($input: CreateTopicInput!) { createTopic(input: $input) { topic { id } } }';
  const input = { projectIdOrName: 'p', name: 'n', nam: 1 };
  const { problem } = await tenant.refusal(mutation, { input });
  expect(problem.issues).toMatchObject([
    {
      in: 'body',
      name: 'input',
      detail: 'Field "nam" is not defined by type "CreateTopicInput". Did you mean "name"?',
    },
  ]);
});

/** What the patterns that take values out of messages look for, again and again. */
const BAITS = [' cannot represent ', 'Value "', ' found String "', ' at "', '; ', ' Did you mean '];

test.each(BAITS)('half a megabyte of %j is refused in a short answer, and soon', async (bait) => {
  const value = bait.repeat(500_000 / bait.length);
  const nested = Object.fromEntries(Array.from({ length: 9_000 }, (_, at) => [`k${at}`, bait]));
  const query = `mutation ($input: CreateTopicInput!) { createTopic(input: $input) { topic { id } } }`;
  for (const input of [value, nested, { [value]: 1 }, { projectIdOrName: nested, name: [value] }]) {
    const { status, errors } = await app.client().request(query, { input });
    expect(status).toBe(200);
    expect(JSON.stringify(errors).length).toBeLessThan(100_000);
  }
});

test.each([
  [
    '{ projct(idOrName: "x") { id } }',
    'Cannot query field "projct" on type "Query". Did you mean "project" or "projects"?',
  ],
  [
    '{ project(idOrNam: "x") { id } }',
    'Unknown argument "idOrNam" on field "Query.project". Did you mean "idOrName"?',
  ],
  [
    'mutation { createEventTopicRoute(input: { projectIdOrName: "x", topicId: "y", eventType: CONNECTION_CREATE }) { __typename } }',
    'Value does not exist in "NotificationEventType" enum. Did you mean the enum value "CONNECTION_CREATED", ',
  ],
])('%s is refused with the names that were meant', async (query, message) => {
  const { errors } = await app.client().request(query);
  expect(errors?.map((error) => error.message)).toContainEqual(expect.stringContaining(message));
});

test('a value that looks like a suggestion is not told', async () => {
  const value = 'hunter2 Did you mean "hunter2"?';
  const query =
    'mutation ($input: CreateTopicInput!) { createTopic(input: $input) { topic { id } } }';
  const { errors } = await app.client().request(query, { input: value });
  expect(JSON.stringify(errors)).not.toContain('hunter2');
});
