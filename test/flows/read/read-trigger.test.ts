import { expect, onTestFinished, test } from 'vitest';
import type { Tenant } from '../../support/app.ts';
import { createTestApp, getSharedApp } from '../../support/app.ts';
import { recordStatements } from '../../support/database/statements.ts';
import { recordEvents } from '../../support/fixtures/connections.ts';
import {
  createIntegration,
  createIntegrationContent,
} from '../../support/fixtures/integrations.ts';
import {
  type InstalledReads,
  installReads,
  PAUSE_READS,
  startReadJobs,
  TRIGGER_READ,
} from '../../support/fixtures/reads.ts';

const app = await getSharedApp();
const { services, sandbox } = app.app;
const { prisma } = services.database;
sandbox.seed('contacts', 250);

async function triggerRead(tenant: Tenant, reads: InstalledReads, overrides: object = {}) {
  const input = { ...reads.triggerInput, objectName: 'contacts', ...overrides };
  return (await tenant.query(TRIGGER_READ, { input })).triggerRead.operation;
}

test('stores a triggered read with the lease of this process if it has a free slot', async () => {
  const tenant = await app.createTenant();
  const reads = await installReads(app, tenant);
  await using _workers = await startReadJobs(app);
  const { statements } = await recordStatements(() => triggerRead(tenant, reads));
  const insert = statements.find(({ text }) => text.startsWith('insert into "ReadRun"'));
  const processId = services.database.processes.id;
  expect(insert?.values).toContainEqual(expect.stringMatching(`^${processId}:`));
  expect(await reads.waitForOperations(1)).toMatchObject([{ status: 'SUCCESS' }]);
});

test('accepts a triggered read immediately, and reads all records if it has no start time', async () => {
  const tenant = await app.createTenant();
  const reads = await installReads(app, tenant);
  const operation = await triggerRead(tenant, reads);
  expect(operation).toEqual({
    id: expect.stringMatching(/^opr_/),
    status: 'IN_PROGRESS',
    actionType: 'READ',
    metadata: { objects: ['contacts'] },
  });
  await using _workers = await startReadJobs(app);
  expect(await reads.waitForOperations(1)).toMatchObject([
    { id: operation.id, status: 'SUCCESS', result: '[contacts] Read completed (250 records)' },
  ]);
  const messages = await reads.listMessages();
  expect(messages.map(({ readType, operationId }) => [readType, operationId])).toEqual([
    ['triggered', operation.id],
    ['triggered', operation.id],
  ]);
});

test('reads within the times of the trigger, reports them in its event, and leaves the schedule unchanged', async () => {
  const tenant = await app.createTenant();
  const listEvents = await recordEvents(app, tenant);
  const reads = await installReads(app, tenant);
  const objectBefore = await reads.getObject();
  const pastTrigger = {
    sinceTime: '2020-01-01T00:00:00.000Z',
    untilTime: '2020-02-01T00:00:00.000Z',
  };
  await triggerRead(tenant, reads, pastTrigger);
  await using _workers = await startReadJobs(app);
  expect(await reads.waitForOperations(1)).toMatchObject([
    { result: '[contacts] No new data found' },
  ]);
  await triggerRead(tenant, reads, { sinceTime: pastTrigger.sinceTime });
  expect(await reads.waitForOperations(2)).toMatchObject([
    {},
    { result: '[contacts] Read completed (250 records)' },
  ]);
  const { sinceTime: fromTimestamp, untilTime: untilTimestamp } = pastTrigger;
  const done = (await listEvents()).filter(({ eventType }) => eventType === 'READ_TRIGGERED_DONE');
  const expectedMembers = { installationId: reads.id, objectName: 'contacts', fromTimestamp };
  expect(done.map(({ data }) => data)).toEqual([
    expect.objectContaining({ ...expectedMembers, untilTimestamp }),
    expect.objectContaining(expectedMembers),
  ]);
  expect(done[1]?.data).not.toHaveProperty('untilTimestamp');
  const { nextReadTime, readUntil, backfillDone } = objectBefore;
  expect(await reads.getObject()).toMatchObject({ nextReadTime, readUntil, backfillDone });
});

