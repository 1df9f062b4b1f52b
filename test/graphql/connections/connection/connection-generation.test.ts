import { expect, test } from 'vitest';
import { newId } from '../../../../src/kernel/ids.ts';
import { getSharedApp, type Tenant } from '../../../support/app.ts';
import {
  createConnectionVariables,
  GENERATE_CONNECTION,
  GET_CREDENTIALS,
  generateConnection,
  PROVIDERS,
  recordEvents,
} from '../../../support/fixtures/connections.ts';
import { listIssueNames } from '../../../support/graphql-client.ts';

const app = await getSharedApp({ providers: PROVIDERS });
const { prisma } = app.app.services.database;

const tokens = {
  accessToken: {
    token: 'at',
    issueTime: '2026-01-01T00:00:00Z',
    expireTime: '2026-01-01T02:00:00Z',
  },
  refreshToken: { token: 'rt' },
  scopes: ['read'],
};

async function insertProviderApp({ projectId }: Tenant, provider: string) {
  const id = newId('app');
  const data = { id, projectId, provider, clientId: 'c', clientSecretSealed: 'sealed' };
  await prisma.providerApp.create({ data });
  return id;
}

test('creates a connection with its group and its consumer', async () => {
  const tenant = await app.createTenant();
  const listEvents = await recordEvents(app, tenant);
  const providerMetadata = { region: { value: 'eu', source: 'input' } };
  const input = { apiKey: 'sandbox-key', consumerName: 'Ann', providerMetadata };
  const connection = await generateConnection(tenant, input);
  expect(connection).toMatchObject({
    provider: 'sandbox',
    authScheme: 'API_KEY',
    status: 'CREATED',
    providerWorkspaceRef: null,
    providerMetadata,
    providerApp: null,
    updateTime: null,
    project: { id: tenant.projectId },
    group: { groupRef: 'acme', groupName: 'acme', updateTime: null },
    consumer: { consumerRef: 'ann', consumerName: 'Ann', updateTime: null },
  });
  expect(await listEvents()).toEqual([
    {
      eventType: 'CONNECTION_CREATED',
      connectionId: connection.id,
      data: {
        projectId: tenant.projectId,
        connectionId: connection.id,
        provider: 'sandbox',
        groupRef: 'acme',
        consumerRef: 'ann',
        consumerName: 'Ann',
      },
    },
  ]);
});

test('replaces the credentials of an existing connection', async () => {
  const tenant = await app.createTenant();
  const listEvents = await recordEvents(app, tenant);
  const createdConnection = await generateConnection(tenant, {
    apiKey: 'old',
    providerWorkspaceRef: 'w',
    groupName: 'A',
  });
  await prisma.connection.updateMany({
    where: { id: createdConnection.id },
    data: { status: 'BAD_CREDENTIALS', providerConsumerRef: 'u1' },
  });
  const basicAuth = { username: 'u', password: 'p' };
  const replaced = await generateConnection(tenant, {
    basicAuth,
    groupName: 'Acme',
    consumerName: 'Ann',
  });
  expect(replaced).toMatchObject({
    id: createdConnection.id,
    createTime: createdConnection.createTime,
    authScheme: 'BASIC',
    status: 'CREATED',
    providerWorkspaceRef: 'w',
    providerConsumerRef: null,
    group: { id: createdConnection.group.id, groupName: 'Acme' },
    consumer: { id: createdConnection.consumer.id, consumerName: 'Ann' },
  });
  expect(replaced.updateTime).not.toBeNull();
  expect(replaced.group.updateTime).not.toBeNull();

  const renewed = await generateConnection(tenant, { apiKey: 'new' });
  expect(renewed.group).toEqual(replaced.group);
  expect(renewed.consumer).toEqual(replaced.consumer);
  expect(
    (await tenant.query(GET_CREDENTIALS, { id: createdConnection.id })).node.credentials.apiKey,
  ).toBe('new');
  expect((await listEvents()).map(({ eventType }) => eventType)).toEqual([
    'CONNECTION_CREATED',
    'CONNECTION_UPDATED',
    'CONNECTION_UPDATED',
  ]);
});

test('takes the workspace from the metadata, for new and existing connections', async () => {
  const tenant = await app.createTenant();
  for (const workspace of ['first', 'second']) {
    const input = { apiKey: 'sandbox-key', providerMetadata: { workspace: { value: workspace } } };
    expect(await generateConnection(tenant, input)).toMatchObject({
      providerWorkspaceRef: workspace,
    });
  }
});

