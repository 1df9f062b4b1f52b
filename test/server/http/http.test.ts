import { once } from 'node:events';
import { type IncomingMessage, request } from 'node:http';
import { json } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { createTestApp, type GraphqlResponse, getSharedApp } from '../../support/app.ts';
import { listIssueNames } from '../../support/graphql-client.ts';

const app = await getSharedApp();
const tenant = await app.createTenant();
const headers = { 'content-type': 'application/json', 'x-api-key': tenant.apiKey };
const body = JSON.stringify({ query: '{ viewer { kind } }' });

test("returns the caller's request id if it is valid, and otherwise a new one", async () => {
  const echoed = await app.fetch('/livez', { headers: { 'x-request-id': 'abc-123' } });
  expect(echoed.headers.get('x-request-id')).toBe('abc-123');
  const generated = await app.fetch('/livez', { headers: { 'x-request-id': 'a b\u00e9' } });
  expect(generated.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
});

test('returns a problem document for an unknown path', async () => {
  const response = await app.fetch('/nowhere');
  expect(response.status).toBe(404);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(await response.json()).toMatchObject({ status: 404, type: 'urn:problem:not-found' });
});

test.each([
  '/%zz',
  '/console/%zz',
  '/v1/%zz',
  '/graphql/%zz',
])('refuses the malformed path %s', async (path) => {
  const response = await app.fetch(path);
  expect(response.status).toBe(400);
  expect(response.headers.get('content-type')).toBe('application/problem+json');
  expect(response.headers.get('x-request-id')).toMatch(/^[0-9a-f-]{36}$/);
});

test('refuses a request whose host and path do not form a URL', async () => {
  await using separateApp = await createTestApp();
  const { hostname, port } = new URL((await separateApp.app.start()).url);
  for (const [host, path] of [
    ['a b', '/graphql'],
    ['%%%', '/livez'],
    ['x:99999', '/readyz'],
    ['x:80', 'http://other.example/graphql'],
  ]) {
    const sending = request({ hostname, port, path, headers: { host } }).end();
    const [response] = (await once(sending, 'response')) as [IncomingMessage];
    expect(response.statusCode).toBe(400);
    expect(await json(response)).toMatchObject({ type: 'urn:problem:bad-user-input', status: 400 });
  }
});

test.each([
  ['a form', 'application/x-www-form-urlencoded', 'query={__typename}'],
  ['plain text', 'text/plain', body],
  ['a bare document', 'application/graphql', '{ __typename }'],
  ['a multipart form', 'multipart/form-data; boundary=x', '--x--'],
])('refuses %s as an operation', async (_description, type, text) => {
  const response = await app.fetch('/graphql', {
    method: 'POST',
    headers: { ...headers, 'content-type': type },
    body: text,
  });
  expect(response.status).toBe(415);
});

test('responds to a query over GET, and refuses a mutation', async () => {
  const sendGet = (query: string) =>
    app.fetch(`/graphql?query=${encodeURIComponent(query)}`, {
      headers: { 'x-api-key': tenant.apiKey, accept: 'application/json' },
    });
  const query = await sendGet('{ viewer { kind } }');
  expect(await query.json()).toEqual({ data: { viewer: { kind: 'API_KEY' } } });
  const mutation = await sendGet(
    'mutation CreateOrg { createOrg(input: { label: "x" }) { org { id } } }',
  );
  expect(mutation.status).toBe(405);
});

test('refuses parameters of a GET that are not JSON', async () => {
  for (const parameter of ['variables=%7B', 'extensions=%5B']) {
    const response = await app.fetch(`/graphql?query={__typename}&${parameter}`, {
      headers: { accept: 'application/json' },
    });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      errors: [{ extensions: { code: 'BAD_USER_INPUT', problem: { status: 400 } } }],
    });
  }
});

test('refuses a body over the limit, with and without Content-Length', async () => {
  const large = JSON.stringify({
    query: '{ viewer { kind } }',
    variables: { x: 'y'.repeat(1_100_000) },
  });
  const withLength = await app.fetch('/graphql', { method: 'POST', headers, body: large });
  expect(withLength.status).toBe(413);
  const chunks = new ReadableStream({
    start(controller) {
      const bytes = new TextEncoder().encode(large);
      for (let index = 0; index < bytes.length; index += 65_536)
        controller.enqueue(bytes.slice(index, index + 65_536));
      controller.close();
    },
  });
  const init = { method: 'POST', headers, body: chunks, duplex: 'half' } as RequestInit;
  expect((await app.fetch('/graphql', init)).status).toBe(413);
});

