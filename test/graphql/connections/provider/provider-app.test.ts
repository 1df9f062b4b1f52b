import { expect, test } from 'vitest';
import { toClientSecretLocation } from '../../../../src/domain/connections/provider/provider-app.ts';
import { newId } from '../../../../src/kernel/ids.ts';
import { CATALOG } from '../../../../src/providers/catalog/all-entries.ts';
import { getSharedApp, type Tenant } from '../../../support/app.ts';
import { listIssueNames } from '../../../support/graphql-client.ts';

const app = await getSharedApp({ providers: [...CATALOG] });
const { database, vault } = app.app.services;

const APP_FIELDS =
  'id provider clientId externalRef scopes warnings metadata createTime updateTime';
const CREATE_PROVIDER_APP = `mutation CreateProviderApp($input: CreateProviderAppInput!) {
  createProviderApp(input: $input) { providerApp { ${APP_FIELDS} project { id } } }
}`;
const UPDATE_PROVIDER_APP = `mutation UpdateProviderApp($input: UpdateProviderAppInput!) {
  updateProviderApp(input: $input) { providerApp { ${APP_FIELDS} } }
}`;
const DELETE_PROVIDER_APP = `mutation DeleteProviderApp($input: DeleteProviderAppInput!) {
  deleteProviderApp(input: $input) { deletedId }
}`;
const LIST_PROVIDER_APPS = `query ListProviderApps($provider: String, $first: Int, $last: Int) {
  viewer { project { providerApps(provider: $provider, first: $first, last: $last) {
    totalCount nodes { clientId } pageInfo { hasNextPage hasPreviousPage }
  } } }
}`;

const metadata = {
  authQueryParams: { optional_scope: ['a', 'b'], prompt: 'consent' },
  providerParams: { gcpProjectId: 'p' },
};

async function createProviderApp(tenant: Tenant, overrides: object = {}) {
  const input = {
    projectIdOrName: tenant.projectId,
    provider: 'github',
    clientId: 'client',
    clientSecret: 'shh',
    ...overrides,
  };
  return (await tenant.query(CREATE_PROVIDER_APP, { input })).createProviderApp.providerApp;
}

test('warns of scopes with which the provider issues no refresh token', async () => {
  const tenant = await app.createTenant();
  const warning = /^Atlassian issues no refresh token without the scope `offline_access`: /;
  for (const [provider, scopes, warnings] of [
    ['atlassian', ['read:jira-work'], [expect.stringMatching(warning)]],
    ['atlassian', ['read:jira-work', 'offline_access'], []],
    // Each connect names the scopes.
    ['atlassian', [], []],
    ['microsoft', ['User.Read'], [expect.stringContaining('`offline_access`')]],
    ['dynamicsCRM', ['user_impersonation'], [expect.stringContaining('`offline_access`')]],
    ['xero', ['accounting.contacts'], [expect.stringContaining('`offline_access`')]],
    ['close', ['all.full_access'], [expect.stringContaining('`offline_access`')]],
    ['github', ['repo'], []],
  ] as const) {
    expect((await createProviderApp(tenant, { provider, scopes })).warnings).toEqual(warnings);
  }
  const { id: providerAppId } = await createProviderApp(tenant, { provider: 'xero' });
  const { updateProviderApp } = await tenant.query(UPDATE_PROVIDER_APP, {
    input: {
      projectIdOrName: tenant.projectId,
      providerAppId,
      updateMask: ['SCOPES'],
      providerApp: { scopes: ['accounting.contacts'] },
    },
  });
  expect(updateProviderApp.providerApp.warnings).toHaveLength(1);
});

async function insertConnection(tenant: Tenant, providerAppId: string) {
  const { projectId } = tenant;
  const [groupId, consumerId] = [newId('grp'), newId('csm')];
  const { prisma } = database;
  await prisma.group.create({
    data: { id: groupId, projectId, groupRef: groupId, groupName: 'group' },
  });
  await prisma.consumer.create({
    data: { id: consumerId, projectId, consumerRef: consumerId, consumerName: 'consumer' },
  });
  await prisma.connection.create({
    data: {
      id: newId('con'),
      projectId,
      groupId,
      consumerId,
      providerAppId,
      provider: 'github',
      authScheme: 'OAUTH2_AUTHORIZATION_CODE',
    },
  });
}

async function openSecret(id: string) {
  const row = await database.prisma.providerApp.findFirstOrThrow({ where: { id } });
  return vault.open(row.clientSecretSealed, toClientSecretLocation(id, row.projectId));
}

test('creates an app with its secret sealed', async () => {
  const tenant = await app.createTenant();
  const members = { externalRef: 'ref', scopes: ['repo'], metadata };
  const createdApp = await createProviderApp(tenant, members);
  expect(createdApp).toMatchObject({
    provider: 'github',
    clientId: 'client',
    ...members,
    updateTime: null,
    project: { id: tenant.projectId },
  });
  expect(await openSecret(createdApp.id)).toBe('shh');
  expect(await createProviderApp(tenant)).toMatchObject({
    externalRef: null,
    scopes: [],
    metadata: null,
  });
});

