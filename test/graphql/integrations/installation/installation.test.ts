import { expect, test } from 'vitest';
import { newId } from '../../../../src/kernel/ids.ts';
import { createTestApp, getSharedApp, type Tenant } from '../../../support/app.ts';
import {
  generateConnection,
  PROVIDERS,
  recordEvents,
} from '../../../support/fixtures/connections.ts';
import {
  CREATE_INSTALLATION,
  connectAndInstall,
  createIntegration,
  createIntegrationContent,
  INSTALLATION_FIELDS,
  insertDestination,
  UPDATE_INSTALLATION,
} from '../../../support/fixtures/integrations.ts';
import { LIST_SUBSCRIPTIONS } from '../../../support/fixtures/subscriptions.ts';
import { listIssueNames } from '../../../support/graphql-client.ts';

const start = new Date('2030-01-01T00:03:00Z');
let now = start;
const app = await getSharedApp({ providers: PROVIDERS, now: () => now });
const { prisma } = app.app.services.database;

const DELETE_INSTALLATION = `mutation DeleteInstallation($input: DeleteInstallationInput!) {
  deleteInstallation(input: $input) { deletedId }
}`;

const GET_INSTALLATION = `query GetInstallation($id: ID!) {
  node(id: $id) { id ... on Installation { ${INSTALLATION_FIELDS} } }
}`;

const createField = (fieldName: string) => ({ fieldName });
const content = createIntegrationContent('crm', {
  read: {
    objects: [
      {
        objectName: 'contacts',
        destination: 'records',
        schedule: '*/10 * * * *',
        mapToName: 'people',
        requiredFields: [createField('email')],
        optionalFields: [createField('phone'), { mapToName: 'owner' }],
      },
      {
        objectName: 'companies',
        destination: 'records',
        requiredFields: [createField('name')],
        optionalFields: [createField('domain')],
        optionalFieldsAuto: 'ALL',
      },
    ],
  },
  write: { objects: [{ objectName: 'deals' }] },
});

const updateInstallation = async (tenant: Tenant, installationId: string, changes: object) => {
  const input = { projectIdOrName: tenant.projectId, installationId, ...changes };
  return (await tenant.query(UPDATE_INSTALLATION, { input })).updateInstallation.installation;
};

const expectIssues = async (tenant: Tenant, query: string, input: object) => {
  const { code, problem } = await tenant.expectRefusal(query, { input });
  expect(code).toBe('BAD_USER_INPUT');
  return (problem.issues ?? []).map(({ name, detail }) => `${name}: ${detail}`).sort();
};

test('installs everything that the integration has without a config', async () => {
  now = start;
  const tenant = await app.createTenant();
  const integration = await createIntegration(app, tenant, content);
  const { input, ...installation } = await connectAndInstall(tenant, integration);
  const object = { lastReadTime: null, backfillDone: false, recordsRead: 0, pauseNote: null };
  const defaultChoices = {
    schedule: null,
    destination: null,
    disabled: false,
    backfill: null,
    selectedFieldsAuto: null,
    dynamicMappings: [],
    valueMappings: [],
    fieldFilters: [],
  };
  expect(installation).toEqual({
    id: expect.stringMatching(/^ins_/),
    createdBy: `api:${tenant.apiKeyId}`,
    createTime: expect.any(String),
    updateTime: null,
    healthStatus: 'HEALTHY',
    project: { id: tenant.projectId },
    integration: { id: integration.id },
    revision: { id: integration.latestRevision.id },
    group: { groupRef: 'acme' },
    connection: expect.objectContaining({ id: installation.connection.id }),
    lastOperation: null,
    config: {
      id: expect.stringMatching(/^cfg_/),
      createTime: expect.any(String),
      read: [
        { objectName: 'contacts', selectedFields: ['email'], fieldMappings: [], ...defaultChoices },
        {
          objectName: 'companies',
          selectedFields: ['name', 'domain'],
          fieldMappings: [],
          ...defaultChoices,
        },
      ],
      write: [{ objectName: 'deals', deletionEnabled: false, fields: [] }],
      subscribe: [],
      proxy: null,
    },
    objects: [
      {
        objectName: 'contacts',
        mappedObjectName: 'people',
        schedule: '*/10 * * * *',
        nextReadTime: start.toISOString(),
        paused: false,
        ...object,
      },
      {
        objectName: 'companies',
        mappedObjectName: null,
        schedule: null,
        nextReadTime: null,
        paused: false,
        ...object,
      },
    ],
  });
});

