/** With `watchSchema`, an integration delivers changes of an object's fields to a destination. */

import { expect, test } from 'vitest';
import { schemaWatches } from '../../src/domain/data/schema-watch/poll-schemas.ts';
import { schemaMessage } from '../../src/domain/data/schema-watch/schema-difference.ts';
import { limitToShardGroup } from '../../src/jobs/run-work.ts';
import type { FieldDescription } from '../../src/providers/contract.ts';
import { ProviderError } from '../../src/providers/provider-error.ts';
import { createSandboxProvider } from '../../src/providers/sandbox/sandbox-provider.ts';
import { getSharedApp, type Tenant } from '../support/app.ts';
import { PROVIDERS } from '../support/fixtures/connections.ts';
import {
  CREATE_INTEGRATION,
  CREATE_REVISION,
  connectAndInstall,
  createIntegration,
  createIntegrationContent,
  deleteInstallation,
  insertDestination,
  toRevision,
} from '../support/fixtures/integrations.ts';
import { runAllDueRows } from '../support/work/due-work.ts';

const DAY_MS = 86_400_000;
const sandbox = createSandboxProvider(() => 'http://sandbox.test');
const createField = (
  fieldName: string,
  overrides: Partial<FieldDescription> = {},
): FieldDescription => ({
  fieldName,
  displayName: fieldName,
  valueType: 'STRING',
  providerType: 'text',
  readOnly: false,
  isCustom: false,
  isRequired: false,
  values: null,
  referenceTo: null,
  ...overrides,
});

/** Returns the field in the form of a message. */
const formatField = (fieldName: string) => {
  const { values: _values, referenceTo: _referenceTo, ...rest } = createField(fieldName);
  return { ...rest, valueType: 'string' };
};

/** The provider's description of contacts, or its failure. */
let fields: FieldDescription[] | ProviderError = [];
const describingProvider = {
  ...sandbox,
  capabilities: {
    ...sandbox.capabilities,
    describeObject: async (_session: unknown, objectName: string) => {
      if (fields instanceof ProviderError) throw fields;
      return { name: objectName, displayName: objectName, fields };
    },
  },
};
let nowMs = Date.now();
const app = await getSharedApp({
  now: () => new Date(nowMs),
  providers: [describingProvider, ...PROVIDERS.filter(({ name }) => name !== 'sandbox')],
});
const { prisma } = app.app.services.database;
const ALWAYS_ENABLED = { enabled: 'ALWAYS' };
const ALL_CHANGES = {
  fieldCreated: ALWAYS_ENABLED,
  fieldDeleted: ALWAYS_ENABLED,
  fieldChanged: ALWAYS_ENABLED,
};

function createContent(allObjects: object = ALL_CHANGES, overrides: object = {}) {
  return createIntegrationContent('crm', {
    watchSchema: { destination: 'records', allObjects, ...overrides },
  });
}

/** Advances the clock, and runs all checks that are due. */
async function checkAfter(ms = 0): Promise<void> {
  nowMs += ms;
  const { services } = app.app;
  for (const shardGroup of await services.database.listShardGroups()) {
    await runAllDueRows(limitToShardGroup(services, shardGroup), schemaWatches);
  }
}

async function listMessages({ projectId }: Tenant) {
  const rows = await prisma.delivery.findMany({ where: { projectId }, orderBy: { id: 'asc' } });
  return rows
    .map(({ body }) => JSON.parse(body))
    .filter(({ action }) => action === 'schema.watch')
    .map((body) => schemaMessage.parse(body));
}

async function install(content = createContent()) {
  const tenant = await app.createTenant();
  fields = [createField('email'), createField('phone')];
  const integration = await createIntegration(app, tenant, content);
  const { id: installationId } = await connectAndInstall(tenant, integration);
  await checkAfter();
  return { tenant, integration, installationId };
}

test('stores the fields at the first check, and then delivers each change once', async () => {
  const { tenant } = await install();
  expect(await listMessages(tenant)).toEqual([]);
  fields = [createField('email', { isRequired: true }), createField('tier')];
  await checkAfter(DAY_MS);
  await checkAfter();
  const [message, ...otherMessages] = await listMessages(tenant);
  expect(otherMessages).toEqual([]);
  expect(message).toMatchObject({
    objectName: 'contacts',
    groupRef: 'acme',
    result: [
      {
        createdFields: [formatField('tier')],
        deletedFields: [formatField('phone')],
        changedFields: [
          {
            oldSchema: formatField('email'),
            newSchema: { ...formatField('email'), isRequired: true },
          },
        ],
      },
    ],
  });
  await checkAfter(DAY_MS);
  expect(await listMessages(tenant)).toHaveLength(1);
});

