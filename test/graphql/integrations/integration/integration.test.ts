import { expect, test } from 'vitest';
import { newId } from '../../../../src/kernel/ids.ts';
import { getSharedApp } from '../../../support/app.ts';
import { PROVIDERS, recordEvents } from '../../../support/fixtures/connections.ts';
import {
  CREATE_INTEGRATION,
  connectAndInstall,
  createIntegration,
  createIntegrationContent,
  createIntegrationVariables,
  insertDestination,
} from '../../../support/fixtures/integrations.ts';

const app = await getSharedApp({ providers: PROVIDERS });
const { prisma } = app.app.services.database;

const DELETE_INTEGRATION = `mutation DeleteIntegration($input: DeleteIntegrationInput!) {
  deleteIntegration(input: $input) { deletedId }
}`;

const listSortedIssueNames = (problem: { issues?: { name: string }[] }) =>
  (problem.issues ?? []).map(({ name }) => name).sort();

test('creates an integration with its first revision', async () => {
  const tenant = await app.createTenant();
  const integration = await createIntegration(app, tenant, createIntegrationContent('crm-sync'));
  expect(integration).toEqual({
    id: expect.stringMatching(/^int_/),
    name: 'crm-sync',
    provider: 'sandbox',
    createTime: expect.any(String),
    updateTime: null,
    project: { id: tenant.projectId },
    latestRevision: { id: expect.stringMatching(/^rev_/), specVersion: '1.0.0' },
  });
});

test('returns the complete content of a revision', async () => {
  const tenant = await app.createTenant();
  await insertDestination(app, tenant, 'events');
  const createField = (fieldName: string | null, mapToName: string | null = null) => ({
    fieldName,
    mapToName,
    mapToDisplayName: null,
  });
  const content = {
    name: 'crm',
    provider: 'sandbox',
    displayName: 'CRM',
    module: 'root',
    read: {
      objects: [
        {
          objectName: 'contacts',
          destination: 'records',
          schedule: '0 * * * *',
          mapToName: 'people',
          mapToDisplayName: 'People',
          requiredFields: [createField('email', 'mail'), createField(null, 'owner')],
          optionalFields: [createField("$['address']['city']")],
          optionalFieldsAuto: 'ALL',
          delivery: { mode: 'AUTO', pageSize: 50 },
          enabled: 'ALWAYS',
        },
      ],
    },
    write: {
      objects: [
        { objectName: 'contacts', inheritMapping: true, valueDefaults: { allowAnyFields: true } },
      ],
    },
    proxy: { enabled: true, useModule: true },
    subscribe: {
      objects: [
        {
          objectName: 'contacts',
          destination: 'events',
          inheritFieldsAndMapping: true,
          createEvent: { enabled: 'ALWAYS' },
          updateEvent: {
            enabled: 'ALWAYS',
            watchFieldsAuto: null,
            requiredWatchFields: ['email'],
          },
          deleteEvent: { enabled: 'ALWAYS' },
          associationChangeEvent: { enabled: 'ALWAYS', includeFullRecords: true },
          otherEvents: ['object.merged'],
        },
      ],
    },
  };
  const { latestRevision } = await createIntegration(app, tenant, content);
  const fields = 'fieldName mapToName mapToDisplayName';
  const { node } = await tenant.query(
    `query GetRevision($id: ID!) { node(id: $id) { ... on Revision { content {
      name provider displayName module
      read { objects {
        objectName destination schedule mapToName mapToDisplayName
        requiredFields { ${fields} } optionalFields { ${fields} } optionalFieldsAuto
        delivery { mode pageSize } enabled
      } }
      write { objects { objectName inheritMapping valueDefaults { allowAnyFields } } }
      proxy { enabled useModule }
      subscribe { objects {
        objectName destination inheritFieldsAndMapping createEvent { enabled }
        updateEvent { enabled watchFieldsAuto requiredWatchFields } deleteEvent { enabled }
        associationChangeEvent { enabled includeFullRecords } otherEvents
      } }
    } } } }`,
    { id: latestRevision.id },
  );
  expect(node.content).toEqual(content);
});