test('refuses a compressed body', async () => {
  const response = await app.fetch('/graphql', {
    method: 'POST',
    headers: { ...headers, 'content-encoding': 'gzip' },
    body,
  });
  expect(response.status).toBe(415);
});

test('returns 400 for malformed JSON and a missing query', async () => {
  for (const text of ['{', '"x"', '{}', '{"query": 5}', 'null']) {
    const response = await app.fetch('/graphql', { method: 'POST', headers, body: text });
    expect(response.status).toBe(400);
    expect(await response.json()).toMatchObject({
      errors: [{ extensions: { problem: { status: 400 } } }],
    });
  }
});

test('refuses NUL and lone surrogates in every argument', async () => {
  const mutation = `mutation CreateProviderApp($input: CreateProviderAppInput!) {
    createProviderApp(input: $input) { providerApp { id } }
  }`;
  const input = {
    projectIdOrName: tenant.projectId,
    provider: 'hubspot',
    clientId: 'a\u0000b',
    clientSecret: 'x',
    scopes: ['fine', '\ud800'],
    metadata: { authQueryParams: { 'k\u0000': ['x'] } },
  };
  const { code, problem } = await tenant.expectRefusal(mutation, { input });
  expect(code).toBe('BAD_USER_INPUT');
  expect(listIssueNames(problem).sort()).toEqual([
    'input.clientId',
    'input.metadata.authQueryParams',
    'input.scopes[1]',
  ]);
  expect(await tenant.expectRefusal('{ project(idOrName: "a\\u0000b") { id } }')).toMatchObject({
    code: 'BAD_USER_INPUT',
  });
});

test('refuses JSON that would change when it is stored', async () => {
  const query = `mutation GenerateConnection($input: GenerateConnectionInput!) {
    generateConnection(input: $input) { connection { id } }
  }`;
  const account = `"projectIdOrName": "${tenant.projectId}", "groupRef": "g", "consumerRef": "c",
    "provider": "sandbox", "credentials": {"apiKey": "k"}`;
  for (const metadata of [
    '{"__proto__": {}}',
    '{"a": [{"__proto__": 1}]}',
    '{"a": {"b": 1e400}}',
  ]) {
    const variables = `{"input": {${account}, "providerMetadata": ${metadata}}}`;
    const response = await app.fetch('/graphql', {
      method: 'POST',
      headers,
      body: `{"query": ${JSON.stringify(query)}, "variables": ${variables}}`,
    });
    const [error] = ((await response.json()) as GraphqlResponse).errors ?? [];
    expect(error?.extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      problem: { issues: [{ name: expect.stringMatching(/^input\.providerMetadata/) }] },
    });
  }
});

test('reports the position of a variable of the wrong type', async () => {
  const mutation = `mutation CreateApiKey($input: CreateApiKeyInput!) {
    createApiKey(input: $input) { key }
  }`;
  const label = { secret: 'hunter2' };
  const input = { projectIdOrName: tenant.projectId, label, scopes: ['READ'] };
  const { code, problem } = await tenant.expectRefusal(mutation, { input });
  expect(code).toBe('BAD_USER_INPUT');
  expect(problem.issues).toMatchObject([{ in: 'body', name: 'input.label' }]);
});

/**
 * Returns the expected Vary header. CORS headers depend on Origin, and the format of a GraphQL response also depends on
 * Accept.
 */
function getVary(path: string): string | null {
  if (path.startsWith('/graphql')) return 'Accept, Origin';
  return path.startsWith('/v1') ? 'Origin' : null;
}

test('forbids caching of all but pages, and varies by Accept and Origin', async () => {
  const requests: [string, RequestInit][] = [
    ['/graphql', { method: 'POST', headers, body }],
    ['/graphql', { method: 'POST', headers, body: '{}' }],
    ['/graphql?query={__typename}', { headers }],
    [`/v1/projects/${tenant.projectId}`, { headers }],
    ['/v1/nowhere', {}],
    ['/livez', {}],
  ];
  for (const [path, init] of requests) {
    const response = await app.fetch(path, init);
    expect(response.headers.get('cache-control'), path).toBe('no-store');
    expect(response.headers.get('vary'), path).toBe(getVary(path));
  }
  const page = await app.fetch('/graphql', { headers: { accept: 'text/html' } });
  // Browsers keep the page, and ask whether it has changed.
  expect(page.headers.get('cache-control')).toBe('no-cache');
  expect(page.headers.get('vary')).toBe(getVary('/graphql'));
});
