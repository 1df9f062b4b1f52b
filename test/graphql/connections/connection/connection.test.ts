import { expect, test } from 'vitest';
import { getSharedApp } from '../../../support/app.ts';
import {
  GET_CREDENTIALS,
  generateConnection,
  insertInstallation,
  PROVIDERS,
  recordEvents,
} from '../../../support/fixtures/connections.ts';
import { listIssueNames } from '../../../support/graphql-client.ts';
import { toGraphqlInput } from '../../../support/inputs/graphql-input.ts';
import { createProviderApp } from '../../../support/providers/oauth.ts';

const app = await getSharedApp({ providers: PROVIDERS });
const { prisma } = app.app.services.database;

const UPDATE_CONNECTION = `mutation UpdateConnection($input: UpdateConnectionInput!) {
  updateConnection(input: $input) {
    connection { id status authScheme providerWorkspaceRef providerMetadata updateTime }
  }
}`;
const DELETE_CONNECTION = `mutation DeleteConnection($input: DeleteConnectionInput!) {
  deleteConnection(input: $input) { deletedId }
}`;
const LIST_CONNECTIONS = `query ListConnections(
  $provider: String, $groupRef: String, $consumerRef: String, $status: ConnectionStatus,
  $first: Int, $last: Int, $after: String
) {
  viewer { project { connections(
    provider: $provider, groupRef: $groupRef, consumerRef: $consumerRef, status: $status,
    first: $first, last: $last, after: $after
  ) {
    totalCount nodes { id } pageInfo { hasNextPage hasPreviousPage endCursor }
  } } }
}`;

test('keeps omitted members in an update, and clears optional ones with null', async () => {
  const tenant = await app.createTenant();
  const values = {
    apiKey: 'sandbox-key-old',
    providerWorkspaceRef: 'w',
    providerMetadata: { a: 1 },
  };
  const { id: connectionId } = await generateConnection(tenant, values);
  const listEvents = await recordEvents(app, tenant);
  await prisma.connection.updateMany({ where: { id: connectionId }, data: { status: 'WORKING' } });
  const named = { projectIdOrName: tenant.projectId, connectionId };
  const updateConnection = async (input: object) =>
    (await tenant.query(UPDATE_CONNECTION, { input: toGraphqlInput({ ...named, ...input }) }))
      .updateConnection.connection;

  const storedValues = { status: 'WORKING', providerWorkspaceRef: 'w', providerMetadata: { a: 1 } };
  expect(await updateConnection({})).toMatchObject({ ...storedValues, updateTime: null });
  expect(await listEvents()).toEqual([]);
  expect(await updateConnection({ providerMetadata: { b: 2 } })).toMatchObject({
    ...storedValues,
    providerMetadata: { b: 2 },
    updateTime: expect.any(String),
  });
  const cleared = { providerWorkspaceRef: null, providerMetadata: null };
  expect(await updateConnection(cleared)).toMatchObject({ status: 'WORKING', ...cleared });
  expect(await updateConnection({ apiKey: 'sandbox-key-new' })).toMatchObject({
    status: 'CREATED',
    authScheme: 'API_KEY',
  });
  const storedCredentials = await tenant.query(GET_CREDENTIALS, { id: connectionId });
  expect(storedCredentials.node.credentials.apiKey).toBe('sandbox-key-new');
  expect(await listEvents()).toMatchObject(
    Array(3).fill({ eventType: 'CONNECTION_UPDATED', connectionId, data: { consumerRef: 'ann' } }),
  );
});

