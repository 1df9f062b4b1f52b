import { afterAll, beforeEach, expect, test } from 'vitest';
import { getSharedApp, type Tenant } from '../../../support/app.ts';
import { generateConnection, recordEvents } from '../../../support/fixtures/connections.ts';
import { createInstallation, createIntegration } from '../../../support/fixtures/integrations.ts';
import { WRITE_RECORDS } from '../../../support/fixtures/writes.ts';
import {
  CREATE_PROVIDER,
  createDocument,
  createObject,
  createProvider,
  DELETE_PROVIDER,
  UPDATE_PROVIDER,
} from '../../../support/inputs/custom-providers.ts';
import { startProviderServer } from '../../../support/providers/provider-server.ts';

const app = await getSharedApp({ env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' } });
const vendor = await startProviderServer(({ method, path }) => ({
  status: 200,
  body: method === 'POST' ? { data: { id: '1' } } : path === '/me' ? {} : { data: [] },
}));
afterAll(() => vendor[Symbol.asyncDispose]());
beforeEach(() => vendor.reset());

const LIST_PROVIDERS = `query ListCustomProviders($project: String!) {
  project(idOrName: $project) {
    customProviders(first: 10) { nodes { id name revision problem } }
  }
}`;

const GET_PROVIDER = `query GetProvider($name: String!, $project: String) {
  provider(name: $name, projectIdOrName: $project) { id name displayName }
}`;

const content = {
  name: 'crm',
  provider: 'x-acme',
  read: {
    objects: [
      { objectName: 'notes', destination: 'records', requiredFields: [{ fieldName: 'title' }] },
    ],
  },
  write: { objects: [{ objectName: 'notes' }, { objectName: 'tasks' }] },
};

/** Connects an account of the custom provider with a key, and installs an integration that reads and writes notes. */
async function install(tenant: Tenant) {
  const connection = await generateConnection(tenant, { provider: 'x-acme', apiKey: 'secret-key' });
  await createIntegration(app, tenant, content);
  const installation = await createInstallation(tenant);
  return { connection, installation };
}

function write(tenant: Tenant, objectName = 'notes') {
  const input = {
    projectIdOrName: tenant.projectId,
    integrationIdOrName: 'crm',
    groupRef: 'acme',
    objectName,
    type: 'CREATE',
    records: { record: { title: 'Call' } },
    mode: 'SYNCHRONOUS',
  };
  return tenant.request(WRITE_RECORDS, { input });
}

test('creates, updates, lists and deletes a custom provider', async () => {
  const tenant = await app.createTenant();
  const projectIdOrName = tenant.projectId;
  const document = createDocument(vendor.url);
  const created = (await tenant.query(CREATE_PROVIDER, { input: { projectIdOrName, document } }))
    .createProvider.customProvider;
  expect(created).toMatchObject({
    name: 'x-acme',
    revision: 1,
    document,
    problem: null,
    updateTime: null,
    project: { id: tenant.projectId },
    provider: {
      name: 'x-acme',
      displayName: 'Acme',
      objects: [{ name: 'notes' }, { name: 'tasks' }],
    },
  });
  const customProviderId = created.id;
  const update = {
    projectIdOrName,
    customProviderId,
    document: createDocument(vendor.url, {}, { notes: createObject('notes') }),
  };
  expect((await tenant.query(UPDATE_PROVIDER, { input: update })).updateProvider).toEqual({
    customProvider: {
      id: customProviderId,
      revision: 2,
      updateTime: expect.any(String),
      provider: { objects: [{ name: 'notes' }] },
    },
    suspendedConnections: 0,
    impacts: [],
  });
  expect(await tenant.query(LIST_PROVIDERS, { project: projectIdOrName })).toEqual({
    project: {
      customProviders: {
        nodes: [{ id: customProviderId, name: 'x-acme', revision: 2, problem: null }],
      },
    },
  });
  const input = { projectIdOrName, customProviderId };
  expect(await tenant.query(DELETE_PROVIDER, { input })).toEqual({
    deleteProvider: { deletedId: customProviderId },
  });
  expect(await tenant.expectRefusal(DELETE_PROVIDER, { input })).toMatchObject({
    code: 'NOT_FOUND',
  });
  expect(await tenant.query(GET_PROVIDER, { name: 'x-acme' })).toEqual({ provider: null });
});

test('connects accounts of a custom provider, and writes their records', async () => {
  const tenant = await app.createTenant();
  await createProvider(tenant, createDocument(vendor.url));
  await install(tenant);
  expect((await write(tenant)).data?.writeRecords.result).toMatchObject({
    success: true,
    recordId: '1',
  });
  expect(vendor.requests.at(-1)).toMatchObject({
    method: 'POST',
    path: '/notes',
    headers: { authorization: 'Bearer secret-key' },
    body: { title: 'Call' },
  });
});

test('hides a custom provider from other projects, which may use its name', async () => {
  const [tenant, other] = [await app.createTenant(), await app.createTenant()];
  const { id } = await createProvider(tenant, createDocument(vendor.url));
  expect(await other.query(GET_PROVIDER, { name: 'x-acme' })).toEqual({ provider: null });
  const foreign = { name: 'x-acme', project: tenant.projectId };
  expect(await other.query(GET_PROVIDER, foreign)).toEqual({ provider: null });
  const input = { projectIdOrName: other.projectId, customProviderId: id };
  expect(await other.expectRefusal(DELETE_PROVIDER, { input })).toMatchObject({
    code: 'NOT_FOUND',
  });
  const document = createDocument('https://api.other.example');
  const update = { input: { ...input, document } };
  expect(await other.expectRefusal(UPDATE_PROVIDER, update)).toMatchObject({ code: 'NOT_FOUND' });
  expect(
    await other.expectRefusal(CREATE_PROVIDER, {
      input: { projectIdOrName: tenant.projectId, document },
    }),
  ).toMatchObject({ code: 'NOT_FOUND' });
  await createProvider(other, createDocument(vendor.url, { displayName: 'Other' }));
  const [own, foreignOne] = await Promise.all(
    [tenant, other].map(
      async ({ query }) => (await query(GET_PROVIDER, { name: 'x-acme' })).provider,
    ),
  );
  expect([own.displayName, foreignOne.displayName]).toEqual(['Acme', 'Other']);
  expect(own.id).not.toBe(foreignOne.id);
  const GET_NODE = 'query GetNode($id: ID!) { node(id: $id) { ... on Provider { displayName } } }';
  expect(await tenant.query(GET_NODE, { id: own.id })).toEqual({ node: { displayName: 'Acme' } });
  expect(await tenant.query(GET_NODE, { id: foreignOne.id })).toEqual({ node: null });
});

test('sends no stored credential to other addresses, until the account is connected again', async () => {
  const tenant = await app.createTenant();
  const { id } = await createProvider(tenant, createDocument(vendor.url));
  const { installation } = await install(tenant);
  expect((await write(tenant)).data?.writeRecords.result.success).toBe(true);
  await using attacker = await startProviderServer(() => ({
    status: 200,
    body: { data: { id: '9' } },
  }));
  const input = {
    projectIdOrName: tenant.projectId,
    customProviderId: id,
    document: createDocument(attacker.url),
  };
  const refusal = await tenant.expectRefusal(UPDATE_PROVIDER, { input });
  expect(refusal).toMatchObject({ code: 'CONFLICT' });
  expect(JSON.stringify(refusal)).toContain('1 connection must be connected again');
  const { updateProvider } = await tenant.query(UPDATE_PROVIDER, {
    input: { ...input, destructive: true },
  });
  expect(updateProvider).toMatchObject({
    suspendedConnections: 1,
    impacts: [
      {
        integrationName: 'crm',
        reason: expect.stringContaining('Connect the account again'),
        installations: [{ installationId: installation.id }],
      },
    ],
  });
  const { connection } = (
    await tenant.query(
      'query GetConnection($id: ID!) { node(id: $id) { ... on Installation { connection { status } } } }',
      { id: installation.id },
    )
  ).node;
  expect(connection).toEqual({ status: 'BAD_CREDENTIALS' });
  expect(JSON.stringify(await write(tenant))).toContain('Connect the account again');
  expect(attacker.requests).toEqual([]);
  await generateConnection(tenant, { provider: 'x-acme', apiKey: 'new-key' });
  expect((await write(tenant)).data?.writeRecords.result.success).toBe(true);
  expect(JSON.stringify(attacker.requests)).toContain('Bearer new-key');
  expect(JSON.stringify(attacker.requests)).not.toContain('secret-key');
});

test('records an event for each connection that a change suspends, and none when nothing changes', async () => {
  const tenant = await app.createTenant();
  const { id } = await createProvider(tenant, createDocument(vendor.url));
  const account = { provider: 'x-acme', apiKey: 'secret-key' };
  const connections = [
    await generateConnection(tenant, account),
    await generateConnection(tenant, { ...account, consumerRef: 'bob' }),
  ];
  const listEvents = await recordEvents(app, tenant);
  const update = (url: string) => {
    const input = { projectIdOrName: tenant.projectId, customProviderId: id };
    const document = createDocument(url);
    return tenant.query(UPDATE_PROVIDER, { input: { ...input, document, destructive: true } });
  };
  await update(vendor.url);
  expect(await listEvents()).toEqual([]);
  await update('https://api.acme.example');
  await update('https://api.acme.example');
  const events = await listEvents();
  expect(events.map(({ eventType }) => eventType)).toEqual([
    'CONNECTION_ERROR',
    'CONNECTION_ERROR',
  ]);
  expect(new Set(events.map(({ connectionId }) => connectionId))).toEqual(
    new Set(connections.map((connection) => connection.id)),
  );
  expect(events[0]?.data).toMatchObject({
    provider: 'x-acme',
    groupRef: 'acme',
    errors: [expect.stringContaining('Connect the account again')],
  });
  await generateConnection(tenant, account);
  expect((await listEvents()).map(({ eventType }) => eventType)).toContain('CONNECTION_UPDATED');
});

test('suspends no connection that already waits', async () => {
  const tenant = await app.createTenant();
  const { id } = await createProvider(tenant, createDocument(vendor.url));
  await install(tenant);
  const input = { projectIdOrName: tenant.projectId, customProviderId: id };
  const moved = { ...input, document: createDocument('https://api.acme.example') };
  await tenant.query(UPDATE_PROVIDER, { input: { ...moved, destructive: true } });
  const overrides = { displayName: 'Acme Cloud' };
  const renamed = { ...input, document: createDocument('https://api.acme.example', overrides) };
  expect((await tenant.query(UPDATE_PROVIDER, { input: renamed })).updateProvider).toMatchObject({
    suspendedConnections: 0,
    impacts: [],
  });
});

test('accepts the stored credentials again when a document returns to their addresses', async () => {
  const tenant = await app.createTenant();
  const { id } = await createProvider(tenant, createDocument(vendor.url));
  await install(tenant);
  for (const url of ['https://api.acme.example', vendor.url]) {
    const input = {
      projectIdOrName: tenant.projectId,
      customProviderId: id,
      document: createDocument(url),
      destructive: true,
    };
    await tenant.query(UPDATE_PROVIDER, { input });
  }
  expect((await write(tenant)).data?.writeRecords.result.success).toBe(true);
});

test('refuses a document that breaks integrations, unless the change is destructive', async () => {
  const tenant = await app.createTenant();
  const { id } = await createProvider(tenant, createDocument(vendor.url));
  const { installation } = await install(tenant);
  const input = {
    projectIdOrName: tenant.projectId,
    customProviderId: id,
    document: createDocument(vendor.url, {}, { notes: createObject('notes') }),
  };
  expect(JSON.stringify(await tenant.expectRefusal(UPDATE_PROVIDER, { input }))).toContain(
    'write.objects[1].objectName is not an object of Acme',
  );
  const destructive = { input: { ...input, destructive: true } };
  expect((await tenant.query(UPDATE_PROVIDER, destructive)).updateProvider.impacts).toEqual([
    {
      integrationName: 'crm',
      path: '',
      reason: expect.stringContaining('is not an object of Acme'),
      installations: [{ installationId: installation.id }],
    },
  ]);
});

test('refuses to delete a custom provider that is used', async () => {
  const tenant = await app.createTenant();
  const { id } = await createProvider(tenant, createDocument(vendor.url));
  await install(tenant);
  const input = { projectIdOrName: tenant.projectId, customProviderId: id };
  const refusal = await tenant.expectRefusal(DELETE_PROVIDER, { input });
  expect(refusal).toMatchObject({ code: 'CONFLICT' });
  expect(JSON.stringify(refusal)).toContain('integrations (crm), 1 connection use x-acme');
});

test('refuses names without the prefix, another name in an update, and a taken name', async () => {
  const tenant = await app.createTenant();
  const projectIdOrName = tenant.projectId;
  const refuse = async (document: string) =>
    JSON.stringify(
      await tenant.expectRefusal(CREATE_PROVIDER, { input: { projectIdOrName, document } }),
    );
  const named = (name: string) => createDocument(vendor.url, { name });
  for (const name of ['acme', 'hubspot', 'X-acme', 'x-', 'x-a/b']) {
    expect(await refuse(named(name))).toContain('BAD_USER_INPUT');
  }
  const { id } = await createProvider(tenant, named('x-acme'));
  expect(await refuse(named('x-acme'))).toContain('CONFLICT');
  const update = { projectIdOrName, customProviderId: id, document: named('x-other') };
  expect(JSON.stringify(await tenant.expectRefusal(UPDATE_PROVIDER, { input: update }))).toContain(
    'must have the name x-acme',
  );
});

test('requires the scope providers:write', async () => {
  const tenant = await app.createTenant();
  const client = await tenant.withScopes('read', 'provider-apps:write', 'integrations:write');
  const input = { projectIdOrName: tenant.projectId, document: createDocument(vendor.url) };
  expect(await client.expectRefusal(CREATE_PROVIDER, { input })).toMatchObject({
    code: 'FORBIDDEN',
  });
});

test('has at most 50 custom providers in a project', async () => {
  const tenant = await app.createTenant();
  const { prisma } = app.app.services.database;
  await prisma.customProvider.createMany({
    data: Array.from({ length: 50 }, (_, index) => ({
      id: `cpr_${String(index).padStart(26, '0')}`,
      projectId: tenant.projectId,
      name: `x-p${index}`,
      document: '{}',
      content: {},
    })),
  });
  const input = { projectIdOrName: tenant.projectId, document: createDocument(vendor.url) };
  expect(JSON.stringify(await tenant.expectRefusal(CREATE_PROVIDER, { input }))).toContain(
    'which is the limit',
  );
});

test('shows why a stored document can no longer be used, which stops only connections of its project', async () => {
  const [tenant, other] = [await app.createTenant(), await app.createTenant()];
  await createProvider(other, createDocument(vendor.url));
  await install(other);
  const { id } = await createProvider(tenant, createDocument(vendor.url));
  await install(tenant);
  const { database, catalogs } = app.app.services;
  await database.prisma.customProvider.update({
    where: { projectId_id: { projectId: tenant.projectId, id } },
    data: { content: { name: 'x-acme' }, revision: 7 },
  });
  catalogs.forget(tenant.projectId);
  const { project } = await tenant.query(LIST_PROVIDERS, { project: tenant.projectId });
  expect(project.customProviders.nodes[0].problem).toContain('displayName');
  const refused = JSON.stringify(await write(tenant));
  expect(refused).toContain("can't use the document of x-acme");
  expect(refused).toContain('updateProvider');
  expect((await write(other)).data?.writeRecords.result.success).toBe(true);
  const input = {
    projectIdOrName: tenant.projectId,
    customProviderId: id,
    document: createDocument(vendor.url),
  };
  await tenant.query(UPDATE_PROVIDER, { input });
  expect((await write(tenant)).data?.writeRecords.result.success).toBe(true);
});

test('refuses hostile documents', async () => {
  const tenant = await app.createTenant();
  const projectIdOrName = tenant.projectId;
  const create = (document: string) =>
    tenant.request(CREATE_PROVIDER, { input: { projectIdOrName, document } });
  const documents = [
    'not: [closed',
    '"just a text"',
    '{"name": "x-acme"}',
    `${createDocument(vendor.url)}${' '.repeat(256 * 1024)}`,
    'x'.repeat(100 * 1024 * 1024),
    `{"a":${'['.repeat(5_000)}${']'.repeat(5_000)}}`,
    `a: &a [1,2]\nb: [${'*a,'.repeat(1_000)}]`,
    createDocument(vendor.url, { api: { objects: JSON.parse('{"__proto__": {"list": 1}}') } }),
  ];
  for (const document of documents) {
    const { status, errors } = await create(document);
    expect(status).toBeLessThan(500);
    expect(errors).toBeDefined();
  }
  expect(Object.prototype).not.toHaveProperty('list');
  expect((await tenant.query(LIST_PROVIDERS, { project: projectIdOrName })).project).toEqual({
    customProviders: { nodes: [] },
  });
});
