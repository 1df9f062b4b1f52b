import { afterEach, expect, test } from 'vitest';
import { LeaseLost } from '../../../src/database/leases/lease.ts';
import type { Row } from '../../../src/database/statements/tables.ts';
import {
  reads as readWork,
  recordPage,
} from '../../../src/domain/data/operation/read/continue-read.ts';
import { getReadSource } from '../../../src/domain/data/operation/read/read-source.ts';
import { startDueReads } from '../../../src/domain/data/operation/read/schedule.ts';
import type { ProviderRecord } from '../../../src/providers/moving-records.ts';
import { getSharedApp, type Tenant } from '../../support/app.ts';
import { generateConnection, recordEvents } from '../../support/fixtures/connections.ts';
import { deleteInstallation, UPDATE_INSTALLATION } from '../../support/fixtures/integrations.ts';
import {
  type InstalledReads,
  installReads,
  POLLING,
  RESUME_READS,
  startReadJobs,
  TRIGGER_READ,
} from '../../support/fixtures/reads.ts';
import { claimDueRow, claimDueRows } from '../../support/work/due-work.ts';

const app = await getSharedApp();
const { services, sandbox } = app.app;
const { prisma } = services.database;
sandbox.seed('contacts', 450);
const RECORD_REQUESTS = { method: 'GET', pathPrefix: '/objects/contacts/records' } as const;

afterEach(() => sandbox.faults.clear());

const COMPLETED_READ = { status: 'SUCCESS', result: '[contacts] Read completed (450 records)' };

interface StartedRead {
  tenant: Tenant;
  reads: InstalledReads;
  operation: Row<'Operation'>;
  /** The ID of the read's operation. */
  id: string;
}

/** Starts a read of a new tenant. No worker has claimed it. */
async function startRead(): Promise<StartedRead> {
  const tenant = await app.createTenant();
  const reads = await installReads(app, tenant);
  await reads.makeDue();
  await startDueReads(services);
  const [operation] = await reads.listOperations();
  if (!operation) throw new Error('No read has started.');
  return { tenant, reads, operation, id: operation.id };
}

/** Claims the read as a worker does. Returns a function that records a page of it. */
async function claimRead({ tenant: { projectId }, reads, operation }: StartedRead) {
  const run = await claimDueRow(services, readWork, projectId);
  const source = await getReadSource(services, { id: reads.id, projectId }, 'contacts');
  return (page: { records: ProviderRecord[]; nextCursor: string | null }) =>
    recordPage(services, {
      run,
      operation,
      source,
      page: { ...page, estimatedTotal: null },
      durationMs: 0,
    });
}

function updateRun(operationId: string, data: Parameters<typeof prisma.readRun.update>[0]['data']) {
  return prisma.readRun.updateMany({ where: { operationId }, data });
}

async function listDeliveredIds(reads: InstalledReads) {
  const messages = await reads.listMessages();
  return messages.flatMap(({ result }) => result.map(({ raw }) => raw.id));
}

/** Runs workers until the read has ended, and expects each record once. */
async function expectAllRecordsOnce(reads: InstalledReads): Promise<void> {
  await using _workers = await startReadJobs(app);
  expect(await reads.waitForOperations(1)).toMatchObject([COMPLETED_READ]);
  expect(await listDeliveredIds(reads)).toEqual(
    sandbox.listRecords('contacts').map(({ id }) => id),
  );
}

test('retries the failed page after a temporary failure', async () => {
  const { reads, id } = await startRead();
  sandbox.faults.set({ ...RECORD_REQUESTS, status: 503 });
  await expectAllRecordsOnce(reads);
  const warnings = await prisma.operationLog.findMany({
    where: { operationId: id, severity: 'WARNING' },
  });
  expect(warnings).toMatchObject([
    { message: '[contacts] Try 1 failed: Injected fault: status 503' },
  ]);
});

test("waits for the time in the provider's Retry-After header", async () => {
  const { id } = await startRead();
  sandbox.faults.set({ ...RECORD_REQUESTS, status: 503, retryAfterSeconds: 600 });
  await using _workers = await startReadJobs(app);
  const readFailures = async () =>
    (await prisma.readRun.findFirstOrThrow({ where: { operationId: id } })).failures;
  await expect.poll(readFailures, POLLING).toBe(1);
  const run = await prisma.readRun.findFirstOrThrow({ where: { operationId: id } });
  expect(run.dueTime.getTime() - Date.now()).toBeGreaterThan(500_000);
  expect(run.leaseToken).toBeNull();
});

