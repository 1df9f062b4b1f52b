import { expect, test } from 'vitest';
import {
  ALL_SCOPES,
  type Scope,
  toScopeName,
} from '../../../../src/domain/access/viewer/scopes.ts';
import { getSharedApp, type Tenant } from '../../../support/app.ts';
import { recordStatements } from '../../../support/database/statements.ts';
import { listIssueNames } from '../../../support/graphql-client.ts';

const app = await getSharedApp();

const CREATE_API_KEY = `mutation CreateApiKey($input: CreateApiKeyInput!) {
  createApiKey(input: $input) {
    key
    apiKey { id label scopes active prefix lastUsedTime createTime project { id } }
  }
}`;
const UPDATE_API_KEY = `mutation UpdateApiKey($input: UpdateApiKeyInput!) {
  updateApiKey(input: $input) { apiKey { id label scopes active } }
}`;
const DELETE_API_KEY = `mutation DeleteApiKey($input: DeleteApiKeyInput!) {
  deleteApiKey(input: $input) { deletedId }
}`;
const LIST_API_KEYS = `query ListApiKeys($active: Boolean, $first: Int, $last: Int, $after: String) {
  viewer {
    project {
      apiKeys(active: $active, first: $first, last: $last, after: $after) {
        totalCount
        nodes { id label active }
        pageInfo { hasNextPage hasPreviousPage endCursor }
      }
    }
  }
}`;
const QUERY_VIEWER = '{ viewer { kind scopes } }';

async function createKey(tenant: Tenant, overrides: { label?: string; scopes?: string[] } = {}) {
  const input = {
    projectIdOrName: tenant.projectId,
    label: 'server',
    scopes: ['FULL'],
    ...overrides,
  };
  return (await tenant.query(CREATE_API_KEY, { input })).createApiKey;
}

function createClient(key: string) {
  return app.createClient({ 'x-api-key': key });
}

test('returns the value of a new key once, with the default scope full', async () => {
  const tenant = await app.createTenant();
  const { key, apiKey } = await createKey(tenant, { label: ' The server ' });
  expect(apiKey).toMatchObject({
    label: 'The server',
    scopes: ['FULL'],
    active: true,
    prefix: key.slice(0, 10),
    lastUsedTime: null,
    project: { id: tenant.projectId },
  });
  expect(await createClient(key).query(QUERY_VIEWER)).toEqual({
    viewer: { kind: 'API_KEY', scopes: ['FULL'] },
  });
  const storedKey = await app.app.services.database.reads.find('ApiKey', { id: apiKey.id });
  expect(JSON.stringify(storedKey)).not.toContain(key);
});

test('shares statements among concurrently created keys', async () => {
  const tenant = await app.createTenant();
  const labels = Array.from({ length: 20 }, (_, index) => `server ${index}`);
  const { result, statements } = await recordStatements(() =>
    Promise.all(labels.map((label) => createKey(tenant, { label }))),
  );
  expect(result.map(({ apiKey }) => apiKey.label)).toEqual(labels);
  for (const { key, apiKey } of result) expect(apiKey.prefix).toBe(key.slice(0, 10));
  const inserts = statements.filter(({ text }) => /insert into "(public"\.")?ApiKey"/i.test(text));
  // Without sharing, each key would have its own statement.
  expect(inserts.length).toBeLessThan(labels.length);
});

test('reports every invalid member of a key', async () => {
  const tenant = await app.createTenant();
  const scopes = ['READ', 'RECORDS_READ', 'READ'];
  const input = { projectIdOrName: tenant.projectId, label: ' ', scopes };
  const { code, problem } = await tenant.expectRefusal(CREATE_API_KEY, { input });
  expect(code).toBe('BAD_USER_INPUT');
  expect(problem.issues?.map(({ name, value }) => [name, value])).toEqual([
    ['input.label', ' '],
    ['input.scopes[2]', 'READ'],
  ]);
});

test('refuses a key without scopes or with a scope that does not exist', async () => {
  const tenant = await app.createTenant();
  const input = { projectIdOrName: tenant.projectId, label: 'server' };
  const missingScopes = await tenant.expectRefusal(CREATE_API_KEY, { input });
  expect(missingScopes.problem.issues).toMatchObject([
    { name: 'input.scopes', detail: 'is required.' },
  ]);
  const unknown = await tenant.expectRefusal(CREATE_API_KEY, {
    input: { ...input, scopes: ['EVERYTHING'] },
  });
  expect(unknown.problem.issues).toMatchObject([
    { name: 'input.scopes[0]', detail: expect.stringContaining('CONNECTIONS_WRITE') },
  ]);
});