test('installs only the objects of a config', async () => {
  now = start;
  const tenant = await app.createTenant();
  const integration = await createIntegration(app, tenant, content);
  await insertDestination(app, tenant, 'elsewhere');
  const contacts = {
    objectName: 'contacts',
    selectedFields: ['phone'],
    fieldMappings: [{ fieldName: 'owner_id', mapToName: 'owner' }],
    schedule: '0 6 * * *',
    destination: 'elsewhere',
    backfill: { days: 30 },
  };
  const { config, objects } = await connectAndInstall(tenant, integration, {
    config: { read: [contacts], write: [{ objectName: 'deals', deletionEnabled: true }] },
  });
  expect(config).toMatchObject({
    read: [{ ...contacts, disabled: false, backfill: { days: 30, fullHistory: null } }],
    write: [{ objectName: 'deals', deletionEnabled: true }],
  });
  expect(objects).toMatchObject([
    { objectName: 'contacts', schedule: '0 6 * * *', nextReadTime: start.toISOString() },
  ]);
  const emptyInstallation = await connectAndInstall(tenant, integration, {
    groupRef: 'zen',
    config: {},
  });
  expect(emptyInstallation).toMatchObject({ config: { read: [], write: [] }, objects: [] });
});

test('starts the first read with the installation if it has records to backfill', async () => {
  now = start;
  const tenant = await app.createTenant();
  const people = { ...createIntegrationContent().read.objects[0], schedule: '*/10 * * * *' };
  const objects = [
    people,
    { ...people, objectName: 'deals', backfill: { defaultPeriod: { days: 0 } } },
    { ...people, objectName: 'companies', schedule: null },
  ];
  const integration = await createIntegration(
    app,
    tenant,
    createIntegrationContent('crm', { read: { objects } }),
  );
  const installation = await connectAndInstall(tenant, integration);
  expect(
    installation.objects.map(({ nextReadTime }: { nextReadTime: string }) => nextReadTime),
  ).toEqual([start.toISOString(), '2030-01-01T00:10:00.000Z', null]);
});

test('stores a disabled object without a next read', async () => {
  const tenant = await app.createTenant();
  const config = { read: [{ objectName: 'contacts', disabled: true }] };
  const { objects } = await connectAndInstall(
    tenant,
    await createIntegration(app, tenant, content),
    { config },
  );
  expect(objects).toMatchObject([
    { objectName: 'contacts', schedule: '*/10 * * * *', nextReadTime: null, paused: false },
  ]);
});

test("uses the named connection, or else the group's newest with working credentials", async () => {
  const tenant = await app.createTenant();
  const integration = await createIntegration(app, tenant, content);
  const [annConnection, bobConnection, brokenConnection] = [
    await generateConnection(tenant, { apiKey: 'sandbox-key', consumerRef: 'ann' }),
    await generateConnection(tenant, { apiKey: 'sandbox-key', consumerRef: 'bob' }),
    await generateConnection(tenant, { apiKey: 'sandbox-key', consumerRef: 'cid' }),
  ];
  await prisma.connection.updateMany({
    where: { id: brokenConnection.id },
    data: { status: 'BAD_CREDENTIALS' },
  });
  const input = {
    projectIdOrName: tenant.projectId,
    integrationIdOrName: integration.id,
    groupRef: 'acme',
  };
  const { createInstallation } = await tenant.query(CREATE_INSTALLATION, { input });
  const { id, connection } = createInstallation.installation;
  expect(connection).toEqual({ id: bobConnection.id });
  const removal = { projectIdOrName: tenant.projectId, installationId: id };
  await tenant.query(DELETE_INSTALLATION, { input: removal });
  const named = await tenant.query(CREATE_INSTALLATION, {
    input: { ...input, connectionId: annConnection.id },
  });
  expect(named.createInstallation.installation.connection).toEqual({ id: annConnection.id });
});