test('returns defaults for omitted content', async () => {
  const tenant = await app.createTenant();
  const read = { objects: [{ objectName: 'deals', destination: 'records', delivery: {} }] };
  const write = { objects: [{ objectName: 'deals' }] };
  const proxy = { enabled: true };
  const content = { name: 'crm', provider: 'sandbox', read, write, proxy };
  const { id } = await createIntegration(app, tenant, content);
  const { project } = await tenant.query(
    `query GetIntegration($project: String!, $id: String!) {
      project(idOrName: $project) { integration(idOrName: $id) { latestRevision { content {
        displayName subscribe { objects { objectName } } proxy { useModule }
        read { objects { schedule requiredFields { fieldName } delivery { mode pageSize } } }
        write { objects { inheritMapping } }
      } } } }
    }`,
    { project: tenant.projectId, id },
  );
  expect(project.integration.latestRevision.content).toEqual({
    displayName: null,
    subscribe: null,
    proxy: { useModule: false },
    read: {
      objects: [{ schedule: null, requiredFields: [], delivery: { mode: 'AUTO', pageSize: null } }],
    },
    write: { objects: [{ inheritMapping: false }] },
  });
});

test('returns CONFLICT for a second integration with the same name', async () => {
  const tenant = await app.createTenant();
  await createIntegration(app, tenant);
  const variables = createIntegrationVariables(tenant, createIntegrationContent());
  expect(await tenant.expectRefusal(CREATE_INTEGRATION, variables)).toMatchObject({
    code: 'CONFLICT',
  });
  expect(await prisma.integration.count({ where: { projectId: tenant.projectId } })).toBe(1);
  expect(await prisma.revision.count({ where: { projectId: tenant.projectId } })).toBe(1);
});

test('returns all issues at once; issues that need the project follow when the others are fixed', async () => {
  const tenant = await app.createTenant();
  await insertDestination(app, tenant);
  const content = {
    name: 'other',
    provider: 'hubspot',
    displayName: 'x'.repeat(101),
    read: {
      objects: [
        { objectName: 'contacts', destination: 'nowhere', schedule: '* * * * *' },
        { objectName: 'contacts', schedule: 'often', optionalFieldsAuto: 'ALL' },
        {
          objectName: 'leads',
          destination: 'records',
          enabled: 'ALWAYS',
          delivery: { mode: 'AUTO', pageSize: 20 },
          requiredFields: [{ fieldName: 'email' }, {}],
        },
      ],
    },
    write: { objects: [{ objectName: 'deals' }, { objectName: 'deals' }] },
    subscribe: { objects: [{ objectName: 'companies', createEvent: { enabled: 'ALWAYS' } }] },
  };
  const input = {
    projectIdOrName: tenant.projectId,
    name: 'No Spaces',
    provider: 'sandbox',
    latestRevision: { specVersion: '2.0.0', content },
  };
  const { code, problem } = await tenant.expectRefusal(CREATE_INTEGRATION, { input });
  expect(code).toBe('BAD_USER_INPUT');
  const path = 'input.latestRevision.content';
  expect(listSortedIssueNames(problem)).toEqual(
    [
      'input.name',
      'input.latestRevision.specVersion',
      `${path}.displayName`,
      `${path}.read.objects[0].schedule`,
      `${path}.read.objects[1].destination`,
      `${path}.read.objects[1].schedule`,
      `${path}.read.objects[2].delivery.pageSize`,
      `${path}.read.objects[2].requiredFields[1]`,
      `${path}.subscribe.objects[0].inheritFieldsAndMapping`,
    ].sort(),
  );

  const unresolvable = {
    ...content,
    displayName: 'x',
    read: {
      objects: [
        { objectName: 'contacts', destination: 'nowhere' },
        { objectName: 'contacts', destination: 'records' },
        { objectName: 'leads', destination: 'records' },
      ],
    },
    subscribe: {
      objects: [
        {
          objectName: 'companies',
          inheritFieldsAndMapping: true,
          createEvent: { enabled: 'ALWAYS' },
        },
      ],
    },
  };
  const revision = { specVersion: '1.0.0', content: unresolvable };
  const unresolvableInput = { ...input, name: 'crm', latestRevision: revision };
  const { problem: projectProblem } = await tenant.expectRefusal(CREATE_INTEGRATION, {
    input: unresolvableInput,
  });
  expect(listSortedIssueNames(projectProblem)).toEqual(
    [
      `${path}.name`,
      `${path}.provider`,
      `${path}.read.objects[0].destination`,
      `${path}.read.objects[1].objectName`,
      `${path}.read.objects[2].objectName`,
      `${path}.write.objects[1].objectName`,
      `${path}.subscribe.objects[0].objectName`,
    ].sort(),
  );
  expect(projectProblem.issues).toContainEqual(
    expect.objectContaining({
      in: 'body',
      name: `${path}.read.objects[0].destination`,
      detail: 'is not a destination of the project.',
      value: 'nowhere',
    }),
  );
  expect(await prisma.integration.count({ where: { projectId: tenant.projectId } })).toBe(0);
});