test('creates one connection for concurrent calls with equal input', async () => {
  const tenant = await app.createTenant();
  const listEvents = await recordEvents(app, tenant);
  const calls = Array.from({ length: 8 }, () =>
    generateConnection(tenant, { apiKey: 'sandbox-key', groupName: 'Acme', consumerName: 'Ann' }),
  );
  const ids = new Set((await Promise.all(calls)).map(({ id }) => id));
  expect(ids.size).toBe(1);
  expect((await listEvents()).map(({ eventType }) => eventType)).toEqual([
    'CONNECTION_CREATED',
    ...Array(7).fill('CONNECTION_UPDATED'),
  ]);
  const { projectId } = tenant;
  expect(await prisma.group.count({ where: { projectId } })).toBe(1);
  expect(await prisma.consumer.count({ where: { projectId } })).toBe(1);
});

test('creates another connection for another provider, group or consumer', async () => {
  const tenant = await app.createTenant();
  const connections = [
    await generateConnection(tenant),
    await generateConnection(tenant, { apiKey: 'sandbox-key', groupRef: 'other' }),
    await generateConnection(tenant, { apiKey: 'sandbox-key', consumerRef: 'other' }),
    await generateConnection(tenant, { apiKey: 'sandbox-key', provider: 'stripe' }),
  ];
  expect(new Set(connections.map(({ id }) => id)).size).toBe(4);
  expect(connections[1].consumer.id).toBe(connections[0].consumer.id);
  expect(connections[2].group.id).toBe(connections[0].group.id);
});

test('stores the expiry of imported tokens', async () => {
  const tenant = await app.createTenant();
  const input = { provider: 'hubspot', oauth2AuthorizationCode: tokens };
  const connection = await generateConnection(tenant, input);
  expect(connection.authScheme).toBe('OAUTH2_AUTHORIZATION_CODE');
  const row = await prisma.connection.findFirstOrThrow({ where: { id: connection.id } });
  expect(row.tokenExpireTime).toEqual(new Date('2026-01-01T02:00:00Z'));

  const refreshOnly = { oauth2AuthorizationCode: { refreshToken: { token: 'rt2' } } };
  await generateConnection(tenant, { provider: 'hubspot', ...refreshOnly });
  const updatedRow = await prisma.connection.findFirstOrThrow({ where: { id: connection.id } });
  expect(updatedRow.tokenExpireTime).toBeNull();
});

test('uses the named provider app for an OAuth connection, or else the newest', async () => {
  const tenant = await app.createTenant();
  const input = { provider: 'hubspot', oauth2AuthorizationCode: tokens };
  expect((await generateConnection(tenant, input)).providerApp).toBeNull();
  const [older, newer] = [
    await insertProviderApp(tenant, 'hubspot'),
    await insertProviderApp(tenant, 'hubspot'),
  ];
  await insertProviderApp(tenant, 'slack');
  expect((await generateConnection(tenant, input)).providerApp).toEqual({ id: newer });
  expect(
    (await generateConnection(tenant, { ...input, providerAppId: older })).providerApp,
  ).toEqual({
    id: older,
  });
});

test('refuses an app of another project or another provider', async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  for (const providerAppId of [
    await insertProviderApp(otherTenant, 'sandbox'),
    await insertProviderApp(tenant, 'slack'),
    newId('app'),
  ]) {
    const { problem } = await tenant.expectRefusal(
      GENERATE_CONNECTION,
      createConnectionVariables(tenant, { apiKey: 'sandbox-key', providerAppId }),
    );
    expect(listIssueNames(problem)).toEqual(['input.providerAppId']);
  }
});

test('reports every issue of a phase together, without secrets', async () => {
  const tenant = await app.createTenant();
  const wrong = createConnectionVariables(tenant, {
    groupRef: '',
    consumerName: '',
    providerMetadata: { text: 'x'.repeat(16_384) },
    basicAuth: { username: '', password: 'planted\n' },
  });
  const { code, problem } = await tenant.expectRefusal(GENERATE_CONNECTION, wrong);
  expect(code).toBe('BAD_USER_INPUT');
  expect(listIssueNames(problem)).toEqual([
    'input.groupRef',
    'input.consumerName',
    'input.providerMetadata',
    'input.credentials.basicAuth.username',
    'input.credentials.basicAuth.password',
  ]);
  expect(JSON.stringify(problem)).not.toContain('planted');

  const basicAuth = { username: 'planted', password: 'planted' };
  const together = await tenant.expectRefusal(
    GENERATE_CONNECTION,
    createConnectionVariables(tenant, { apiKey: 'k', basicAuth }),
  );
  expect(listIssueNames(together.problem)).toEqual(['input.credentials']);
  expect(JSON.stringify(together.problem)).not.toContain('planted');

  const unfit = { provider: 'salesforce', apiKey: 'planted', providerAppId: newId('app') };
  const response = await tenant.expectRefusal(
    GENERATE_CONNECTION,
    createConnectionVariables(tenant, unfit),
  );
  expect(listIssueNames(response.problem)).toEqual([
    'input.providerWorkspaceRef',
    'input.credentials.apiKey',
    'input.providerAppId',
  ]);
  const unknownRefs = { provider: 'unknown', providerAppId: newId('app') };
  const unknown = await tenant.expectRefusal(
    GENERATE_CONNECTION,
    createConnectionVariables(tenant, unknownRefs),
  );
  expect(unknown.problem.issues).toMatchObject([
    { name: 'input.provider', value: 'unknown' },
    { name: 'input.providerAppId', value: unknownRefs.providerAppId },
  ]);
  expect(await prisma.group.count({ where: { projectId: tenant.projectId } })).toBe(0);
});