test("reports a failure in the trigger's event, and does not count it as a failed scheduled read", async () => {
  const tenant = await app.createTenant();
  const listEvents = await recordEvents(app, tenant);
  const reads = await installReads(app, tenant);
  const pathPrefix = '/objects/contacts/records';
  // The workers also run reads that other tests left.
  sandbox.faults.set({ status: 403, method: 'GET', pathPrefix, times: 1_000 });
  onTestFinished(() => sandbox.faults.clear());
  await triggerRead(tenant, reads);
  await using _workers = await startReadJobs(app);
  expect(await reads.waitForOperations(1)).toMatchObject([{ status: 'FAILURE' }]);
  expect(await listEvents()).toContainEqual({
    eventType: 'READ_TRIGGERED_ERROR',
    connectionId: reads.connection.id,
    data: expect.objectContaining({
      objectName: 'contacts',
      error: 'Injected fault: status 403',
    }),
  });
  expect((await reads.getObject()).consecutiveFailures).toBe(0);
});

test('reads an object by its mapped name, even while its schedule is paused', async () => {
  const tenant = await app.createTenant();
  const reads = await installReads(app, tenant, { object: { mapToName: 'people' } });
  await tenant.query(PAUSE_READS, { input: reads.input });
  await triggerRead(tenant, reads, { objectName: 'people' });
  await using _workers = await startReadJobs(app);
  expect(await reads.waitForOperations(1)).toMatchObject([{ status: 'SUCCESS' }]);
});

test('reports invalid input immediately, and reads nothing', async () => {
  const tenant = await app.createTenant();
  const reads = await installReads(app, tenant);
  const input = {
    ...reads.triggerInput,
    objectName: 'planets',
    groupRef: 'unknown',
    sinceTime: '2026-01-02T00:00:00.000Z',
    untilTime: '2026-01-02T00:00:00.000Z',
  };
  const expectIssues = async (overrides: object) => {
    const { code, problem } = await tenant.expectRefusal(TRIGGER_READ, {
      input: { ...input, ...overrides },
    });
    expect(code).toBe('BAD_USER_INPUT');
    return problem.issues;
  };
  expect(await expectIssues({})).toMatchObject([
    {
      in: 'body',
      name: 'input.untilTime',
      detail: 'must be after input.sinceTime.',
      parts: ['must be after ', { member: 'input.sinceTime' }, '.'],
      value: input.untilTime,
    },
  ]);
  expect(await expectIssues({ untilTime: null })).toMatchObject([
    {
      in: 'body',
      name: 'input.groupRef',
      detail: 'is not a group of the project.',
      value: 'unknown',
    },
    {
      in: 'body',
      name: 'input.objectName',
      detail: 'is not an object that the integration reads.',
      value: 'planets',
    },
  ]);
  expect(await reads.listOperations()).toEqual([]);
});

test("requires the scope reads:control and an installation of the caller's project", async () => {
  const tenant = await app.createTenant();
  const reads = await installReads(app, tenant);
  const input = { ...reads.triggerInput, objectName: 'contacts' };
  const reader = await tenant.withScopes('read', 'installations:write');
  expect((await reader.expectRefusal(TRIGGER_READ, { input })).code).toBe('FORBIDDEN');
  const controller = await tenant.withScopes('reads:control');
  await controller.query(TRIGGER_READ, { input });
  const otherTenant = await app.createTenant();
  expect((await otherTenant.expectRefusal(TRIGGER_READ, { input })).code).toBe('NOT_FOUND');
  const { id } = reads.integration;
  const otherTenantInput = {
    ...input,
    projectIdOrName: otherTenant.projectId,
    integrationIdOrName: id,
  };
  expect((await otherTenant.expectRefusal(TRIGGER_READ, { input: otherTenantInput })).code).toBe(
    'NOT_FOUND',
  );
  expect(await reads.listOperations()).toHaveLength(1);
});

test('returns NOT_FOUND if the group has not installed the integration', async () => {
  const tenant = await app.createTenant();
  const reads = await installReads(app, tenant);
  await createIntegration(app, tenant, createIntegrationContent('other'));
  const input = { ...reads.triggerInput, integrationIdOrName: 'other', objectName: 'contacts' };
  expect(await tenant.expectRefusal(TRIGGER_READ, { input })).toMatchObject({
    code: 'NOT_FOUND',
    problem: { detail: 'The group acme has not installed other.' },
  });
});