test('refuses to grant scopes that the granting key lacks', async () => {
  const tenant = await app.createTenant();
  const createInput = (scopes: Scope[]) => ({
    input: { projectIdOrName: tenant.projectId, label: 'more', scopes: scopes.map(toScopeName) },
  });
  const narrow = await tenant.withScopes('keys:write', 'read');
  for (const scopes of [['read', 'records:write'], ['full']] satisfies Scope[][]) {
    const { code, problem } = await narrow.expectRefusal(CREATE_API_KEY, createInput(scopes));
    expect(code).toBe('FORBIDDEN');
    expect(problem.detail).toContain(scopes.at(-1));
    expect(problem.detail).not.toContain('read,');
  }
  await narrow.query(CREATE_API_KEY, createInput(['keys:write', 'read']));

  const fullClient = await tenant.withScopes('full');
  const implied = ALL_SCOPES.filter((scope) => !['org:write', 'credentials:read'].includes(scope));
  await fullClient.query(CREATE_API_KEY, createInput(implied));
  for (const scope of ['org:write', 'credentials:read'] satisfies Scope[]) {
    expect(
      (await fullClient.expectRefusal(CREATE_API_KEY, createInput([scope]))).problem.detail,
    ).toContain(scope);
  }
  await tenant.builder.query(CREATE_API_KEY, createInput([...ALL_SCOPES]));
});

test("refuses to extend or activate a key beyond the caller's scopes", async () => {
  const tenant = await app.createTenant();
  const { apiKey } = await createKey(tenant, { scopes: ['READ'] });
  const narrow = await tenant.withScopes('keys:write');
  const key = { projectIdOrName: tenant.projectId, apiKeyId: apiKey.id };
  const raised = { input: { ...key, scopes: ['RECORDS_WRITE'] } };
  expect(await narrow.expectRefusal(UPDATE_API_KEY, raised)).toMatchObject({ code: 'FORBIDDEN' });
  await narrow.query(UPDATE_API_KEY, { input: { ...key, active: false } });
  expect(
    await narrow.expectRefusal(UPDATE_API_KEY, { input: { ...key, active: true } }),
  ).toMatchObject({ code: 'FORBIDDEN' });
  const { nodes } = (await tenant.query(LIST_API_KEYS)).viewer.project.apiKeys;
  expect(nodes).toContainEqual({ id: apiKey.id, label: 'server', active: false });
});

test('keeps omitted members in an update, and refuses null', async () => {
  const tenant = await app.createTenant();
  const { key, apiKey } = await createKey(tenant);
  const named = { projectIdOrName: tenant.projectId, apiKeyId: apiKey.id };
  const updateKey = (change: object) =>
    tenant.query(UPDATE_API_KEY, { input: { ...named, ...change } });

  expect((await updateKey({})).updateApiKey.apiKey).toMatchObject({
    label: 'server',
    active: true,
  });
  expect((await updateKey({ label: 'worker' })).updateApiKey.apiKey).toEqual({
    id: apiKey.id,
    label: 'worker',
    scopes: ['FULL'],
    active: true,
  });
  expect((await updateKey({ scopes: ['READ'] })).updateApiKey.apiKey.scopes).toEqual(['READ']);
  expect(await createClient(key).query(QUERY_VIEWER)).toMatchObject({
    viewer: { scopes: ['READ'] },
  });

  const input = { ...named, label: null, scopes: null, active: null };
  const { problem } = await tenant.expectRefusal(UPDATE_API_KEY, { input });
  expect(listIssueNames(problem)).toEqual(['input.label', 'input.scopes', 'input.active']);
});

test('rejects an inactive key and a deleted key immediately', async () => {
  const tenant = await app.createTenant();
  const { key, apiKey } = await createKey(tenant);
  const named = { projectIdOrName: tenant.projectId, apiKeyId: apiKey.id };
  const expectRefused = async () => {
    const { status, errors } = await createClient(key).request(QUERY_VIEWER);
    expect([status, errors?.[0]?.extensions.code]).toEqual([401, 'UNAUTHENTICATED']);
  };
  await createClient(key).query(QUERY_VIEWER);
  await tenant.query(UPDATE_API_KEY, { input: { ...named, active: false } });
  await expectRefused();
  await tenant.query(UPDATE_API_KEY, { input: { ...named, active: true } });
  await createClient(key).query(QUERY_VIEWER);
  const input = { projectIdOrName: tenant.projectId, apiKey: apiKey.id };
  expect(await tenant.query(DELETE_API_KEY, { input })).toEqual({
    deleteApiKey: { deletedId: apiKey.id },
  });
  await expectRefused();
  expect(await tenant.expectRefusal(DELETE_API_KEY, { input })).toMatchObject({
    code: 'NOT_FOUND',
  });
});