test('returns CONFLICT for a second installation of the group', async () => {
  const tenant = await app.createTenant();
  const { input } = await connectAndInstall(tenant, await createIntegration(app, tenant, content));
  expect(await tenant.expectRefusal(CREATE_INSTALLATION, { input })).toMatchObject({
    code: 'CONFLICT',
  });
  expect(await prisma.installation.count({ where: { projectId: tenant.projectId } })).toBe(1);
  expect(await prisma.installationConfig.count({ where: { projectId: tenant.projectId } })).toBe(1);
});

test('reports every issue of a config together, first those that need no revision', async () => {
  const tenant = await app.createTenant();
  const integration = await createIntegration(app, tenant, content);
  await generateConnection(tenant);
  const config = {
    read: [
      {
        objectName: 'contacts',
        selectedFields: ['email', 'email', 'fax'],
        fieldMappings: [
          { fieldName: 'owner_id', mapToName: 'owner' },
          { fieldName: 'other', mapToName: 'owner' },
          { fieldName: 'email', mapToName: 'email' },
          {},
        ],
        schedule: '*/5 * * * *',
        destination: 'nowhere',
        backfill: { days: 3, fullHistory: true },
      },
      { objectName: 'companies', selectedFields: ['anything'], backfill: {} },
      { objectName: 'contacts', backfill: { days: -1 } },
      { objectName: 'deals' },
    ],
    write: [{ objectName: 'contacts' }, { objectName: 'deals' }, { objectName: 'deals' }],
  };
  const input = {
    projectIdOrName: tenant.projectId,
    integrationIdOrName: integration.id,
    groupRef: 'acme',
    config,
  };
  const path = 'input.config.read';
  const absent = "is not an object of the integration's latest revision.";
  const createPeriodIssue = (backfill: string) =>
    `${backfill}: must have exactly one of ${backfill}.days and ${backfill}.fullHistory.`;
  expect(await expectIssues(tenant, CREATE_INSTALLATION, input)).toEqual([
    createPeriodIssue(`${path}[0].backfill`),
    `${path}[0].schedule: must be at most one run in 10 minutes.`,
    createPeriodIssue(`${path}[1].backfill`),
    `${path}[2].backfill.days: must be at least 0.`,
  ]);
  const valid = config.read.map(({ backfill: _, schedule: _schedule, ...choice }) => choice);
  const inputWithValidSchedules = { ...input, config: { ...config, read: valid } };
  expect(await expectIssues(tenant, CREATE_INSTALLATION, inputWithValidSchedules)).toEqual(
    [
      `${path}[0].selectedFields[1]: is named twice.`,
      `${path}[0].selectedFields[2]: is not a field that the integration offers for contacts.`,
      `${path}[0].fieldMappings[1].mapToName: is mapped twice.`,
      `${path}[0].fieldMappings[2].mapToName: is not a name of contacts that customers can map.`,
      `${path}[0].fieldMappings[3].fieldName: is required.`,
      `${path}[0].fieldMappings[3].mapToName: is required.`,
      `${path}[0].destination: is not a destination of the project.`,
      `${path}[2].objectName: is named twice.`,
      `${path}[3].objectName: ${absent}`,
      `input.config.write[0].objectName: ${absent}`,
      'input.config.write[2].objectName: is named twice.',
    ].sort(),
  );
  expect(await prisma.installation.count({ where: { projectId: tenant.projectId } })).toBe(0);
});