test("accepts new credentials of the connection's scheme only", async () => {
  const tenant = await app.createTenant();
  const { id: connectionId } = await generateConnection(tenant, { apiKey: 'sandbox-key-planted' });
  const named = { projectIdOrName: tenant.projectId, connectionId };
  const basicAuth = { username: 'u', password: 'planted' };
  const expectUpdateIssues = async (input: object) => {
    const { code, problem } = await tenant.expectRefusal(UPDATE_CONNECTION, {
      input: toGraphqlInput({ ...named, ...input }),
    });
    expect(code).toBe('BAD_USER_INPUT');
    expect(JSON.stringify(problem)).not.toContain('planted');
    return listIssueNames(problem);
  };
  expect(await expectUpdateIssues({ basicAuth })).toEqual(['input.credentials.basicAuth']);
  expect(await expectUpdateIssues({ customAuth: { accountKey: 'planted' } })).toEqual([
    'input.credentials.customAuth',
  ]);
  expect(await expectUpdateIssues({ apiKey: '' })).toEqual(['input.credentials.apiKey']);
  expect(await expectUpdateIssues({ providerWorkspaceRef: '', basicAuth })).toEqual([
    'input.providerWorkspaceRef',
  ]);
  const storedCredentials = await tenant.query(GET_CREDENTIALS, { id: connectionId });
  expect(storedCredentials.node.credentials.apiKey).toBe('sandbox-key-planted');
});

test('refuses to clear a workspace that the provider needs', async () => {
  const tenant = await app.createTenant();
  const values = { basicAuth: { username: 'u', password: '' }, providerWorkspaceRef: 'acme' };
  const { id } = await generateConnection(tenant, { provider: 'freshdesk', ...values });
  for (const providerWorkspaceRef of [null, 'acme.evil.com:8080']) {
    const input = { projectIdOrName: tenant.projectId, connectionId: id, providerWorkspaceRef };
    const { problem } = await tenant.expectRefusal(UPDATE_CONNECTION, { input });
    expect(listIssueNames(problem)).toEqual(['input.providerWorkspaceRef']);
  }
});

const BASIC_AUTH = { username: 'u', password: 'p' };

test('refuses a new address without new credentials', async () => {
  const tenant = await app.createTenant();
  const values = { basicAuth: BASIC_AUTH, providerWorkspaceRef: 'acme' };
  const { id } = await generateConnection(tenant, { provider: 'freshdesk', ...values });
  const createUpdateInput = (change: object) => ({
    input: { projectIdOrName: tenant.projectId, connectionId: id, ...change },
  });
  const elsewhere = { providerWorkspaceRef: 'other' };
  const { problem } = await tenant.expectRefusal(UPDATE_CONNECTION, createUpdateInput(elsewhere));
  expect(problem.issues).toMatchObject([
    {
      name: 'input.providerWorkspaceRef',
      detail:
        'points to another origin, https://other.freshdesk.com. Send new credentials with it: stored credentials are only sent to the origin that they were entered for.',
      value: 'other',
    },
  ]);
  // The workspace may also be one of the facts.
  await prisma.connection.updateMany({
    where: { id },
    data: { providerWorkspaceRef: null, providerMetadata: { workspace: 'acme' } },
  });
  const refusal = await tenant.expectRefusal(
    UPDATE_CONNECTION,
    createUpdateInput({ providerMetadata: { workspace: { value: 'other' } } }),
  );
  expect(listIssueNames(refusal.problem)).toEqual(['input.providerMetadata.workspace']);
  await tenant.query(UPDATE_CONNECTION, createUpdateInput({ providerWorkspaceRef: 'acme' }));
  await tenant.query(
    UPDATE_CONNECTION,
    createUpdateInput({ ...elsewhere, credentials: { basicAuth: BASIC_AUTH } }),
  );
  expect(await prisma.connection.findFirst({ where: { id } })).toMatchObject(elsewhere);
});