test('deletes a key by its value, also with the key itself', async () => {
  const tenant = await app.createTenant();
  const { key, apiKey } = await createKey(tenant);
  const input = { projectIdOrName: tenant.projectId, apiKey: key };
  expect(await createClient(key).query(DELETE_API_KEY, { input })).toEqual({
    deleteApiKey: { deletedId: apiKey.id },
  });
  const { code, problem } = await tenant.expectRefusal(DELETE_API_KEY, { input });
  expect(code).toBe('NOT_FOUND');
  expect(JSON.stringify(problem)).not.toContain(key);
});

test("returns NOT_FOUND for another tenant's key", async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const { key, apiKey } = await createKey(tenant);
  for (const projectIdOrName of [tenant.projectId, otherTenant.projectId]) {
    const changed = { input: { projectIdOrName, apiKeyId: apiKey.id, active: false } };
    expect(await otherTenant.expectRefusal(UPDATE_API_KEY, changed)).toMatchObject({
      code: 'NOT_FOUND',
    });
    for (const named of [key, apiKey.id]) {
      const deletionVariables = { input: { projectIdOrName, apiKey: named } };
      expect(await otherTenant.expectRefusal(DELETE_API_KEY, deletionVariables)).toMatchObject({
        code: 'NOT_FOUND',
      });
    }
  }
  const creation = {
    input: { projectIdOrName: tenant.projectId, label: 'mine', scopes: ['READ'] },
  };
  expect(await otherTenant.expectRefusal(CREATE_API_KEY, creation)).toMatchObject({
    code: 'NOT_FOUND',
  });
  await createClient(key).query(QUERY_VIEWER);
});

test('requires keys:write to change keys', async () => {
  const tenant = await app.createTenant();
  const { apiKey } = await createKey(tenant);
  const reader = await tenant.withScopes('read', 'records:write');
  const { projectId: projectIdOrName } = tenant;
  for (const [mutation, input] of [
    [CREATE_API_KEY, { projectIdOrName, label: 'x', scopes: ['READ'] }],
    [UPDATE_API_KEY, { projectIdOrName, apiKeyId: apiKey.id, label: 'x' }],
    [DELETE_API_KEY, { projectIdOrName, apiKey: apiKey.id }],
  ] as const) {
    const { code, problem } = await reader.expectRefusal(mutation, { input });
    expect(code).toBe('FORBIDDEN');
    expect(problem.detail).toContain('keys:write');
  }
  await reader.query(LIST_API_KEYS);
});

test('lists keys newest first, by active, from both ends', async () => {
  const tenant = await app.createTenant();
  for (const label of ['one', 'two', 'three']) await createKey(tenant, { label });
  const readPage = async (args: Record<string, unknown>) =>
    (await tenant.query(LIST_API_KEYS, args)).viewer.project.apiKeys;
  const listLabels = async (args: Record<string, unknown>) =>
    (await readPage(args)).nodes.map((node: { label: string }) => node.label);
  expect(await listLabels({})).toEqual(['three', 'two', 'one', 'test']);
  expect(await listLabels({ last: 2 })).toEqual(['one', 'test']);

  const [newestKey] = (await readPage({ first: 1 })).nodes;
  const input = { projectIdOrName: tenant.projectId, apiKeyId: newestKey.id, active: false };
  await tenant.query(UPDATE_API_KEY, { input });
  expect(await listLabels({ active: true })).toEqual(['two', 'one', 'test']);
  expect(await readPage({ active: false })).toMatchObject({
    totalCount: 1,
    nodes: [newestKey].map(({ id }) => ({ id, label: 'three', active: false })),
  });
  const firstPage = await readPage({ active: true, first: 2 });
  expect(firstPage.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
  expect(await listLabels({ active: true, first: 2, after: firstPage.pageInfo.endCursor })).toEqual(
    ['test'],
  );
});

test('returns one issue for more scopes than exist, valid or not', async () => {
  const tenant = await app.createTenant();
  for (const name of ['read', 'nothing']) {
    const input = {
      projectIdOrName: tenant.projectId,
      label: 'x',
      scopes: Array.from({ length: 50_000 }, () => name),
    };
    const { code, problem } = await tenant.expectRefusal(CREATE_API_KEY, { input });
    expect(code).toBe('BAD_USER_INPUT');
    expect(listIssueNames(problem)).toEqual(['input.scopes']);
  }
});

test('deletes a key once when several callers delete it at the same time', async () => {
  const tenant = await app.createTenant();
  const { apiKey } = await createKey(tenant, { label: 'shared' });
  const query = `mutation DeleteApiKey($input: DeleteApiKeyInput!) {
    deleteApiKey(input: $input) { deletedId }
  }`;
  const input = { projectIdOrName: tenant.projectId, apiKey: apiKey.id };
  const results = await Promise.all(
    Array.from({ length: 16 }, () => tenant.request(query, { input })),
  );
  const codes = results.map(({ errors }) => errors?.[0]?.extensions.code ?? 'OK');
  expect(codes.toSorted()).toEqual([...Array(15).fill('NOT_FOUND'), 'OK']);
});