test('returns UNPROCESSABLE for an object that the config omits or disables', async () => {
  const tenant = await app.createTenant();
  const reads = await installReads(app, tenant, {
    config: { read: [{ objectName: 'contacts', disabled: true }] },
  });
  const input = { ...reads.triggerInput, objectName: 'contacts' };
  expect(await tenant.expectRefusal(TRIGGER_READ, { input })).toMatchObject({
    code: 'UNPROCESSABLE',
    problem: { detail: "The installation's config disables contacts." },
  });
  const otherTenant = await app.createTenant();
  const emptyReads = await installReads(app, otherTenant, { config: { read: [] } });
  const triggerVariables = { input: { ...emptyReads.triggerInput, objectName: 'contacts' } };
  expect((await otherTenant.expectRefusal(TRIGGER_READ, triggerVariables)).code).toBe(
    'UNPROCESSABLE',
  );
});

test('returns UNPROCESSABLE if the provider no longer supports reads', async () => {
  const [provider] = services.catalogs.builtIn.providers.filter(({ name }) => name === 'sandbox');
  if (!provider) throw new Error('The catalog has no sandbox.');
  const capabilities = { ...provider.capabilities };
  await using otherApp = await createTestApp({ providers: [{ ...provider, capabilities }] });
  const tenant = await otherApp.createTenant();
  const reads = await installReads(otherApp, tenant);
  delete capabilities.readPage;
  const input = { ...reads.triggerInput, objectName: 'contacts' };
  expect(await tenant.expectRefusal(TRIGGER_READ, { input })).toMatchObject({
    code: 'UNPROCESSABLE',
    problem: { detail: 'Sandbox CRM does not support reads.' },
  });
});

test('returns RATE_LIMITED for a project with too many pending deliveries, and delays its scheduled reads', async () => {
  await using otherApp = await createTestApp({ env: { LIMIT_PENDING_DELIVERIES: '2' } });
  otherApp.app.sandbox.seed('contacts', 250);
  const tenant = await otherApp.createTenant();
  const reads = await installReads(otherApp, tenant);
  await triggerRead(tenant, reads);
  await using _workers = await startReadJobs(otherApp);
  await reads.waitForOperations(1);
  const input = { ...reads.triggerInput, objectName: 'contacts' };
  expect(await tenant.expectRefusal(TRIGGER_READ, { input })).toMatchObject({
    code: 'RATE_LIMITED',
    problem: { retryAfterSeconds: 30 },
  });
  await reads.makeDue();
  const readNextReadTime = async () => (await reads.getObject()).nextReadTime?.getTime();
  await expect.poll(readNextReadTime).toBeGreaterThan(Date.now());
  expect(await reads.listOperations()).toHaveLength(1);

  const { database } = otherApp.app.services;
  await database.prisma.destination.updateMany({ data: { status: 'DISABLED' } });
  await reads.makeDue();
  await reads.waitForOperations(2);
});

test('limits the concurrent triggered reads of a project', async () => {
  const tenant = await app.createTenant();
  const reads = await installReads(app, tenant);
  await triggerRead(tenant, reads);
  const [firstOperation] = await reads.listOperations();
  if (!firstOperation) throw new Error('No read has started.');
  const { projectId, installationId, integrationId, configId } = firstOperation;
  const ids = Array.from({ length: 999 }, (_, index) => `opr_of_test_${projectId}_${index}`);
  const metadata = {};
  await prisma.operation.createMany({
    data: ids.map((id) => ({
      ...{ id, projectId, installationId, integrationId, configId, metadata },
      actionType: 'READ' as const,
      status: 'IN_PROGRESS' as const,
    })),
  });
  const waitingRun = { readType: 'TRIGGERED', dueTime: new Date(Date.now() + 3_600_000) } as const;
  await prisma.readRun.createMany({
    data: ids.map((operationId) => ({
      ...{ operationId, projectId, installationId, objectName: 'contacts' },
      ...waitingRun,
    })),
  });
  const input = { ...reads.triggerInput, objectName: 'contacts' };
  expect((await tenant.expectRefusal(TRIGGER_READ, { input })).code).toBe('RATE_LIMITED');
});