test('checks changed facts as those of a new connection', async () => {
  const tenant = await app.createTenant();
  const facts = { zoho_token_domain: 'accounts.zoho.eu' };
  await createProviderApp(tenant, { provider: 'zoho' });
  const { id } = await generateConnection(tenant, {
    provider: 'zoho',
    providerWorkspaceRef: 'https://www.zohoapis.eu',
    providerMetadata: facts,
    oauth2AuthorizationCode: { accessToken: { token: 't' }, refreshToken: { token: 'r' } },
  });
  const createUpdateInput = (change: object) => ({
    input: { projectIdOrName: tenant.projectId, connectionId: id, ...change },
  });
  const listUpdateIssues = async (change: object) =>
    listIssueNames(
      (await tenant.expectRefusal(UPDATE_CONNECTION, createUpdateInput(change))).problem,
    );
  const domain = ['input.providerMetadata.zoho_token_domain'];
  expect(await listUpdateIssues({ providerMetadata: { zoho_token_domain: 'evil.test' } })).toEqual(
    domain,
  );
  expect(await listUpdateIssues({ providerMetadata: {} })).toEqual(domain);
  expect(await listUpdateIssues({ providerMetadata: null })).toEqual(domain);
  expect(
    await listUpdateIssues({
      providerWorkspaceRef: 'https://www.zohoapis.com',
      providerMetadata: { zoho_token_domain: 'accounts.zoho.com' },
    }),
  ).toEqual(['input.providerWorkspaceRef', ...domain]);
  expect(await listUpdateIssues({ providerWorkspaceRef: 'https://evil.test' })).toEqual([
    'input.providerWorkspaceRef',
  ]);
  await tenant.query(
    UPDATE_CONNECTION,
    createUpdateInput({ providerMetadata: { ...facts, plan: 'gold' } }),
  );
});

test('deletes a connection once, and keeps its group and consumer', async () => {
  const tenant = await app.createTenant();
  const connection = await generateConnection(tenant);
  const listEvents = await recordEvents(app, tenant);
  const input = { projectIdOrName: tenant.projectId, connectionId: connection.id };
  expect(await tenant.query(DELETE_CONNECTION, { input })).toEqual({
    deleteConnection: { deletedId: connection.id },
  });
  expect(await tenant.expectRefusal(DELETE_CONNECTION, { input })).toMatchObject({
    code: 'NOT_FOUND',
  });
  expect(await tenant.expectRefusal(UPDATE_CONNECTION, { input })).toMatchObject({
    code: 'NOT_FOUND',
  });
  expect(await listEvents()).toMatchObject([
    { eventType: 'CONNECTION_DELETED', data: { connectionId: connection.id, groupRef: 'acme' } },
  ]);
  const recreated = await generateConnection(tenant);
  expect(recreated.id).not.toBe(connection.id);
  expect(recreated.group.id).toBe(connection.group.id);
});

test('refuses to delete a connection that installations use', async () => {
  const tenant = await app.createTenant();
  const connection = await generateConnection(tenant);
  await insertInstallation(app, connection, tenant);
  const listEvents = await recordEvents(app, tenant);
  const input = { projectIdOrName: tenant.projectId, connectionId: connection.id };
  expect(await tenant.expectRefusal(DELETE_CONNECTION, { input })).toMatchObject({
    code: 'CONFLICT',
  });
  expect(await listEvents()).toEqual([]);
});

test('refuses another tenant, and callers without the scope', async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const { id: connectionId } = await generateConnection(tenant);
  const reader = await tenant.withScopes('read', 'keys:write');
  for (const [client, projectIdOrName, code] of [
    [otherTenant, tenant.projectId, 'NOT_FOUND'],
    [otherTenant, otherTenant.projectId, 'NOT_FOUND'],
    [reader, tenant.projectId, 'FORBIDDEN'],
  ] as const) {
    const named = { projectIdOrName, connectionId };
    expect(
      await client.expectRefusal(UPDATE_CONNECTION, {
        input: { ...named, credentials: { apiKey: 'mine' } },
      }),
    ).toMatchObject({
      code,
    });
    expect(await client.expectRefusal(DELETE_CONNECTION, { input: named })).toMatchObject({ code });
  }
  expect(await otherTenant.query(GET_CREDENTIALS, { id: connectionId })).toEqual({ node: null });
  const storedCredentials = await tenant.query(GET_CREDENTIALS, { id: connectionId });
  expect(storedCredentials.node.credentials.apiKey).toBe('sandbox-key');
});

