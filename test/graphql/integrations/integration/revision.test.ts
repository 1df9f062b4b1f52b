import { expect, test } from 'vitest';
import { DROPPED_NOTE } from '../../../../src/domain/integrations/installation/installed-object-revision.ts';
import { getSharedApp, type Tenant } from '../../../support/app.ts';
import { generateConnection, PROVIDERS } from '../../../support/fixtures/connections.ts';
import {
  CREATE_INSTALLATION,
  CREATE_REVISION,
  connectAndInstall,
  createIntegration,
  createIntegrationContent,
  INSTALLATION_FIELDS,
  toRevision,
} from '../../../support/fixtures/integrations.ts';
import { listIssueNames } from '../../../support/graphql-client.ts';

const start = new Date('2030-01-01T00:03:00Z');
let now = start;
const app = await getSharedApp({ providers: PROVIDERS, now: () => now });
const { prisma } = app.app.services.database;

const createContent = (...objects: object[]) =>
  createIntegrationContent('crm', {
    read: { objects: objects.map((object) => ({ destination: 'records', ...object })) },
  });
const contacts = { objectName: 'contacts', schedule: '*/10 * * * *' };
const deals = { objectName: 'deals' };

const createRevisionInput = (tenant: Tenant, content: object, overrides: object = {}) => {
  const named = { projectIdOrName: tenant.projectId, integrationIdOrName: 'crm' };
  return { input: { ...named, revision: toRevision(content), ...overrides } };
};

const readInstallation = async (tenant: Tenant, id: string) =>
  (
    await tenant.query(
      `query GetInstallation($id: ID!) { node(id: $id) { ... on Installation { ${INSTALLATION_FIELDS} } } }`,
      { id },
    )
  ).node;

test('returns a new revision as the latest immediately, also in installations, and keeps earlier ones', async () => {
  now = start;
  const tenant = await app.createTenant();
  const integration = await createIntegration(app, tenant, createContent(contacts));
  const installation = await connectAndInstall(tenant, integration);
  const { createRevision } = await tenant.query(
    CREATE_REVISION,
    createRevisionInput(tenant, createContent(contacts, deals)),
  );
  const { revision } = createRevision;
  expect(createRevision).toEqual({
    revision: {
      id: expect.stringMatching(/^rev_/),
      content: { read: { objects: [{ objectName: 'contacts' }, { objectName: 'deals' }] } },
    },
    integration: {
      id: integration.id,
      updateTime: start.toISOString(),
      latestRevision: { id: revision.id },
    },
  });
  const { project } = await tenant.query(
    `query GetIntegration($project: String!) { project(idOrName: $project) {
      integration(idOrName: "crm") {
        revisions { totalCount nodes { id createTime } }
        oldest: revisions(last: 1) { nodes { id } pageInfo { hasPreviousPage } }
      }
    } }`,
    { project: tenant.projectId },
  );
  const ids = [revision.id, integration.latestRevision.id];
  expect(project.integration.revisions.totalCount).toBe(2);
  expect(project.integration.revisions.nodes.map(({ id }: { id: string }) => id)).toEqual(ids);
  expect(project.integration.oldest).toEqual({
    nodes: [{ id: ids[1] }],
    pageInfo: { hasPreviousPage: true },
  });
  const installationAfter = await readInstallation(tenant, installation.id);
  expect(installationAfter.revision).toEqual({ id: revision.id });
  expect(
    installationAfter.objects.map(({ objectName }: { objectName: string }) => objectName),
  ).toEqual(['contacts']);
});

test('returns CONFLICT with the objects if a revision drops objects that installations read', async () => {
  const tenant = await app.createTenant();
  const integration = await createIntegration(app, tenant, createContent(contacts, deals));
  const installation = await connectAndInstall(tenant, integration);
  const { code, problem } = await tenant.expectRefusal(
    CREATE_REVISION,
    createRevisionInput(tenant, createContent(deals)),
  );
  expect(code).toBe('CONFLICT');
  expect(problem.detail).toMatch(new RegExp(`contacts for \\S+ \\(${installation.id}\\)`));
  expect(await prisma.revision.count({ where: { projectId: tenant.projectId } })).toBe(1);
});