test('fails a read after repeated failures, with the reason', async () => {
  const { reads, id } = await startRead();
  await updateRun(id, { failures: 9 });
  sandbox.faults.set({ ...RECORD_REQUESTS, status: 503 });
  await using _workers = await startReadJobs(app);
  expect(await reads.waitForOperations(1)).toMatchObject([
    {
      status: 'FAILURE',
      result: '[contacts] Error reading from provider: Injected fault: status 503',
    },
  ]);
  expect(await prisma.readRun.count({ where: { operationId: id } })).toBe(0);
});

test('fails a read immediately after a permanent failure, and resets the count of failures after a success', async () => {
  const reads = await installReads(app, await app.createTenant());
  sandbox.faults.set({ ...RECORD_REQUESTS, status: 403 });
  await using _workers = await startReadJobs(app);
  await reads.makeDue();
  expect(await reads.waitForOperations(1)).toMatchObject([{ status: 'FAILURE' }]);
  expect(await reads.getObject()).toMatchObject({
    consecutiveFailures: 1,
    paused: false,
    backfillDone: false,
  });
  await reads.makeDue();
  expect(await reads.waitForOperations(2)).toMatchObject([{ status: 'FAILURE' }, COMPLETED_READ]);
  expect(await reads.getObject()).toMatchObject({ consecutiveFailures: 0, backfillDone: true });
});

test('pauses an object after five failed reads in a row, until it is resumed', async () => {
  const tenant = await app.createTenant();
  const listEvents = await recordEvents(app, tenant);
  const reads = await installReads(app, tenant);
  const where = { installationId: reads.id };
  await prisma.installedObject.updateMany({ where, data: { consecutiveFailures: 4 } });
  sandbox.faults.set({ ...RECORD_REQUESTS, status: 403 });
  await reads.makeDue();
  await using _workers = await startReadJobs(app);
  await reads.waitForOperations(1);
  const error = 'Injected fault: status 403';
  expect(await reads.getObject()).toMatchObject({
    paused: true,
    pauseNote: `Paused after 5 failed reads in a row: ${error}`,
    nextReadTime: null,
    consecutiveFailures: 5,
  });
  expect(await listEvents()).toContainEqual({
    eventType: 'READ_SCHEDULE_PAUSED',
    connectionId: reads.connection.id,
    data: expect.objectContaining({
      installationId: reads.id,
      objectName: 'contacts',
      error,
      config: expect.objectContaining({
        read: [expect.objectContaining({ objectName: 'contacts' })],
      }),
    }),
  });
  await tenant.query(RESUME_READS, { input: reads.input });
  expect(await reads.getObject()).toMatchObject({
    paused: false,
    consecutiveFailures: 0,
    nextReadTime: expect.any(Date),
  });
});

test('restarts a read from the first page if its cursor has expired', async () => {
  const { reads, id } = await startRead();
  await updateRun(id, { cursor: 'deadbeef.200.450', pagesRead: 1, recordsRead: 200 });
  await expectAllRecordsOnce(reads);
});

test('fails a read whose cursor expires repeatedly', async () => {
  const { reads, id } = await startRead();
  await updateRun(id, { cursor: 'deadbeef.200.450', restarts: 10 });
  await using _workers = await startReadJobs(app);
  expect(await reads.waitForOperations(1)).toMatchObject([
    { status: 'FAILURE', result: expect.stringContaining('The cursor is gone') },
  ]);
});

test('restarts a read from the first page if its fields have changed', async () => {
  const { reads, id } = await startRead();
  await updateRun(id, { cursor: 'of another plan', planKey: 'another', recordsRead: 400 });
  await expectAllRecordsOnce(reads);
});

test("resumes a read of a killed worker, and refuses the late worker's page", async () => {
  const read = await startRead();
  const { tenant, reads, id } = read;
  const recordLatePage = await claimRead(read);
  expect(await claimDueRows(services, readWork, tenant.projectId)).toEqual([]);
  // Simulates a worker that has not renewed its lease.
  await updateRun(id, { dueTime: new Date(0), leaseExpireTime: new Date(0) });
  await expectAllRecordsOnce(reads);
  await expect(recordLatePage({ records: [], nextCursor: 'late' })).rejects.toThrow(LeaseLost);
});

test('refuses a page of a replaced connection, and restarts the read with the new connection', async () => {
  const read = await startRead();
  const { tenant, reads } = read;
  const recordLatePage = await claimRead(read);
  const newConnection = await generateConnection(tenant, {
    apiKey: 'sandbox-key-2',
    consumerRef: 'second',
  });
  const input = { projectIdOrName: tenant.projectId, installationId: reads.id };
  await tenant.query(UPDATE_INSTALLATION, { input: { ...input, connectionId: newConnection.id } });
  await expect(recordLatePage({ records: [], nextCursor: null })).rejects.toThrow(LeaseLost);
  await expectAllRecordsOnce(reads);
});