test('reports every value outside an enum, with the allowed values', async () => {
  const tenant = await app.createTenant();
  const read = {
    objects: [
      { objectName: 'contacts', destination: 'records', optionalFieldsAuto: 'all' },
      { objectName: 'leads', destination: 'records', enabled: 'NEVER', delivery: { mode: 'now' } },
    ],
  };
  const { errors } = await tenant.request(
    CREATE_INTEGRATION,
    createIntegrationVariables(tenant, createIntegrationContent('crm', { read })),
  );
  const issues = errors?.flatMap(({ extensions }) => extensions.problem.issues ?? []);
  const path = 'input.latestRevision.content.read';
  expect(issues?.map(({ name, detail }) => `${name}: ${detail}`)).toEqual([
    `${path}.objects[0].optionalFieldsAuto: must be one of ALL.`,
    `${path}.objects[1].delivery.mode: must be one of AUTO.`,
    `${path}.objects[1].enabled: must be one of ALWAYS.`,
  ]);
});

test('reports an unknown provider, and an unknown project together with other issues', async () => {
  const tenant = await app.createTenant();
  await insertDestination(app, tenant);
  const content = { ...createIntegrationContent(), provider: 'nosuch' };
  const { problem } = await tenant.expectRefusal(
    CREATE_INTEGRATION,
    createIntegrationVariables(tenant, content),
  );
  expect(listSortedIssueNames(problem)).toEqual(['input.provider']);
  const { input } = createIntegrationVariables(
    { projectId: '' },
    { ...createIntegrationContent(), name: 'A.b' },
  );
  const missingProject = await tenant.expectRefusal(CREATE_INTEGRATION, { input });
  expect(listSortedIssueNames(missingProject.problem)).toEqual([
    'input.name',
    'input.projectIdOrName',
  ]);
});

test('returns at most 1,000 issues', async () => {
  const tenant = await app.createTenant();
  const requiredFields = Array.from({ length: 200 }, () => ({}));
  const object = { objectName: 'contacts', destination: 'records', requiredFields };
  const read = { objects: Array.from({ length: 12 }, () => object) };
  const variables = createIntegrationVariables(tenant, createIntegrationContent('crm', { read }));
  const { code, problem } = await tenant.expectRefusal(CREATE_INTEGRATION, variables);
  expect(code).toBe('BAD_USER_INPUT');
  expect(problem.issues).toHaveLength(1000);
  expect(problem.detail.length).toBeLessThan(4000);
});