test('reports every invalid member of a new app, without its secret', async () => {
  const tenant = await app.createTenant();
  const input = {
    projectIdOrName: tenant.projectId,
    provider: 'github',
    clientId: '',
    clientSecret: 'line\nbreak',
    scopes: ['ok', ''],
    metadata: { authQueryParams: { prompt: 1 }, other: {} },
  };
  const { code, problem } = await tenant.expectRefusal(CREATE_PROVIDER_APP, { input });
  expect(code).toBe('BAD_USER_INPUT');
  expect(listIssueNames(problem)).toEqual([
    'input.clientId',
    'input.clientSecret',
    'input.scopes[1]',
    'input.metadata.authQueryParams.prompt',
    'input.metadata.other',
  ]);
  expect(JSON.stringify(problem)).not.toContain('break');

  const unknown = { ...input, clientSecret: 's', scopes: [], metadata: {} };
  const response = await tenant.expectRefusal(CREATE_PROVIDER_APP, {
    input: { ...unknown, provider: 'unknown' },
  });
  expect(response.problem.issues).toMatchObject([{ name: 'input.clientId', value: '' }]);
  const elsewhere = { ...unknown, clientId: 'c', provider: 'unknown' };
  const { problem: providerProblem } = await tenant.expectRefusal(CREATE_PROVIDER_APP, {
    input: elsewhere,
  });
  expect(providerProblem.issues).toMatchObject([{ name: 'input.provider', value: 'unknown' }]);
});

test('writes exactly the fields in the mask', async () => {
  const tenant = await app.createTenant();
  const createdApp = await createProviderApp(tenant, {
    externalRef: 'ref',
    scopes: ['repo'],
    metadata,
  });
  const named = { projectIdOrName: tenant.projectId, providerAppId: createdApp.id };
  const updateApp = async (updateMask: string[], providerApp: object) => {
    const input = { ...named, updateMask, providerApp };
    return (await tenant.query(UPDATE_PROVIDER_APP, { input })).updateProviderApp.providerApp;
  };
  const unmasked = { clientSecret: '', provider: 'unknown', scopes: [''], metadata: { x: 1 } };
  const { project: _project, ...unchanged } = createdApp;
  expect(await updateApp(['CLIENT_ID'], { ...unmasked, clientId: 'other' })).toEqual({
    ...unchanged,
    clientId: 'other',
    updateTime: expect.any(String),
  });
  expect(await openSecret(createdApp.id)).toBe('shh');

  await updateApp(['CLIENT_SECRET', 'CLIENT_SECRET'], { clientSecret: 'new' });
  expect(await openSecret(createdApp.id)).toBe('new');

  const cleared = { externalRef: null, scopes: null, metadata: null };
  expect(await updateApp(['EXTERNAL_REF', 'SCOPES', 'METADATA'], cleared)).toMatchObject({
    externalRef: null,
    scopes: [],
    metadata: null,
    clientId: 'other',
  });
  expect(await updateApp(['PROVIDER'], { provider: 'slack' })).toMatchObject({ provider: 'slack' });
});

test('refuses an omitted, null or invalid field in the mask, and an empty mask', async () => {
  const tenant = await app.createTenant();
  const createdApp = await createProviderApp(tenant);
  const named = { projectIdOrName: tenant.projectId, providerAppId: createdApp.id };
  const expectProblem = async (updateMask: string[], providerApp: object) => {
    const { code, problem } = await tenant.expectRefusal(UPDATE_PROVIDER_APP, {
      input: { ...named, updateMask, providerApp },
    });
    expect(code).toBe('BAD_USER_INPUT');
    return problem;
  };
  expect(listIssueNames(await expectProblem([], { clientId: 'x' }))).toEqual(['input.updateMask']);
  const mask = ['EXTERNAL_REF', 'CLIENT_ID', 'CLIENT_SECRET', 'PROVIDER', 'SCOPES', 'METADATA'];
  const omission = await expectProblem(mask, {});
  expect(listIssueNames(omission)).toEqual([
    'input.providerApp.externalRef',
    'input.providerApp.clientId',
    'input.providerApp.clientSecret',
    'input.providerApp.provider',
    'input.providerApp.scopes',
    'input.providerApp.metadata',
  ]);
  expect(omission.issues?.every(({ detail }) => detail.includes('updateMask'))).toBe(true);
  const nulls = { clientId: null, clientSecret: null, provider: null };
  expect(
    listIssueNames(await expectProblem(['CLIENT_ID', 'CLIENT_SECRET', 'PROVIDER'], nulls)),
  ).toEqual([
    'input.providerApp.clientId',
    'input.providerApp.clientSecret',
    'input.providerApp.provider',
  ]);
  const wrong = { provider: 'unknown', metadata: { providerParams: { a: ['b'] } }, clientId: '' };
  expect(listIssueNames(await expectProblem(['PROVIDER', 'METADATA'], wrong))).toEqual([
    'input.providerApp.metadata.providerParams.a',
  ]);
  expect(listIssueNames(await expectProblem(['PROVIDER'], wrong))).toEqual([
    'input.providerApp.provider',
  ]);
  expect((await tenant.query(LIST_PROVIDER_APPS)).viewer.project.providerApps.nodes).toEqual([
    { clientId: 'client' },
  ]);
});

