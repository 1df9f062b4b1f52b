import { expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';
import { listIssueNames } from '../../support/graphql-client.ts';

const app = await getSharedApp();

test('refuses each field that the schema does not have with a problem document', async () => {
  const tenant = await app.createTenant();
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

test('reports the path of a refused value, and does not repeat the value', async () => {
  const tenant = await app.createTenant();
  const inline = await tenant.expectRefusal('{ node(id: ["planted"]) { id } }');
  expect(inline.problem.detail).toBe('A value of type ID must be a string or an integer.');
  const query = 'query GetNode($id: ID!) { node(id: $id) { id } }';
  const { code, problem } = await tenant.expectRefusal(query, { id: { a: '; planted' } });
  expect(code).toBe('BAD_USER_INPUT');
  expect(problem.issues).toMatchObject([
    { in: 'body', name: 'id', detail: 'must be a string or an integer.' },
  ]);
});

test('refuses JSON that is nested too deeply', async () => {
  const tenant = await app.createTenant();
  const query = `mutation GenerateConnection($input: GenerateConnectionInput!) {
    generateConnection(input: $input) { connection { id } }
  }`;
  const providerMetadata = JSON.parse(`${'{"a":'.repeat(100)}1${'}'.repeat(100)}`);
  const consumer = { projectIdOrName: tenant.projectId, groupRef: 'g', consumerRef: 'c' };
  const input = {
    ...consumer,
    provider: 'sandbox',
    credentials: { apiKey: 'sandbox-key' },
    providerMetadata,
  };
  const { code, problem } = await tenant.expectRefusal(query, { input });
  expect(code).toBe('BAD_USER_INPUT');
  expect(listIssueNames(problem)).toEqual(['input.providerMetadata']);
});

test('does not repeat refused literals', async () => {
  const tenant = await app.createTenant();
  const generate = (credentials: string) =>
    tenant.request(`mutation GenerateConnection {
      generateConnection(input: {
        projectIdOrName: "p", groupRef: "g", consumerRef: "c", provider: "sandbox", ${credentials}
      }) { connection { id } }
    }`);
  for (const credentials of [
    'credentials: { basicAuth: "planted" }',
    'credentials: { apiKey: planted }',
    'credentials: "planted"',
    'authScheme: planted',
    'authScheme: "planted"',
    'credentials: { customAuth: "planted" }',
    'credentials: { apiKey "planted" }',
    'credentials: { apiKey """planted""" }',
    'credentials: { apiKey: "planted", customAuth: { a: "planted" } }',
  ]) {
    const { status, errors } = await generate(credentials);
    expect(status).toBe(200);
    expect(JSON.stringify(errors)).not.toContain('planted');
  }
});

test('returns GRAPHQL_VALIDATION_FAILED for an unused variable, and for one of the wrong type', async () => {
  const tenant = await app.createTenant();
  const unused = await tenant.expectRefusal('query GetViewer($id: ID!) { viewer { kind } }', {
    id: 'x',
  });
  expect(unused.code).toBe('GRAPHQL_VALIDATION_FAILED');
  const nullable = await tenant.expectRefusal('query GetNode($id: ID) { node(id: $id) { id } }', {
    id: 'x',
  });
  expect(nullable.code).toBe('GRAPHQL_VALIDATION_FAILED');
});

test('reports a missing variable', async () => {
  const tenant = await app.createTenant();
  const query = 'query GetNode($id: ID!) { node(id: $id) { id } }';
  const type = 'urn:problem:missing-value';
  const issues = [{ type, in: 'body', name: 'id', detail: 'must have a value of type ID!.' }];
  for (const variables of [{}, { id: null }]) {
    const { code, problem } = await tenant.expectRefusal(query, variables);
    expect({ code, issues: problem.issues }).toMatchObject({ code: 'BAD_USER_INPUT', issues });
  }
});

test('suggests similar names', async () => {
  const tenant = await app.createTenant();
  const field = await tenant.expectRefusal('{ viewr { kind } }');
  expect(field.problem.detail).toBe(
    'Cannot query field "viewr" on type "Query". Did you mean "viewer"?',
  );
  const argument = await tenant.request('{ node(idd: "x") { id } }');
  expect(argument.errors?.map(({ message }) => message)).toContain(
    'Unknown argument "idd" on field "Query.node". Did you mean "id"?',
  );
  const mutation = `mutation CreateTopic($input: CreateTopicInput!) {
    createTopic(input: $input) { topic { id } }
  }`;
  const input = { projectIdOrName: 'p', name: 'n', nam: 1 };
  const { problem } = await tenant.expectRefusal(mutation, { input });
  expect(problem.issues).toMatchObject([
    {
      in: 'body',
      name: 'input.nam',
      detail: 'is not a member of CreateTopicInput. Did you mean name?',
    },
  ]);
});

/** Fragments of messages of graphql-js, repeated in values and names. */
const MESSAGE_PARTS = [
  ' cannot represent ',
  'Value "',
  ' found String "',
  ' at "',
  '; ',
  ' Did you mean ',
];

test.each(MESSAGE_PARTS)(
  'refuses half a megabyte of %j with a short response',
  { tags: ['all/rows'] },
  async (bait) => {
    const value = bait.repeat(500_000 / bait.length);
    const nested = Object.fromEntries(
      Array.from({ length: 9_000 }, (_, index) => [`k${index}`, bait]),
    );
    const query = `mutation CreateTopic($input: CreateTopicInput!) {
      createTopic(input: $input) { topic { id } }
    }`;
    for (const input of [
      value,
      nested,
      { [value]: 1 },
      { projectIdOrName: nested, name: [value] },
    ]) {
      const { status, errors } = await app.createClient().request(query, { input });
      expect(status).toBe(200);
      expect(JSON.stringify(errors).length).toBeLessThan(100_000);
    }
  },
);

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
    'mutation CreateEventTopicRoute { createEventTopicRoute(input: { projectIdOrName: "x", topicId: "y", eventType: CONNECTION_CREATE }) { __typename } }',
    'A value of type NotificationEventType! must be one of CONNECTION_CREATED, CONNECTION_DELETED, ',
  ],
])('refuses %s, and suggests names or values', async (query, message) => {
  const { errors } = await app.createClient().request(query);
  expect(errors?.map((error) => error.message)).toContainEqual(expect.stringContaining(message));
});