test('reports a group or connection that does not match', async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const integration = await createIntegration(app, tenant, content);
  const { projectId } = tenant;
  await prisma.group.create({
    data: { id: newId('grp'), projectId, groupRef: 'lonely', groupName: 'Lonely' },
  });
  const ownConnection = await generateConnection(tenant, {
    provider: 'stripe',
    apiKey: 'sandbox-key',
    groupRef: 'zen',
  });
  await generateConnection(tenant);
  const foreignConnection = await generateConnection(otherTenant);
  const listIssues = (overrides: object) =>
    expectIssues(tenant, CREATE_INSTALLATION, {
      projectIdOrName: projectId,
      integrationIdOrName: integration.id,
      groupRef: 'acme',
      ...overrides,
    });
  expect(await listIssues({ groupRef: 'unknown' })).toEqual([
    'input.groupRef: is not a group of the project.',
  ]);
  expect(await listIssues({ groupRef: 'lonely' })).toEqual([
    'input.groupRef: names a group without a connection to sandbox.',
  ]);
  expect(await listIssues({ connectionId: foreignConnection.id })).toEqual([
    'input.connectionId: does not exist.',
  ]);
  expect(await listIssues({ connectionId: ownConnection.id })).toEqual([
    'input.connectionId: belongs to another group.',
    'input.connectionId: is a connection to stripe, not to sandbox.',
  ]);
});

test('replaces the config, keeps the progress of objects, and keeps the previous config readable', async () => {
  now = start;
  const tenant = await app.createTenant();
  const installation = await connectAndInstall(
    tenant,
    await createIntegration(app, tenant, content),
  );
  const lastReadTime = new Date('2030-01-01T00:01:00Z');
  await prisma.installedObject.updateMany({
    where: { installationId: installation.id },
    data: { lastReadTime, backfillDone: true, recordsRead: 7 },
  });
  now = new Date('2030-01-01T00:07:00Z');
  const config = { read: [{ objectName: 'contacts' }] };
  const updatedInstallation = await updateInstallation(tenant, installation.id, { config });
  expect(updatedInstallation.updateTime).toBe(now.toISOString());
  expect(updatedInstallation.config.id).not.toBe(installation.config.id);
  expect(updatedInstallation.config).toMatchObject({
    read: [{ selectedFields: ['email'] }],
    write: [],
  });
  expect(updatedInstallation.objects).toMatchObject([
    {
      objectName: 'contacts',
      recordsRead: 7,
      backfillDone: true,
      lastReadTime: lastReadTime.toISOString(),
      nextReadTime: start.toISOString(),
    },
  ]);
  const earlierConfig = await tenant.query(
    'query GetInstallationConfig($id: ID!) { node(id: $id) { ... on InstallationConfig { id write { objectName } } } }',
    { id: installation.config.id },
  );
  expect(earlierConfig.node).toEqual({
    id: installation.config.id,
    write: [{ objectName: 'deals' }],
  });

  const scheduled = await updateInstallation(tenant, installation.id, {
    config: {
      read: [{ objectName: 'contacts', schedule: '45 * * * *' }, { objectName: 'companies' }],
    },
  });
  expect(scheduled.objects).toMatchObject([
    { objectName: 'contacts', recordsRead: 7, nextReadTime: '2030-01-01T00:45:00.000Z' },
    { objectName: 'companies', recordsRead: 0, backfillDone: false, nextReadTime: null },
  ]);
  const disabled = { read: [{ objectName: 'contacts', disabled: true }] };
  expect(
    (await updateInstallation(tenant, installation.id, { config: disabled })).objects,
  ).toMatchObject([{ objectName: 'contacts', recordsRead: 7, nextReadTime: null }]);
});

test('restarts reads from the beginning with another connection', async () => {
  const tenant = await app.createTenant();
  const { id } = await connectAndInstall(tenant, await createIntegration(app, tenant, content));
  await prisma.installedObject.updateMany({
    where: { installationId: id },
    data: { backfillDone: true, readUntil: new Date() },
  });
  const newConnection = await generateConnection(tenant, {
    apiKey: 'sandbox-key-2',
    consumerRef: 'second',
  });
  await updateInstallation(tenant, id, { connectionId: newConnection.id });
  const objects = await prisma.installedObject.findMany({ where: { installationId: id } });
  expect(objects.length).toBeGreaterThan(0);
  for (const object of objects) {
    expect(object).toMatchObject({ backfillDone: false, readUntil: null });
  }
});