test('refuses to delete an app that connections use, or to change its provider', async () => {
  const tenant = await app.createTenant();
  const { id } = await createProviderApp(tenant);
  await insertConnection(tenant, id);
  const named = { projectIdOrName: tenant.projectId, providerAppId: id };
  const createUpdate = (provider: string) => ({
    input: { ...named, updateMask: ['PROVIDER'], providerApp: { provider } },
  });
  expect(await tenant.expectRefusal(UPDATE_PROVIDER_APP, createUpdate('slack'))).toMatchObject({
    code: 'CONFLICT',
  });
  expect(await tenant.expectRefusal(DELETE_PROVIDER_APP, { input: named })).toMatchObject({
    code: 'CONFLICT',
  });
  expect(
    (await tenant.query(UPDATE_PROVIDER_APP, createUpdate('github'))).updateProviderApp.providerApp,
  ).toMatchObject({
    id,
    provider: 'github',
  });
});

test('deletes an app once', async () => {
  const tenant = await app.createTenant();
  const { id } = await createProviderApp(tenant);
  const input = { projectIdOrName: tenant.projectId, providerAppId: id };
  expect(await tenant.query(DELETE_PROVIDER_APP, { input })).toEqual({
    deleteProviderApp: { deletedId: id },
  });
  expect(await tenant.expectRefusal(DELETE_PROVIDER_APP, { input })).toMatchObject({
    code: 'NOT_FOUND',
  });
});

test('refuses another tenant, and callers without the scope', async () => {
  const [owner, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const { id } = await createProviderApp(owner);
  const changed = { updateMask: ['CLIENT_ID'], providerApp: { clientId: 'mine' } };
  const expectRefusals = async (
    client: Pick<Tenant, 'expectRefusal'>,
    projectIdOrName: string,
    code: string,
  ) => {
    const named = { projectIdOrName, providerAppId: id };
    expect(
      await client.expectRefusal(UPDATE_PROVIDER_APP, { input: { ...named, ...changed } }),
    ).toMatchObject({
      code,
    });
    expect(await client.expectRefusal(DELETE_PROVIDER_APP, { input: named })).toMatchObject({
      code,
    });
  };
  await expectRefusals(otherTenant, owner.projectId, 'NOT_FOUND');
  await expectRefusals(otherTenant, otherTenant.projectId, 'NOT_FOUND');
  const reader = await owner.withScopes('read', 'connections:write');
  await expectRefusals(reader, owner.projectId, 'FORBIDDEN');
  const input = {
    projectIdOrName: owner.projectId,
    provider: 'github',
    clientId: 'c',
    clientSecret: 's',
  };
  expect(await reader.expectRefusal(CREATE_PROVIDER_APP, { input })).toMatchObject({
    code: 'FORBIDDEN',
  });
  expect(await otherTenant.expectRefusal(CREATE_PROVIDER_APP, { input })).toMatchObject({
    code: 'NOT_FOUND',
  });
  const { nodes } = (await owner.query(LIST_PROVIDER_APPS)).viewer.project.providerApps;
  expect(nodes).toEqual([{ clientId: 'client' }]);
});

test('lists apps newest first, by provider, from both ends', async () => {
  const tenant = await app.createTenant();
  for (const [clientId, provider] of [
    ['one', 'github'],
    ['two', 'slack'],
    ['three', 'github'],
  ]) {
    await createProviderApp(tenant, { clientId, provider });
  }
  const readPage = async (args: Record<string, unknown>) =>
    (await tenant.query(LIST_PROVIDER_APPS, args)).viewer.project.providerApps;
  const listClientIds = async (args: Record<string, unknown>) =>
    (await readPage(args)).nodes.map((node: { clientId: string }) => node.clientId);
  expect(await listClientIds({})).toEqual(['three', 'two', 'one']);
  expect(await readPage({ provider: 'github', first: 1 })).toEqual({
    totalCount: 2,
    nodes: [{ clientId: 'three' }],
    pageInfo: { hasNextPage: true, hasPreviousPage: false },
  });
  expect(await listClientIds({ provider: 'github', last: 1 })).toEqual(['one']);
  expect(await listClientIds({ provider: 'unknown' })).toEqual([]);
});