test('delivers only the kinds of changes that the integration lists', async () => {
  const { tenant } = await install(createContent({ fieldDeleted: ALWAYS_ENABLED }));
  fields = [createField('email', { isRequired: true }), createField('phone'), createField('tier')];
  await checkAfter(DAY_MS);
  expect(await listMessages(tenant)).toEqual([]);
  fields = [createField('email')];
  await checkAfter(DAY_MS);
  const [message] = await listMessages(tenant);
  expect(message?.result[0]?.deletedFields.map(({ fieldName }) => fieldName)).toEqual([
    'phone',
    'tier',
  ]);
});

test('checks the fields on the schedule of the integration', async () => {
  const { tenant } = await install(createContent(ALL_CHANGES, { schedule: '0 * * * *' }));
  fields = [createField('email')];
  await checkAfter(3_600_000);
  expect(await listMessages(tenant)).toHaveLength(1);
});

test('retries a failed check later, and reports no field as deleted', async () => {
  const { tenant } = await install();
  fields = new ProviderError('SERVER_ERROR', 'Down for maintenance.');
  await checkAfter(DAY_MS);
  fields = [createField('email'), createField('phone'), createField('tier')];
  await checkAfter();
  expect(await listMessages(tenant)).toEqual([]);
  await checkAfter(120_000);
  const [message] = await listMessages(tenant);
  expect(message?.result[0]).toMatchObject({
    createdFields: [formatField('tier')],
    deletedFields: [],
  });
});

test('starts and stops watching with a revision, and stops with the installation', async () => {
  const { tenant, integration, installationId } = await install(createIntegrationContent('crm'));
  const countWatches = () => prisma.schemaWatch.count({ where: { installationId } });
  const createRevision = (content: object) =>
    tenant.query(CREATE_REVISION, {
      input: {
        projectIdOrName: tenant.projectId,
        integrationIdOrName: integration.id,
        revision: toRevision(content),
      },
    });
  expect(await countWatches()).toBe(0);
  await createRevision(createContent());
  expect(await countWatches()).toBe(1);
  await createRevision(createIntegrationContent('crm'));
  expect(await countWatches()).toBe(0);
  await createRevision(createContent());
  await deleteInstallation(tenant, installationId);
  expect(await countWatches()).toBe(0);
});

test('refuses an object that cannot be watched, at its position', async () => {
  const tenant = await app.createTenant();
  await insertDestination(app, tenant);
  const listIssues = async (overrides: object) => {
    const { name, provider } = { name: 'crm', provider: 'sandbox', ...overrides };
    const content = createContent(ALL_CHANGES, { destination: 'nowhere' });
    const latestRevision = toRevision({ ...content, ...overrides });
    const input = { projectIdOrName: tenant.projectId, name, provider, latestRevision };
    const { problem } = await tenant.expectRefusal(CREATE_INTEGRATION, { input });
    return problem.issues;
  };
  const path = 'input.latestRevision.content.watchSchema';
  expect(await listIssues(createContent(ALL_CHANGES, { schedule: '*/30 * * * *' }))).toMatchObject([
    { name: `${path}.schedule`, detail: 'must be at most one run in 60 minutes.' },
  ]);
  expect(await listIssues({})).toMatchObject([
    { name: `${path}.destination`, detail: 'is not a destination of the project.' },
  ]);
  const proxyContent = {
    ...createContent(),
    read: null,
    provider: 'sendGrid',
    proxy: { enabled: true },
  };
  expect(await listIssues(proxyContent)).toMatchObject([
    { name: path, detail: expect.stringContaining('does not describe its objects (METADATA)') },
  ]);
});

test('refuses to rename or delete a destination of schema changes', async () => {
  const { tenant } = await install(
    createIntegrationContent('crm', {
      read: null,
      write: { objects: [{ objectName: 'contacts' }] },
      watchSchema: { destination: 'records', allObjects: ALL_CHANGES },
    }),
  );
  const { projectId } = tenant;
  const where = { projectId_name: { projectId, name: 'records' } };
  const { id: destinationId } = await prisma.destination.findUniqueOrThrow({ where });
  const { problem } = await tenant.expectRefusal(
    `mutation DeleteDestination($input: DeleteDestinationInput!) { deleteDestination(input: $input) { deletedId } }`,
    { input: { projectIdOrName: projectId, destinationId } },
  );
  expect(problem.detail).toContain('integration crm');
});