test('keeps a paused object paused in an update', async () => {
  const tenant = await app.createTenant();
  const { id } = await connectAndInstall(tenant, await createIntegration(app, tenant, content));
  await prisma.installedObject.updateMany({
    where: { installationId: id, objectName: 'contacts' },
    data: { paused: true, pauseNote: 'Later.', nextReadTime: null },
  });
  const config = { read: [{ objectName: 'contacts', schedule: '0 * * * *' }] };
  expect((await updateInstallation(tenant, id, { config })).objects).toMatchObject([
    { paused: true, pauseNote: 'Later.', nextReadTime: null, schedule: '0 * * * *' },
  ]);
});

test('reports invalid members of an update, and changes nothing', async () => {
  const tenant = await app.createTenant();
  const { id, config } = await connectAndInstall(
    tenant,
    await createIntegration(app, tenant, content),
  );
  const foreignConnection = await generateConnection(tenant, {
    apiKey: 'sandbox-key',
    groupRef: 'zen',
  });
  const input = {
    projectIdOrName: tenant.projectId,
    installationId: id,
    connectionId: foreignConnection.id,
    config: { read: [{ objectName: 'leads' }] },
  };
  expect(await expectIssues(tenant, UPDATE_INSTALLATION, input)).toEqual([
    "input.config.read[0].objectName: is not an object of the integration's latest revision.",
    'input.connectionId: belongs to another group.',
  ]);
  const nulls = { ...input, connectionId: null, config: null };
  const refusal = await tenant.expectRefusal(UPDATE_INSTALLATION, { input: nulls });
  expect(listIssueNames(refusal.problem)).toEqual(['input.connectionId', 'input.config']);
  expect((await tenant.query(GET_INSTALLATION, { id })).node).toMatchObject({
    updateTime: null,
    config,
  });
});

test('emits an event for every change, with the present and the previous config', async () => {
  const tenant = await app.createTenant();
  const integration = await createIntegration(app, tenant, content);
  const listEvents = await recordEvents(app, tenant);
  const installation = await connectAndInstall(tenant, integration);
  const bobConnection = await generateConnection(tenant, {
    apiKey: 'sandbox-key',
    consumerRef: 'bob',
  });
  const { connection, config } = installation;
  await updateInstallation(tenant, installation.id, {});
  await updateInstallation(tenant, installation.id, { connectionId: connection.id });
  await updateInstallation(tenant, installation.id, { connectionId: bobConnection.id });
  const updatedInstallation = await updateInstallation(tenant, installation.id, { config: {} });
  const input = { projectIdOrName: tenant.projectId, installationId: installation.id };
  await tenant.query(DELETE_INSTALLATION, { input });

  const fields = {
    projectId: tenant.projectId,
    provider: 'sandbox',
    integrationId: integration.id,
    integrationName: 'crm',
    installationId: installation.id,
    groupRef: 'acme',
    groupName: 'acme',
  };
  const ann = { connectionId: connection.id, consumerRef: 'ann', consumerName: 'ann' };
  const bob = { connectionId: bobConnection.id, consumerRef: 'bob', consumerName: 'bob' };
  const emitted = await listEvents();
  expect(emitted.filter(({ eventType }) => eventType.startsWith('INSTALLATION'))).toEqual([
    {
      eventType: 'INSTALLATION_CREATED',
      connectionId: connection.id,
      data: { ...fields, ...ann, config },
    },
    {
      eventType: 'INSTALLATION_UPDATED',
      connectionId: bobConnection.id,
      data: { ...fields, ...bob, config, lastConfig: config },
    },
    {
      eventType: 'INSTALLATION_UPDATED',
      connectionId: bobConnection.id,
      data: { ...fields, ...bob, config: updatedInstallation.config, lastConfig: config },
    },
    {
      eventType: 'INSTALLATION_DELETED',
      connectionId: bobConnection.id,
      data: { ...fields, ...bob, config: updatedInstallation.config },
    },
  ]);
});