test("refuses another project's destination", async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  await insertDestination(app, tenant);
  const { problem } = await otherTenant.expectRefusal(
    CREATE_INTEGRATION,
    createIntegrationVariables(otherTenant, createIntegrationContent()),
  );
  expect(listSortedIssueNames(problem)).toEqual([
    'input.latestRevision.content.read.objects[0].destination',
  ]);
});

test('finds integrations by id and by name, and lists them newest first', async () => {
  const tenant = await app.createTenant();
  const names = ['first', 'second', 'third'];
  for (const name of names) {
    const provider = name === 'second' ? 'hubspot' : 'sandbox';
    await createIntegration(app, tenant, { name, provider, proxy: { enabled: true } });
  }
  const list = `query GetIntegration($project: String!, $provider: String, $first: Int, $last: Int) {
    project(idOrName: $project) {
      byName: integration(idOrName: "second") { id }
      none: integration(idOrName: "${newId('int')}") { id }
      integrations(provider: $provider, first: $first, last: $last) {
        totalCount nodes { id name } pageInfo { hasNextPage hasPreviousPage }
      }
    }
  }`;
  const listIntegrations = async (variables: object) =>
    (await tenant.query(list, { project: tenant.projectId, ...variables })).project;
  const project = await listIntegrations({});
  const listNames = (project: { integrations: { nodes: { name: string }[] } }) =>
    project.integrations.nodes.map(({ name }) => name);
  expect(listNames(project)).toEqual(['third', 'second', 'first']);
  expect(project.integrations.totalCount).toBe(3);
  expect(project.byName).toEqual({ id: project.integrations.nodes[1].id });
  expect(project.none).toBeNull();
  expect(listNames(await listIntegrations({ provider: 'sandbox' }))).toEqual(['third', 'first']);
  expect(listNames(await listIntegrations({ provider: 'nosuch' }))).toEqual([]);
  const lastPage = await listIntegrations({ last: 2 });
  expect(listNames(lastPage)).toEqual(['second', 'first']);
  expect(lastPage.integrations.pageInfo).toEqual({ hasNextPage: false, hasPreviousPage: true });
});

test('deletes the installations of a deleted integration, emits an event for each, and keeps the connections', async () => {
  const tenant = await app.createTenant();
  const integration = await createIntegration(app, tenant);
  const installations = [
    await connectAndInstall(tenant, integration),
    await connectAndInstall(tenant, integration, { groupRef: 'zen' }),
  ];
  const listEvents = await recordEvents(app, tenant);
  const input = { projectIdOrName: tenant.projectId, integrationIdOrName: 'crm' };
  expect(await tenant.query(DELETE_INTEGRATION, { input })).toEqual({
    deleteIntegration: { deletedId: integration.id },
  });
  const { projectId } = tenant;
  expect(await prisma.installation.count({ where: { projectId } })).toBe(0);
  expect(await prisma.revision.count({ where: { projectId } })).toBe(0);
  expect(await prisma.connection.count({ where: { projectId } })).toBe(2);
  const events = await listEvents();
  expect(events.map(({ eventType }) => eventType)).toEqual(Array(2).fill('INSTALLATION_DELETED'));
  expect(
    events.map(({ data }) => (data as { installationId: string }).installationId).sort(),
  ).toEqual(installations.map(({ id }) => id).sort());
  expect(await tenant.expectRefusal(DELETE_INTEGRATION, { input })).toMatchObject({
    code: 'NOT_FOUND',
  });
});

