import { afterAll, beforeEach, expect, test } from 'vitest';
import { getSharedApp, type Tenant } from '../../../support/app.ts';
import { generateConnection } from '../../../support/fixtures/connections.ts';
import {
  createDocument,
  createObject,
  createProvider,
  TEST_PROVIDER,
  UPDATE_PROVIDER,
} from '../../../support/inputs/custom-providers.ts';
import { stopRates } from '../../../support/process/rates.ts';
import { startProviderServer } from '../../../support/providers/provider-server.ts';

const app = await getSharedApp({ env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' } });
const NOTES = [
  { id: '1', title: 'Private call', 'ada@example.com': 7, tags: ['a', 'b', 'c'], done: false },
  { id: '2', title: 'Another' },
  { id: '3', title: 'A third' },
];
const vendor = await startProviderServer(({ path }) => {
  if (path === '/me') return { status: 200, body: {} };
  if (path === '/notes') return { status: 200, body: { data: NOTES, next: 'cursor-1' } };
  return { status: 400, body: { error: { message: 'The list is closed', title: 'secret-key' } } };
});
afterAll(() => vendor[Symbol.asyncDispose]());
beforeEach(() => vendor.reset());

async function connect(tenant: Tenant, document = createDocument(vendor.url)) {
  const { id: customProviderId } = await createProvider(tenant, document);
  const account = { provider: 'x-acme', apiKey: 'secret-key' };
  const { id: connectionId } = await generateConnection(tenant, account);
  vendor.reset();
  const input = { projectIdOrName: tenant.projectId, connectionId };
  return { customProviderId, input };
}

async function run(tenant: Pick<Tenant, 'query'>, input: object) {
  return (await tenant.query(TEST_PROVIDER, { input })).testProvider;
}

test('reads a page of each object, and shows its requests without values', async () => {
  const tenant = await app.createTenant();
  const { input } = await connect(tenant);
  const result = await run(tenant, input);
  expect(result.untestedObjects).toEqual([]);
  const [notes, tasks] = result.objects;
  expect(notes).toMatchObject({
    objectName: 'notes',
    recordCount: 3,
    problem: null,
    sample: {
      id: '***',
      title: '***',
      '***': '***',
      tags: ['***', '***', '(1 more)'],
      done: false,
    },
  });
  expect(notes.requests).toMatchObject([
    {
      kind: 'API',
      method: 'GET',
      host: new URL(vendor.url).host,
      path: '/notes',
      requestHeaders: { accept: 'application/json', authorization: '***' },
      requestBody: null,
      responseStatus: 200,
      responseHeaders: { 'content-type': expect.stringContaining('application/json') },
      error: null,
      durationMs: expect.any(Number),
    },
  ]);
  expect(JSON.parse(notes.requests[0].responseBody)).toEqual({
    data: [notes.sample, { id: '***', title: '***' }, '(1 more)'],
    next: '***',
  });
  expect(tasks).toMatchObject({
    objectName: 'tasks',
    recordCount: null,
    hasNextPage: null,
    sample: null,
    problem: expect.stringContaining('The list is closed'),
    requests: [{ path: '/tasks', responseStatus: 400 }],
  });
  expect(tasks.requests[0].responseBody).toContain('The list is closed');
  expect(JSON.stringify(result)).not.toMatch(/secret-key|Private|ada@example/);
  expect(vendor.requests.map(({ method, path }) => `${method} ${path}`)).toEqual([
    'GET /notes',
    'GET /tasks',
  ]);
});

test('reads only the object of the input', async () => {
  const tenant = await app.createTenant();
  const { input } = await connect(tenant);
  const { objects } = await run(tenant, { ...input, objectName: 'notes' });
  expect(objects).toMatchObject([{ objectName: 'notes', recordCount: 3 }]);
  expect(vendor.requests).toHaveLength(1);
});

test('reads at most 20 objects, and names the others', async () => {
  const tenant = await app.createTenant();
  const names = Array.from({ length: 22 }, (_, index) => `o${index}`);
  const objects = Object.fromEntries(names.map((name) => [name, createObject(name)]));
  const { input } = await connect(tenant, createDocument(vendor.url, {}, objects));
  const result = await run(tenant, input);
  expect(result.objects).toHaveLength(20);
  expect(result.untestedObjects).toEqual(['o20', 'o21']);
});

test('shows the names of members of a request body, and the document of a GraphQL request', async () => {
  const tenant = await app.createTenant();
  const list = {
    path: '/notes',
    method: 'POST',
    body: { query: '{ notes { title } }', variables: { owner: 'Private', first: 10 } },
    records: '/data',
    paging: { kind: 'none' },
  };
  const objects = { notes: createObject('notes', { list }) };
  const { input } = await connect(tenant, createDocument(vendor.url, {}, objects));
  const [{ requests, problem }] = (await run(tenant, input)).objects;
  expect(problem).toBeNull();
  expect(JSON.parse(requests[0].requestBody)).toEqual({
    query: '{ notes { title } }',
    variables: { owner: '***', first: '10' },
  });
});

test('tests built-in providers', async () => {
  const tenant = await app.createTenant();
  app.app.sandbox.seed('contacts', 3);
  const { id: connectionId } = await generateConnection(tenant, { apiKey: 'sandbox-key' });
  const input = { projectIdOrName: tenant.projectId, connectionId, objectName: 'contacts' };
  const { objects } = await run(tenant, input);
  expect(objects).toMatchObject([{ objectName: 'contacts', problem: null }]);
  expect(objects[0].recordCount).toBeGreaterThan(0);
  expect(JSON.stringify(objects)).not.toContain('sandbox-key');
  const all = await run(tenant, { ...input, objectName: null });
  expect(all.objects.map(({ objectName }: { objectName: string }) => objectName)).toContain(
    'deals',
  );
});

test('stores nothing', async () => {
  const tenant = await app.createTenant();
  const { input } = await connect(tenant);
  const { requestRecorder, database } = app.app.services;
  await run(tenant, input);
  await requestRecorder?.flush();
  const where = { projectId: tenant.projectId };
  const { prisma } = database;
  expect([
    await prisma.operation.count({ where }),
    await prisma.recordedRequest.count({ where }),
    await prisma.readRun.count({ where }),
    await prisma.learnedField.count({ where }),
  ]).toEqual([0, 0, 0, 0]);
});

test('stops when the provider rejects the credentials', async () => {
  const tenant = await app.createTenant();
  const { input } = await connect(tenant);
  vendor.failNext({ status: 401, body: { error: 'The key is wrong' } }, 5);
  const { objects, untestedObjects } = await run(tenant, input);
  expect(objects).toMatchObject([{ objectName: 'notes', recordCount: null }]);
  expect(objects[0].problem).toContain('The key is wrong');
  expect(untestedObjects).toEqual(['tasks']);
});

test('shows why a provider does not respond', async () => {
  const tenant = await app.createTenant();
  const { input } = await connect(tenant);
  vendor.failNext('DROPPED_CONNECTION');
  const [notes] = (await run(tenant, input)).objects;
  expect(notes.problem).toContain('GET /notes');
  expect(notes.requests).toMatchObject([{ responseStatus: null, error: expect.any(String) }]);
});

test('sends nothing for a connection whose provider has other addresses', async () => {
  const tenant = await app.createTenant();
  const { input, customProviderId } = await connect(tenant);
  await using attacker = await startProviderServer(() => ({ status: 200, body: { data: [] } }));
  const document = createDocument(attacker.url);
  await tenant.query(UPDATE_PROVIDER, {
    input: {
      ...{ projectIdOrName: tenant.projectId, customProviderId },
      document,
      destructive: true,
    },
  });
  const { objects, untestedObjects } = await run(tenant, input);
  expect(objects).toMatchObject([
    { problem: expect.stringContaining('Connect the account again'), requests: [] },
  ]);
  expect(untestedObjects).toEqual(['tasks']);
  expect([...attacker.requests, ...vendor.requests]).toEqual([]);
});

test('counts as 20 further requests of the caller', async () => {
  stopRates();
  const tenant = await app.createTenant();
  const { input } = await connect(tenant);
  const read = async () => {
    const body = JSON.stringify({ query: '{ viewer { kind } }' });
    const headers = { 'x-api-key': tenant.apiKey, 'content-type': 'application/json' };
    const response = await app.fetch('/graphql', { method: 'POST', headers, body });
    return Number(/r=(\d+)/.exec(response.headers.get('ratelimit') ?? '')?.[1]);
  };
  const before = await read();
  await run(tenant, input);
  expect(before - (await read())).toBeGreaterThanOrEqual(21);
});

test('refuses unknown objects and modules, and providers without reads', async () => {
  const tenant = await app.createTenant();
  const { input } = await connect(tenant);
  const refuse = async (members: object) =>
    JSON.stringify(await tenant.expectRefusal(TEST_PROVIDER, { input: { ...input, ...members } }));
  expect(await refuse({ objectName: 'people' })).toContain('is not an object of Acme');
  expect(await refuse({ module: 'other' })).toContain('is not a module');
  await createProvider(tenant, createDocument(vendor.url, { name: 'x-plain', api: undefined }));
  const account = { provider: 'x-plain', apiKey: 'secret-key', consumerRef: 'bob' };
  const { id: connectionId } = await generateConnection(tenant, account);
  expect(await refuse({ connectionId })).toContain('does not support reads');
});

test('refuses other tenants, and keys without providers:write', async () => {
  const [tenant, other] = [await app.createTenant(), await app.createTenant()];
  const { input } = await connect(tenant);
  const foreign = { ...input, projectIdOrName: other.projectId };
  for (const foreignInput of [input, foreign]) {
    expect(await other.expectRefusal(TEST_PROVIDER, { input: foreignInput })).toMatchObject({
      code: 'NOT_FOUND',
    });
  }
  const reader = await tenant.withScopes('read', 'connections:write', 'payloads:read');
  expect(await reader.expectRefusal(TEST_PROVIDER, { input })).toMatchObject({ code: 'FORBIDDEN' });
  expect(vendor.requests).toEqual([]);
});