test('does not repeat a value that looks like a suggestion', async () => {
  const value = 'hunter2 Did you mean "hunter2"?';
  const query = `mutation CreateTopic($input: CreateTopicInput!) {
    createTopic(input: $input) { topic { id } }
  }`;
  const { errors } = await app.createClient().request(query, { input: value });
  expect(JSON.stringify(errors)).not.toContain('hunter2');
});

test('reports every problem of every variable, each with its path', async () => {
  const tenant = await app.createTenant();
  const query = `query ListOperations($first: Int!, $status: OperationStatus, $range: TimeRangeInput) {
    project(idOrName: "p") { operations(first: $first, status: $status, createTime: $range) { totalCount } }
  }`;
  const variables = { first: 'planted', status: 'planted', range: { from: 'planted', planted: 1 } };
  const { errors } = await tenant.request(query, variables);
  const issues = errors?.flatMap(({ extensions }) => extensions.problem?.issues ?? []);
  expect(issues).toMatchObject([
    { name: 'first', detail: 'must be a 32-bit integer.' },
    { name: 'status', detail: expect.stringMatching(/^must be one of \w+, /) },
    { name: 'range.from', detail: 'DateTime must be a timestamp like 2026-01-31T12:00:00Z.' },
    { name: 'range.planted', detail: 'is not a member of TimeRangeInput.' },
  ]);
});

test('reports an invalid variable of a subscription', async () => {
  const tenant = await app.createTenant();
  const query = `subscription FollowNotificationEvents($p: String!) {
    notificationEvents(projectIdOrName: $p) { cursor }
  }`;
  const { problem } = await tenant.expectRefusal(query, { p: { planted: 1 } });
  expect(problem.issues).toMatchObject([{ name: 'p', detail: 'must be a string.' }]);
});