test('reports events that the provider does not send as UNSUPPORTED', async () => {
  const withoutMerges = PROVIDERS.map((provider) => {
    const { subscribe } = provider.capabilities;
    if (!subscribe) return provider;
    const capabilities = { ...provider.capabilities, subscribe: { ...subscribe, kinds: [] } };
    return { ...provider, capabilities };
  });
  await using limitedApp = await createTestApp({ providers: withoutMerges });
  const tenant = await limitedApp.createTenant();
  const subscribe = { objects: [{ objectName: 'contacts', otherEvents: ['contacts.merged'] }] };
  const integration = await createIntegration(limitedApp, tenant, { ...content, ...{ subscribe } });
  const listEvents = await recordEvents(limitedApp, tenant);
  const { id, healthStatus } = await connectAndInstall(tenant, integration);
  expect(healthStatus).toBe('UNHEALTHY');
  expect(await listEvents()).toMatchObject([
    { eventType: 'CONNECTION_CREATED' },
    { eventType: 'INSTALLATION_CREATED' },
    {
      eventType: 'SUBSCRIBE_CREATE_ERROR',
      data: { installationId: id, error: expect.stringMatching(/does not support subscriptions/) },
    },
  ]);
  const { node: found } = await tenant.query(LIST_SUBSCRIPTIONS, { id });
  expect(found).toMatchObject({
    healthStatus: 'UNHEALTHY',
    subscriptions: [{ status: 'UNSUPPORTED', kinds: ['OTHER'] }],
  });
});

test('keeps the connection and the operations of a deleted installation', async () => {
  const tenant = await app.createTenant();
  const { id, connection } = await connectAndInstall(
    tenant,
    await createIntegration(app, tenant, content),
  );
  const input = { projectIdOrName: tenant.projectId, installationId: id };
  expect(await tenant.query(DELETE_INSTALLATION, { input })).toEqual({
    deleteInstallation: { deletedId: id },
  });
  expect(await tenant.query(GET_INSTALLATION, { id })).toEqual({ node: null });
  expect(await tenant.query(GET_INSTALLATION, { id: connection.id })).toEqual({
    node: { id: connection.id },
  });
  expect(await prisma.installedObject.count({ where: { installationId: id } })).toBe(0);
  expect(await tenant.expectRefusal(DELETE_INSTALLATION, { input })).toMatchObject({
    code: 'NOT_FOUND',
  });
});

test('lists installations newest first, by project, integration and group', async () => {
  const tenant = await app.createTenant();
  const [integrationA, integrationB] = [
    await createIntegration(app, tenant, createIntegrationContent('one')),
    await createIntegration(app, tenant, createIntegrationContent('two')),
  ];
  const ids = [
    (await connectAndInstall(tenant, integrationA, { groupRef: 'a' })).id,
    (await connectAndInstall(tenant, integrationA, { groupRef: 'b' })).id,
    (await connectAndInstall(tenant, integrationB, { groupRef: 'a' })).id,
  ];
  const list = `query ListInstallations($project: String!, $groupRef: String, $first: Int, $last: Int) {
    project(idOrName: $project) {
      installations(groupRef: $groupRef, first: $first, last: $last) {
        totalCount nodes { id } pageInfo { hasNextPage hasPreviousPage }
      }
      integration(idOrName: "one") { installations(groupRef: $groupRef) { nodes { id } } }
    }
  }`;
  const listInstallations = async (variables: object) => {
    const { project } = await tenant.query(list, { project: tenant.projectId, ...variables });
    const toPositions = (page: { nodes: { id: string }[] }) =>
      page.nodes.map(({ id }) => ids.indexOf(id));
    const { installations, integration } = project;
    return [
      toPositions(installations),
      toPositions(integration.installations),
      installations.pageInfo,
    ];
  };
  const wholePage = { hasNextPage: false, hasPreviousPage: false };
  expect(await listInstallations({})).toEqual([[2, 1, 0], [1, 0], wholePage]);
  expect(await listInstallations({ groupRef: 'a' })).toEqual([[2, 0], [0], wholePage]);
  expect(await listInstallations({ groupRef: 'unknown' })).toEqual([[], [], wholePage]);
  expect(await listInstallations({ first: 1 })).toMatchObject([[2], [1, 0], { hasNextPage: true }]);
  expect(await listInstallations({ last: 2 })).toMatchObject([
    [1, 0],
    [1, 0],
    { hasPreviousPage: true },
  ]);
});