test("requires a valid workspace if the provider's address contains it", async () => {
  const tenant = await app.createTenant();
  const input = { provider: 'salesforce', oauth2AuthorizationCode: tokens };
  for (const providerWorkspaceRef of [undefined, null, 'evil.com/', 'a b', 'x@y', 'a..b']) {
    const wrong = createConnectionVariables(tenant, { ...input, providerWorkspaceRef });
    const { problem } = await tenant.expectRefusal(GENERATE_CONNECTION, wrong);
    expect(listIssueNames(problem)).toEqual(['input.providerWorkspaceRef']);
  }
  const connection = await generateConnection(tenant, {
    ...input,
    providerWorkspaceRef: 'acme--dev.sandbox',
  });
  expect(connection).toMatchObject({
    authScheme: 'OAUTH2_AUTHORIZATION_CODE_PKCE',
    providerWorkspaceRef: 'acme--dev.sandbox',
  });
});

test('requires connections:write, and returns NOT_FOUND to another tenant', async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const writer = await tenant.withScopes('connections:write', 'read');
  await writer.query(GENERATE_CONNECTION, createConnectionVariables(tenant));
  const reader = await tenant.withScopes('read', 'keys:write');
  expect(
    await reader.expectRefusal(GENERATE_CONNECTION, createConnectionVariables(tenant)),
  ).toMatchObject({ code: 'FORBIDDEN' });
  expect(
    await otherTenant.expectRefusal(GENERATE_CONNECTION, createConnectionVariables(tenant)),
  ).toMatchObject({ code: 'NOT_FOUND' });
});

test('stores an app of the right provider or none if apps are moved or deleted at the same time', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const change = `mutation UpdateProviderApp($move: UpdateProviderAppInput!) {
    updateProviderApp(input: $move) { providerApp { id } }
  }`;
  const remove = `mutation DeleteProviderApp($input: DeleteProviderAppInput!) {
    deleteProviderApp(input: $input) { deletedId }
  }`;
  const input = { provider: 'hubspot', oauth2AuthorizationCode: tokens };
  for (let round = 0; round < 5; round += 1) {
    const named = {
      projectIdOrName: projectId,
      providerAppId: await insertProviderApp(tenant, 'hubspot'),
    };
    const move = { ...named, updateMask: ['PROVIDER'], providerApp: { provider: 'slack' } };
    const responses = await Promise.all([
      tenant.request(
        GENERATE_CONNECTION,
        createConnectionVariables(tenant, { ...input, groupRef: `group ${round}` }),
      ),
      tenant.request(change, { move }),
      tenant.request(remove, { input: named }),
    ]);
    const codes = responses.flatMap(({ errors = [] }) =>
      errors.map((error) => error.extensions.code),
    );
    expect(['CONFLICT', 'NOT_FOUND']).toEqual(expect.arrayContaining([...new Set(codes)]));
    const connections = await prisma.connection.findMany({
      where: { projectId },
      include: { providerApp: true },
    });
    expect(connections).toHaveLength(round + 1);
    for (const { providerApp } of connections)
      expect(providerApp?.provider ?? 'hubspot').toBe('hubspot');
  }
});

test('refuses times outside of the years 0001 to 9999 in UTC', async () => {
  const tenant = await app.createTenant();
  const requestImport = (expireTime: string) => {
    const oauth2AuthorizationCode = { accessToken: { token: 'at', expireTime } };
    return tenant.request(
      GENERATE_CONNECTION,
      createConnectionVariables(tenant, { provider: 'hubspot', oauth2AuthorizationCode }),
    );
  };
  const name = 'input.credentials.oauth2AuthorizationCode.accessToken.expireTime';
  for (const time of [
    '0000-01-01T00:00:00Z',
    '0001-01-01T00:00:00+23:59',
    '9999-12-31T23:59:59-23:59',
  ]) {
    const { errors } = await requestImport(time);
    expect(errors?.[0]?.extensions).toMatchObject({
      code: 'BAD_USER_INPUT',
      problem: { issues: [{ name }] },
    });
  }
  for (const time of ['0001-01-01T00:00:00Z', '9999-12-31T23:59:59.999Z']) {
    expect((await requestImport(time)).errors).toBeUndefined();
  }
});
