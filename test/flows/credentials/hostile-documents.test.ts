/** Provider documents are data of strangers: neither they nor the APIs that they describe reach other hosts or headers. */
import { afterAll, beforeEach, expect, test } from 'vitest';
import { getSharedApp, type Tenant } from '../../support/app.ts';
import { GENERATE_CONNECTION, generateConnection } from '../../support/fixtures/connections.ts';
import {
  CREATE_PROVIDER,
  createDocument,
  createObject,
  createProvider,
  TEST_PROVIDER,
} from '../../support/inputs/custom-providers.ts';
import { toGraphqlInput } from '../../support/inputs/graphql-input.ts';
import {
  type ServedRequest,
  type ServedResponse,
  startProviderServer,
} from '../../support/providers/provider-server.ts';

const app = await getSharedApp({ env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' } });
const EMPTY_LIST = { status: 200, body: { data: [] } };
let serve: (request: ServedRequest) => ServedResponse = () => EMPTY_LIST;
const vendor = await startProviderServer((request) => serve(request));
const attacker = await startProviderServer(() => EMPTY_LIST);
afterAll(() => vendor[Symbol.asyncDispose]());
afterAll(() => attacker[Symbol.asyncDispose]());
beforeEach(() => {
  vendor.reset();
  attacker.reset();
  serve = () => EMPTY_LIST;
});

const list = { path: '/notes', records: '/data', paging: { kind: 'none' } };

/** Returns a document with members of its `api`, such as `headers` and `inputs`. */
function createApiDocument(members: object, objects: object = { notes: createObject('notes') }) {
  const document = JSON.parse(createDocument(vendor.url, {}, objects));
  return JSON.stringify({ ...document, api: { ...document.api, ...members } });
}

async function refuseDocument(tenant: Tenant, document: string): Promise<string> {
  const input = { projectIdOrName: tenant.projectId, document };
  return JSON.stringify(await tenant.expectRefusal(CREATE_PROVIDER, { input }));
}

/** Creates the provider, connects an account, and reads a page of `notes`. */
async function readNotes(tenant: Tenant, document: string, account: object = {}) {
  await createProvider(tenant, document);
  const members = { provider: 'x-acme', apiKey: 'secret-key', ...account };
  const { id: connectionId } = await generateConnection(tenant, members);
  return testNotes(tenant, connectionId);
}

async function testNotes(tenant: Tenant, connectionId: string) {
  const input = { projectIdOrName: tenant.projectId, connectionId, objectName: 'notes' };
  return (await tenant.query(TEST_PROVIDER, { input })).testProvider.objects[0];
}

test.each([
  ['a header name with a line break', { headers: { 'x-a\r\nx-evil': '1' } }],
  ['a header value with a line break', { headers: { 'x-a': '1\r\nx-evil: 1' } }],
  ['a header that selects the server', { headers: { Host: 'evil.example' } }],
  ['a header that frames the request', { headers: { 'Transfer-Encoding': 'chunked' } }],
  ['a variable without an input', { headers: { 'x-a': '{{constructor}}' } }],
])('refuses %s', async (_name, members) => {
  const tenant = await app.createTenant();
  expect(await refuseDocument(tenant, createApiDocument(members))).toContain('BAD_USER_INPUT');
  const create = { method: 'POST', path: '/notes', ...members };
  const objects = { notes: createObject('notes', { create }) };
  expect(await refuseDocument(tenant, createApiDocument({}, objects))).toContain('BAD_USER_INPUT');
});

test('refuses the name of a header for keys with a line break', async () => {
  const tenant = await app.createTenant();
  for (const apiKey of [
    { in: 'header', name: 'x-key\r\nx-evil' },
    { in: 'header', name: 'x-key', valuePrefix: 'Bearer \r\nx-evil: 1' },
    { in: 'header', name: 'Content-Length' },
  ]) {
    const document = createDocument(vendor.url, { apiKey });
    expect(await refuseDocument(tenant, document)).toContain('BAD_USER_INPUT');
  }
});

test('sends no value of a customer that could end its header', async () => {
  const tenant = await app.createTenant();
  const inputs = { region: { displayName: 'Region' } };
  const document = createApiDocument({ inputs, headers: { 'x-region': 'eu-{{region}}' } });
  await createProvider(tenant, document);
  for (const account of [
    { apiKey: 'secret-key', providerMetadata: { region: 'a\r\nx-evil: 1' } },
    { apiKey: 'secret\r\nx-evil: 1', providerMetadata: { region: 'a' } },
  ]) {
    const input = {
      ...{ projectIdOrName: tenant.projectId, groupRef: 'acme', consumerRef: 'ann' },
      ...{ provider: 'x-acme', ...account },
    };
    const variables = { input: toGraphqlInput(input) };
    const { data } = await tenant.request(GENERATE_CONNECTION, variables);
    const connection = data?.generateConnection?.connection;
    if (connection) expect((await testNotes(tenant, connection.id)).problem).not.toBeNull();
  }
  expect(JSON.stringify(vendor.requests)).not.toContain('evil');
});

test('fills in each template once', async () => {
  const tenant = await app.createTenant();
  const inputs = { region: { displayName: 'Region' }, token: { displayName: 'Token' } };
  const query = { where: '{{region}}', other: '{constructor}' };
  const headers = { 'x-region': '{{region}}' };
  const objects = { notes: createObject('notes', { list: { ...list, query } }) };
  const document = createApiDocument({ inputs, headers }, objects);
  const providerMetadata = { region: '{object} {{token}}', token: 'hidden-value' };
  await readNotes(tenant, document, { providerMetadata });
  const [request] = vendor.requests.filter(({ path }) => path === '/notes');
  expect(request?.query.get('where')).toBe('{object} {{token}}');
  expect(request?.query.get('other')).toBe('{constructor}');
  expect(request?.headers['x-region']).toBe('{object} {{token}}');
  expect(JSON.stringify(vendor.requests)).not.toContain('hidden-value');
});

test('refuses deep and long templates', async () => {
  const tenant = await app.createTenant();
  const nested = Array.from({ length: 100 }).reduce<unknown>((inner) => ({ a: inner }), 'x');
  for (const listMembers of [
    { path: `/${'{{region}}'.repeat(100)}` },
    { path: `/${'a/{id}/'.repeat(1_000)}` },
    { method: 'POST', body: nested },
    { query: { a: '{{region}}'.repeat(10_000) } },
  ]) {
    const objects = { notes: createObject('notes', { list: { ...list, ...listMembers } }) };
    expect(await refuseDocument(tenant, createApiDocument({}, objects))).toContain(
      'BAD_USER_INPUT',
    );
  }
});

test('reads objects, fields and values that are named like members of prototypes', async () => {
  const tenant = await app.createTenant();
  const record =
    '{"id":"1","__proto__":{"polluted":"yes"},"constructor":{"prototype":1},"toString":"x"}';
  serve = () => ({ status: 200, body: `{"data":[${record}],"constructor":"cursor"}` });
  const names = ['constructor', 'toString', 'hasOwnProperty', 'prototype'];
  const objects = Object.fromEntries(
    names.map((name) => [
      name,
      createObject('notes', {
        list: { ...list, query: { fields: '{toString}' } },
        standardFields: { id: 'STRING', constructor: 'STRING', toString: 'STRING' },
      }),
    ]),
  );
  await createProvider(tenant, createApiDocument({}, objects));
  const account = { provider: 'x-acme', apiKey: 'secret-key' };
  const { id: connectionId } = await generateConnection(tenant, account);
  const input = { projectIdOrName: tenant.projectId, connectionId };
  const { testProvider } = await tenant.query(TEST_PROVIDER, { input });
  const read = expect.objectContaining({ recordCount: 1, problem: null });
  expect(testProvider.objects).toEqual(names.map(() => read));
  expect(({} as { polluted?: string }).polluted).toBeUndefined();
  for (const key of ['__proto__', '["__proto__"]']) {
    const document = `{"name":"x-other","displayName":"O","baseUrl":"https://a.example","authSchemes":["NONE"],"api":{"objects":{${JSON.stringify(key)}:{}}}}`;
    expect(await refuseDocument(tenant, document)).toContain('BAD_USER_INPUT');
  }
});

test('refuses documents of 100 MB over REST', async () => {
  const tenant = await app.createTenant();
  const response = await app.fetch(`/v1/projects/${tenant.projectId}/custom-providers`, {
    method: 'POST',
    headers: { 'x-api-key': tenant.apiKey, 'content-type': 'application/json' },
    body: JSON.stringify({ document: 'x'.repeat(100 * 1024 * 1024) }),
  });
  expect(response.status).toBe(413);
});

test('reads no response that is larger than the limit', async () => {
  const tenant = await app.createTenant();
  serve = () => ({
    status: 200,
    body: { data: [{ id: '1', title: 'x'.repeat(20 * 1024 * 1024) }] },
  });
  const notes = await readNotes(tenant, createApiDocument({}));
  expect(notes).toMatchObject({ recordCount: null, requests: [{ responseBody: null }] });
  expect(notes.problem).toMatch(/large|MB|bytes/);
});

test.each([
  'https://169.254.169.254',
  'https://[fd00:ec2::254]',
  'https://[::ffff:169.254.169.254]',
  'https://2852039166',
  'https://0xa9fea9fe',
  'https://10.0.0.1',
])('sends nothing to %s', async (address) => {
  const tenant = await app.createTenant();
  const { status, data, errors } = await tenant.request(CREATE_PROVIDER, {
    input: { projectIdOrName: tenant.projectId, document: createDocument(address) },
  });
  expect(status).toBeLessThan(500);
  if (errors) return expect(JSON.stringify(errors)).toContain('BAD_USER_INPUT');
  expect(data?.createProvider.customProvider.name).toBe('x-acme');
  const account = { provider: 'x-acme', apiKey: 'secret-key', skipCheck: true };
  const { id } = await generateConnection(tenant, account);
  const { problem, requests } = await testNotes(tenant, id);
  expect(problem).toMatch(/private|not allowed|refused|not permitted/i);
  expect(requests).toMatchObject([{ responseStatus: null }]);
});

test('refuses other plain HTTP addresses, and addresses with credentials', async () => {
  const tenant = await app.createTenant();
  for (const address of [
    'http://169.254.169.254',
    'http://metadata.google.internal',
    'https://user:password@api.acme.example',
    'ftp://api.acme.example',
    'http://127.0.0.1.evil.example',
    'http://localhost@evil.example',
  ]) {
    expect(await refuseDocument(tenant, createDocument(address))).toContain('BAD_USER_INPUT');
  }
});

test('follows no redirect and no link to another host', async () => {
  const tenant = await app.createTenant();
  const paging = { kind: 'nextUrl', next: '/next' };
  const objects = { notes: createObject('notes', { list: { ...list, paging } }) };
  const document = createApiDocument({}, objects);
  serve = ({ path }) =>
    path === '/notes'
      ? { status: 302, headers: { location: `${attacker.url}/stolen` } }
      : EMPTY_LIST;
  const redirected = await readNotes(tenant, document);
  expect(redirected.problem).toContain('302');
  expect(redirected.requests).toMatchObject([{ responseStatus: 302 }]);
  serve = () => ({
    status: 200,
    body: { data: [], next: `${attacker.url}/stolen` },
  });
  const { id } = await generateConnection(tenant, { provider: 'x-acme', apiKey: 'secret-key' });
  const linked = await testNotes(tenant, id);
  expect(linked.recordCount === 0 || linked.problem !== null).toBe(true);
  expect(attacker.requests).toEqual([]);
});