test("returns NOT_FOUND for another tenant's installation, and leaves it unchanged", async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const {
    id,
    input: creation,
    config,
  } = await connectAndInstall(tenant, await createIntegration(app, tenant, content));
  expect(await otherTenant.query(GET_INSTALLATION, { id })).toEqual({ node: null });
  expect(await otherTenant.query(GET_INSTALLATION, { id: config.id })).toEqual({ node: null });
  for (const projectIdOrName of [tenant.projectId, otherTenant.projectId]) {
    const input = { projectIdOrName, installationId: id };
    expect(await otherTenant.expectRefusal(DELETE_INSTALLATION, { input })).toMatchObject({
      code: 'NOT_FOUND',
    });
    const update = { ...input, config: {} };
    expect(await otherTenant.expectRefusal(UPDATE_INSTALLATION, { input: update })).toMatchObject({
      code: 'NOT_FOUND',
    });
    const again = { ...creation, projectIdOrName };
    expect(await otherTenant.expectRefusal(CREATE_INSTALLATION, { input: again })).toMatchObject({
      code: 'NOT_FOUND',
    });
  }
  expect((await tenant.query(GET_INSTALLATION, { id })).node).toMatchObject({
    updateTime: null,
    config,
  });
});

test('returns FORBIDDEN without the scope, and records a builder as the creator', async () => {
  const tenant = await app.createTenant();
  const integration = await createIntegration(app, tenant, content);
  const { id, input } = await connectAndInstall(tenant, integration);
  const key = await tenant.withScopes('read', 'integrations:write');
  expect(await key.expectRefusal(CREATE_INSTALLATION, { input })).toMatchObject({
    code: 'FORBIDDEN',
  });
  const named = { projectIdOrName: tenant.projectId, installationId: id };
  expect(await key.expectRefusal(UPDATE_INSTALLATION, { input: named })).toMatchObject({
    code: 'FORBIDDEN',
  });
  expect(await key.expectRefusal(DELETE_INSTALLATION, { input: named })).toMatchObject({
    code: 'FORBIDDEN',
  });
  await generateConnection(tenant, { apiKey: 'sandbox-key', groupRef: 'zen' });
  const { createInstallation } = await tenant.builder.query(
    'mutation CreateInstallation($input: CreateInstallationInput!) { createInstallation(input: $input) { installation { createdBy } } }',
    { input: { ...input, groupRef: 'zen' } },
  );
  expect(createInstallation.installation.createdBy).toBe(`builder:${tenant.builderId}`);
});

test('stores and returns createdBy and the proxy of a config', async () => {
  const tenant = await app.createTenant();
  const proxy = { enabled: true };
  const integration = await createIntegration(
    app,
    tenant,
    createIntegrationContent('proxied', { proxy }),
  );
  const config = { provider: 'sandbox', read: [], proxy };
  const options = { config, configCreatedBy: 'consumer:ann' };
  await connectAndInstall(tenant, integration, options);
  const { project } = await tenant.query(
    `query ListInstallations($id: String!) { project(idOrName: $id) { installations { nodes {
      config { createdBy proxy { enabled } }
    } } } }`,
    { id: tenant.projectId },
  );
  expect(project.installations.nodes).toEqual([{ config: { createdBy: 'consumer:ann', proxy } }]);
});