test('requires credentials:read for credentials, and returns null if the scheme has none', async () => {
  const tenant = await app.createTenant();
  const key = await generateConnection(tenant, { apiKey: 'sandbox-key' });
  const basic = await generateConnection(tenant, {
    groupRef: 'basic',
    basicAuth: { username: 'u', password: 'p' },
  });
  const none = await generateConnection(tenant, { groupRef: 'none', authScheme: 'NONE' });
  const accessToken = { token: 'at', expireTime: '2026-01-01T02:00:00.000Z' };
  const oauth = await generateConnection(tenant, {
    groupRef: 'oauth',
    oauth2AuthorizationCode: { accessToken, scopes: ['a'] },
  });
  const queryCredentials = async (id: string) =>
    (await tenant.query(GET_CREDENTIALS, { id })).node.credentials;
  expect(await queryCredentials(key.id)).toEqual({
    apiKey: 'sandbox-key',
    oauth2AuthorizationCode: null,
  });
  expect(await queryCredentials(basic.id)).toBeNull();
  expect(await queryCredentials(none.id)).toBeNull();
  expect(await queryCredentials(oauth.id)).toEqual({
    apiKey: null,
    oauth2AuthorizationCode: {
      accessToken: { ...accessToken, issueTime: null },
      refreshToken: null,
      scopes: ['a'],
    },
  });
  const fullClient = await tenant.withScopes('full');
  const { data, errors } = await fullClient.request(GET_CREDENTIALS, { id: key.id });
  expect(data).toEqual({ node: { credentials: null } });
  expect(errors?.[0]?.extensions.code).toBe('FORBIDDEN');
  const { node } = await tenant.builder.query(GET_CREDENTIALS, { id: key.id });
  expect(node.credentials.apiKey).toBe('sandbox-key');
});

test('lists connections newest first, by every filter, from both ends', async () => {
  const tenant = await app.createTenant();
  const a = await generateConnection(tenant, {
    apiKey: 'sandbox-key',
    groupRef: 'g1',
    consumerRef: 'c1',
  });
  const b = await generateConnection(tenant, {
    apiKey: 'sandbox-key',
    groupRef: 'g1',
    consumerRef: 'c2',
  });
  const c = await generateConnection(tenant, {
    provider: 'stripe',
    apiKey: 'sandbox-key',
    groupRef: 'g2',
    consumerRef: 'c2',
  });
  await prisma.connection.updateMany({ where: { id: b.id }, data: { status: 'WORKING' } });
  const fetchPage = async (args: Record<string, unknown>) =>
    (await tenant.query(LIST_CONNECTIONS, args)).viewer.project.connections;
  const listIds = async (args: Record<string, unknown>) =>
    (await fetchPage(args)).nodes.map((node: { id: string }) => node.id);
  expect(await listIds({})).toEqual([c.id, b.id, a.id]);
  expect(await listIds({ last: 2 })).toEqual([b.id, a.id]);
  expect(await listIds({ provider: 'sandbox' })).toEqual([b.id, a.id]);
  expect(await listIds({ groupRef: 'g1' })).toEqual([b.id, a.id]);
  expect(await listIds({ consumerRef: 'c2' })).toEqual([c.id, b.id]);
  expect(await listIds({ status: 'CREATED' })).toEqual([c.id, a.id]);
  expect(await listIds({ groupRef: 'g1', consumerRef: 'c2', status: 'WORKING' })).toEqual([b.id]);
  expect(await fetchPage({ groupRef: 'unknown', first: 1 })).toMatchObject({
    totalCount: 0,
    nodes: [],
  });
  const firstPage = await fetchPage({ groupRef: 'g1', first: 1 });
  expect(firstPage.pageInfo).toMatchObject({ hasNextPage: true, hasPreviousPage: false });
  expect(await listIds({ groupRef: 'g1', after: firstPage.pageInfo.endCursor })).toEqual([a.id]);
});

test('checks the arguments of an empty page', async () => {
  const tenant = await app.createTenant();
  const { code } = await tenant.expectRefusal(LIST_CONNECTIONS, { groupRef: 'unknown', first: 0 });
  expect(code).toBe('BAD_USER_INPUT');
});