test('fails a read whose installation is deleted', async () => {
  const { tenant, reads, id } = await startRead();
  await deleteInstallation(tenant, reads.id);
  await using _workers = await startReadJobs(app);
  expect(await reads.waitForOperations(1)).toMatchObject([
    { id, status: 'FAILURE', result: expect.stringContaining('was not found') },
  ]);
});

test('enqueues no delivery for a page of a deleted installation', async () => {
  const read = await startRead();
  const recordLatePage = await claimRead(read);
  await deleteInstallation(read.tenant, read.reads.id);
  const records = [{ id: '1', fields: {}, raw: {} }];
  await expect(recordLatePage({ records, nextCursor: null })).rejects.toThrow(
    'no longer reads contacts',
  );
  expect(await read.reads.listMessages()).toEqual([]);
});

/** Removes the object from the installation's config, and adds it again with a backfill of all records. */
async function reinstallObject({ tenant, reads }: StartedRead): Promise<void> {
  const input = { projectIdOrName: tenant.projectId, installationId: reads.id };
  const contacts = { objectName: 'contacts', backfill: { fullHistory: true } };
  for (const read of [[], [contacts]]) {
    await tenant.query(UPDATE_INSTALLATION, { input: { ...input, config: { read } } });
  }
}

test('backfills an object that was removed and added again while its backfill waited', async () => {
  const read = await startRead();
  const { tenant, reads, id } = read;
  const listEvents = await recordEvents(app, tenant);
  await reinstallObject(read);
  await using _workers = await startReadJobs(app);
  await reads.makeDue();
  const [, backfill] = await reads.waitForOperations(2);
  expect(await reads.listOperations()).toMatchObject([
    { id, status: 'FAILURE', result: expect.stringContaining('no longer reads contacts') },
    COMPLETED_READ,
  ]);
  expect(await reads.getObject()).toMatchObject({
    backfillDone: true,
    backfillOperationId: backfill?.id,
    consecutiveFailures: 0,
  });
  const events = await listEvents();
  expect(events.filter(({ eventType }) => eventType === 'READ_BACKFILL_DONE')).toHaveLength(1);
});

test('refuses a page of a read whose object was removed and added again', async () => {
  const read = await startRead();
  const recordLatePage = await claimRead(read);
  await reinstallObject(read);
  await expect(recordLatePage({ records: [], nextCursor: null })).rejects.toThrow(LeaseLost);
  expect(await read.reads.getObject()).toMatchObject({ backfillDone: false });
});

test('fails a read without its destination', async () => {
  const tenant = await app.createTenant();
  const reads = await installReads(app, tenant);
  await prisma.destination.deleteMany({ where: { projectId: tenant.projectId } });
  await reads.makeDue();
  await using _workers = await startReadJobs(app);
  expect(await reads.waitForOperations(1)).toMatchObject([
    {
      status: 'FAILURE',
      result: expect.stringContaining('The destination records does not exist.'),
    },
  ]);
});

test('fails a read with rejected credentials, and sets the connection to BAD_CREDENTIALS', async () => {
  const reads = await installReads(app, await app.createTenant());
  // The health check confirms that the credentials are rejected.
  sandbox.faults.set({ pathPrefix: '/objects', status: 401, times: 2 });
  await reads.makeDue();
  await using _workers = await startReadJobs(app);
  expect(await reads.waitForOperations(1)).toMatchObject([{ status: 'FAILURE' }]);
  const where = { id: reads.connection.id };
  expect(await prisma.connection.findFirst({ where })).toMatchObject({ status: 'BAD_CREDENTIALS' });
});

test('reads other projects while one account is slow', async () => {
  const [slow, fast] = [await app.createTenant(), await app.createTenant()];
  const object = {
    objectName: 'deals',
    requiredFields: [{ fieldName: 'name' }],
    optionalFields: [],
  };
  const deals = await installReads(app, slow, { object });
  const contacts = await installReads(app, fast);
  sandbox.faults.set({ pathPrefix: '/objects/deals/records', delayMs: 2_000, times: 20 });
  const input = { ...deals.triggerInput, objectName: 'deals' };
  for (let count = 0; count < 10; count += 1) await slow.query(TRIGGER_READ, { input });
  const { operation } = (
    await fast.query(TRIGGER_READ, { input: { ...contacts.triggerInput, objectName: 'contacts' } })
  ).triggerRead;
  await using _workers = await startReadJobs(app);
  expect(await contacts.waitForOperations(1)).toMatchObject([
    { id: operation.id, status: 'SUCCESS' },
  ]);
  const statuses = (await deals.listOperations()).map(({ status }) => status);
  expect(statuses).toContain('IN_PROGRESS');
});