test('accepts a revision that drops an object that installations disable or omit', async () => {
  const tenant = await app.createTenant();
  const integration = await createIntegration(app, tenant, createContent(contacts, deals));
  const createConfig = (...objects: object[]) => ({ config: { read: objects } });
  await connectAndInstall(tenant, integration, {
    groupRef: 'a',
    ...createConfig({ objectName: 'contacts', disabled: true }),
  });
  await connectAndInstall(tenant, integration, { groupRef: 'b', ...createConfig(deals) });
  const { createRevision } = await tenant.query(
    CREATE_REVISION,
    createRevisionInput(tenant, createContent(deals)),
  );
  expect(createRevision.revision.content.read.objects).toEqual([{ objectName: 'deals' }]);
});

test('pauses reads of objects that a destructive revision drops, and keeps earlier notes', async () => {
  const tenant = await app.createTenant();
  const integration = await createIntegration(app, tenant, createContent(contacts, deals));
  const readingInstallation = await connectAndInstall(tenant, integration, { groupRef: 'a' });
  const pausedInstallation = await connectAndInstall(tenant, integration, { groupRef: 'b' });
  await prisma.installedObject.updateMany({
    where: { installationId: pausedInstallation.id, objectName: 'contacts' },
    data: { paused: true, pauseNote: 'Moving house.' },
  });
  const change = createRevisionInput(tenant, createContent(deals), { destructive: true });
  await tenant.query(CREATE_REVISION, change);
  const [a, b] = [
    await readInstallation(tenant, readingInstallation.id),
    await readInstallation(tenant, pausedInstallation.id),
  ];
  expect(a.objects).toMatchObject([
    { objectName: 'deals', paused: false, pauseNote: null },
    { objectName: 'contacts', paused: true, pauseNote: DROPPED_NOTE, nextReadTime: null },
  ]);
  expect(b.objects[1]).toMatchObject({ paused: true, pauseNote: 'Moving house.' });
});

test('applies a new schedule immediately, except to disabled, paused and separately scheduled objects', async () => {
  now = start;
  const tenant = await app.createTenant();
  const integration = await createIntegration(app, tenant, createContent(contacts));
  const createConfig = (choice: object) => ({
    config: { read: [{ objectName: 'contacts', ...choice }] },
  });
  const installations = {
    inherits: await connectAndInstall(tenant, integration, { groupRef: 'a' }),
    own: await connectAndInstall(tenant, integration, {
      groupRef: 'b',
      ...createConfig({ schedule: '5 * * * *' }),
    }),
    disabled: await connectAndInstall(tenant, integration, {
      groupRef: 'c',
      ...createConfig({ disabled: true }),
    }),
    paused: await connectAndInstall(tenant, integration, { groupRef: 'd' }),
  };
  // Sets the state after the first reads, which start when the installations are created.
  const ownTime = new Date('2030-01-01T00:05:00.000Z');
  await prisma.installedObject.updateMany({
    where: { installationId: installations.own.id },
    data: { nextReadTime: ownTime },
  });
  await prisma.installedObject.updateMany({
    where: { installationId: installations.paused.id },
    data: { paused: true, nextReadTime: null },
  });
  const readNextTime = async (name: keyof typeof installations) =>
    (await readInstallation(tenant, installations[name].id)).objects[0].nextReadTime;
  expect(await readNextTime('inherits')).toBe(start.toISOString());

  const schedule = '30 * * * *';
  await tenant.query(
    CREATE_REVISION,
    createRevisionInput(tenant, createContent({ ...contacts, schedule })),
  );
  expect(await readNextTime('inherits')).toBe('2030-01-01T00:30:00.000Z');
  expect(await readNextTime('own')).toBe('2030-01-01T00:05:00.000Z');
  expect(await readNextTime('disabled')).toBeNull();
  expect(await readNextTime('paused')).toBeNull();

  await tenant.query(
    CREATE_REVISION,
    createRevisionInput(tenant, createContent({ objectName: 'contacts' })),
  );
  expect(await readNextTime('inherits')).toBeNull();
  expect(await readNextTime('own')).toBe('2030-01-01T00:05:00.000Z');
});