test('deletes an integration with more installations than one transaction deletes', async () => {
  const tenant = await app.createTenant();
  const integration = await createIntegration(app, tenant);
  const { connection, config } = await connectAndInstall(tenant, integration);
  const { projectId } = tenant;
  const content = { read: config.read, write: config.write };
  const moreInstallations = Array.from({ length: 60 }, () => ({
    installationId: newId('ins'),
    groupId: newId('grp'),
    configId: newId('cfg'),
  }));
  await prisma.group.createMany({
    data: moreInstallations.map(({ groupId: id }) => ({
      id,
      projectId,
      groupRef: id,
      groupName: id,
    })),
  });
  await prisma.installation.createMany({
    data: moreInstallations.map(({ installationId: id, groupId, configId }) => ({
      id,
      projectId,
      integrationId: integration.id,
      groupId,
      connectionId: connection.id,
      configId,
      createdBy: 'test',
    })),
  });
  await prisma.installationConfig.createMany({
    data: moreInstallations.map(({ installationId, configId: id }) => ({
      id,
      projectId,
      installationId,
      content,
    })),
  });
  const listEvents = await recordEvents(app, tenant);
  const input = { projectIdOrName: projectId, integrationIdOrName: integration.id };
  await tenant.query(DELETE_INTEGRATION, { input });
  expect(await prisma.installation.count({ where: { projectId } })).toBe(0);
  expect(await prisma.integration.count({ where: { projectId } })).toBe(0);
  expect(await listEvents()).toHaveLength(61);
});

test("returns NOT_FOUND for another tenant's integration", async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const { id } = await createIntegration(app, tenant);
  expect(
    await otherTenant.query('query GetNode($id: ID!) { node(id: $id) { id } }', { id }),
  ).toEqual({
    node: null,
  });
  for (const projectIdOrName of [tenant.projectId, otherTenant.projectId]) {
    const input = { projectIdOrName, integrationIdOrName: id };
    expect(await otherTenant.expectRefusal(DELETE_INTEGRATION, { input })).toMatchObject({
      code: 'NOT_FOUND',
    });
  }
  const foreign = createIntegrationVariables(tenant, createIntegrationContent('mine'));
  expect(await otherTenant.expectRefusal(CREATE_INTEGRATION, foreign)).toMatchObject({
    code: 'NOT_FOUND',
  });
  expect(await prisma.integration.count({ where: { projectId: tenant.projectId } })).toBe(1);
});

test('returns FORBIDDEN for a key without the scope', async () => {
  const tenant = await app.createTenant();
  await createIntegration(app, tenant);
  const key = await tenant.withScopes('read', 'installations:write');
  const create = createIntegrationVariables(tenant, createIntegrationContent('other'));
  expect(await key.expectRefusal(CREATE_INTEGRATION, create)).toMatchObject({ code: 'FORBIDDEN' });
  const input = { projectIdOrName: tenant.projectId, integrationIdOrName: 'crm' };
  expect(await key.expectRefusal(DELETE_INTEGRATION, { input })).toMatchObject({
    code: 'FORBIDDEN',
  });
});

test('lists no schemes with a consent page while the provider app or its scopes are missing', async () => {
  const tenant = await app.createTenant();
  const content = { name: 'crm', provider: 'hubspot', proxy: { enabled: true } };
  await tenant.query(
    `mutation CreateIntegration($content: IntegrationContentInput!) { createIntegration(input: { name: "crm",
      provider: "hubspot", latestRevision: { specVersion: "1.0.0", content: $content } }) { integration { id } } }`,
    { content },
  );
  const listSchemes = async () =>
    (
      await tenant.query(
        '{ viewer { project { integration(idOrName: "crm") { connectSchemes } } } }',
      )
    ).viewer.project.integration.connectSchemes;
  const createApp = (scopes: string[]) =>
    tenant.query(
      `mutation CreateApp($scopes: [String!]) { createProviderApp(input: { provider: "hubspot", clientId: "${scopes.length}",
        clientSecret: "secret", scopes: $scopes }) { providerApp { id } } }`,
      { scopes },
    );
  expect(await listSchemes()).toEqual([]);
  await createApp([]);
  expect(await listSchemes()).toEqual([]);
  await createApp(['oauth']);
  expect(await listSchemes()).toContain('OAUTH2_AUTHORIZATION_CODE');
});