test('keeps the next read time if the schedule is unchanged', async () => {
  now = start;
  const tenant = await app.createTenant();
  const installation = await connectAndInstall(
    tenant,
    await createIntegration(app, tenant, createContent(contacts)),
  );
  now = new Date('2030-01-01T07:00:00Z');
  await tenant.query(
    CREATE_REVISION,
    createRevisionInput(tenant, createContent({ ...contacts, mapToName: 'people' })),
  );
  expect((await readInstallation(tenant, installation.id)).objects).toMatchObject([
    { mappedObjectName: 'people', nextReadTime: start.toISOString() },
  ]);
});

test('checks content as for a new integration, and refuses another name or provider', async () => {
  const tenant = await app.createTenant();
  await createIntegration(app, tenant, createContent(contacts));
  const object = { objectName: 'leads', destination: 'nowhere' };
  const named = { name: 'other', provider: 'hubspot' };
  const malformed = createRevisionInput(tenant, {
    ...named,
    read: { objects: [{ ...object, schedule: '* * * * *' }] },
  });
  malformed.input.revision.specVersion = '1.0';
  const expectIssueNames = async (change: Record<string, unknown>) => {
    const { code, problem } = await tenant.expectRefusal(CREATE_REVISION, change);
    expect(code).toBe('BAD_USER_INPUT');
    return listIssueNames(problem).sort();
  };
  expect(await expectIssueNames(malformed)).toEqual([
    'input.revision.content.read.objects[0].schedule',
    'input.revision.specVersion',
  ]);
  expect(
    await expectIssueNames(createRevisionInput(tenant, { ...named, read: { objects: [object] } })),
  ).toEqual([
    'input.revision.content.name',
    'input.revision.content.provider',
    'input.revision.content.read.objects[0].destination',
    'input.revision.content.read.objects[0].objectName',
  ]);
});

test('refuses either an installation or a revision that drops its object, if both happen at the same time', async () => {
  const tenant = await app.createTenant();
  await createIntegration(app, tenant, createContent(contacts, deals));
  await generateConnection(tenant);
  const [installResponse, revisionResponse] = await Promise.all([
    tenant.request(CREATE_INSTALLATION, {
      input: {
        projectIdOrName: tenant.projectId,
        integrationIdOrName: 'crm',
        groupRef: 'acme',
        config: { read: [contacts] },
      },
    }),
    tenant.request(CREATE_REVISION, createRevisionInput(tenant, createContent(deals))),
  ]);
  const refusals = [installResponse, revisionResponse].filter(({ errors }) => errors);
  expect(refusals).toHaveLength(1);
  expect(['BAD_USER_INPUT', 'CONFLICT']).toContain(refusals[0]?.errors?.[0]?.extensions.code);
});

test("returns NOT_FOUND for another tenant's integration, and FORBIDDEN without the scope", async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  const { id, latestRevision } = await createIntegration(app, tenant, createContent(contacts));
  for (const projectIdOrName of [tenant.projectId, otherTenant.projectId]) {
    const change = createRevisionInput(tenant, createContent(contacts), {
      projectIdOrName,
      integrationIdOrName: id,
    });
    expect(await otherTenant.expectRefusal(CREATE_REVISION, change)).toMatchObject({
      code: 'NOT_FOUND',
    });
  }
  const node = await otherTenant.query('query GetNode($id: ID!) { node(id: $id) { id } }', {
    id: latestRevision.id,
  });
  expect(node).toEqual({ node: null });
  const key = await tenant.withScopes('read', 'installations:write');
  const change = createRevisionInput(tenant, createContent(contacts));
  expect(await key.expectRefusal(CREATE_REVISION, change)).toMatchObject({ code: 'FORBIDDEN' });
  expect(await prisma.revision.count({ where: { integrationId: id } })).toBe(1);
});
