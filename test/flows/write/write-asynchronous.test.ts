import { afterAll, expect, test } from 'vitest';
import { LeaseLost } from '../../../src/database/leases/lease.ts';
import { writes } from '../../../src/domain/data/operation/write/write-run.ts';
import { notifyWorkers } from '../../../src/jobs/workers.ts';
import { getSharedApp } from '../../support/app.ts';
import { recordEvents } from '../../support/fixtures/connections.ts';
import { deleteInstallation } from '../../support/fixtures/integrations.ts';
import {
  createContact,
  createWriter,
  startWriteJobs,
  type Writer,
} from '../../support/fixtures/writes.ts';
import { claimDueRow, claimDueRows, runDueRows } from '../../support/work/due-work.ts';

const HOUR_MS = 3_600_000;
const pathPrefix = '/objects/contacts';

let aheadMs = 0;
const app = await getSharedApp({ now: () => new Date(Date.now() + aheadMs) });
const { sandbox, services } = app.app;
const { prisma } = services.database;
let workers = await startWriteJobs(app);
afterAll(() => workers[Symbol.asyncDispose]());

/** Runs the test while no worker runs writes. */
async function withoutWorkers(work: () => Promise<void>): Promise<void> {
  await workers[Symbol.asyncDispose]();
  await work().finally(async () => {
    workers = await startWriteJobs(app);
  });
}

const listEmails = () => sandbox.listRecords('contacts').map(({ email }) => email);
const writeAsynchronously = (writer: Writer, overrides: object) =>
  writer.write({ mode: 'ASYNCHRONOUS', ...overrides });
const getTask = (id: string) => prisma.writeTask.findFirstOrThrow({ where: { id } });

/** Resolves when the operation satisfies the condition. */
async function waitUntil(
  operationId: string,
  isSatisfied: (operation: { metadata: unknown }) => boolean,
) {
  const row = await prisma.operation.findFirstOrThrow({ where: { id: operationId } });
  for await (const { node } of services.operationChanges.follow(row)) {
    if (isSatisfied(node)) return;
  }
}
const isRetried = ({ metadata }: { metadata: unknown }) => 'retry' in (metadata as object);

test('accepts an asynchronous write immediately, and reports its outcome in an event', async () => {
  const writer = await createWriter(app);
  const listEvents = await recordEvents(app, writer);
  const record = createContact();
  const response = await writeAsynchronously(writer, { record });
  expect(response).toMatchObject({
    operation: { status: 'IN_PROGRESS', result: null },
    result: null,
    results: null,
    successCount: null,
    failureCount: null,
  });
  const operation = await writer.waitForOperation(response.operationId);
  const [created] = sandbox.listRecords('contacts').filter(({ email }) => email === record.email);
  expect(operation).toMatchObject({
    status: 'SUCCESS',
    metadata: { objects: ['contacts'], successfulRecordIds: [created?.id] },
  });
  expect((await listEvents()).filter(({ eventType }) => eventType === 'WRITE_ASYNC_DONE')).toEqual([
    {
      eventType: 'WRITE_ASYNC_DONE',
      connectionId: writer.connectionId,
      data: {
        projectId: writer.projectId,
        provider: 'sandbox',
        integrationId: writer.integrationId,
        integrationName: 'crm',
        installationId: writer.installationId,
        groupRef: 'acme',
        groupName: 'acme',
        connectionId: writer.connectionId,
        consumerRef: 'ann',
        consumerName: 'ann',
        operationId: response.operationId,
        objectName: 'contacts',
        rawObjectName: 'contacts',
        mappedObjectName: 'contacts',
        success: true,
        successfulRecordIds: [created?.id],
        errors: [],
      },
    },
  ]);
});

test('lists written and refused records of a batch in the event', async () => {
  const writer = await createWriter(app);
  const listEvents = await recordEvents(app, writer);
  const batch = [{ record: createContact() }, { record: { lastname: 'No email' } }];
  const { operationId } = await writeAsynchronously(writer, { batch });
  expect(await writer.waitForOperation(operationId)).toMatchObject({ status: 'SUCCESS' });
  const [event] = (await listEvents()).filter(({ eventType }) => eventType === 'WRITE_ASYNC_DONE');
  expect(event?.data).toMatchObject({
    success: false,
    successfulRecordIds: [expect.any(String)],
    errors: [expect.any(String)],
  });
});

test('retries a write that fails temporarily until it succeeds, once', async () => {
  const writer = await createWriter(app);
  const record = createContact();
  sandbox.faults.set({ drop: 'after', times: 2, pathPrefix });
  const { operationId } = await writeAsynchronously(writer, { record });
  expect(await writer.waitForOperation(operationId)).toMatchObject({
    status: 'SUCCESS',
    metadata: { retry: { attempts: 3 } },
  });
  expect(listEmails().filter((email) => email === record.email)).toHaveLength(1);
});

test("waits for the provider's Retry-After before the next attempt", async () => {
  const writer = await createWriter(app);
  sandbox.faults.set({ status: 429, retryAfterSeconds: 90, pathPrefix });
  const { operationId } = await writeAsynchronously(writer, { record: createContact() });
  await waitUntil(operationId, isRetried);
  const { dueTime, lastAttemptTime, leaseToken } = await getTask(operationId);
  expect(Number(dueTime) - Number(lastAttemptTime)).toBeGreaterThanOrEqual(90_000);
  expect(leaseToken).toBeNull();
});

test('fails a write after a permanent refusal', async () => {
  const writer = await createWriter(app);
  sandbox.faults.set({ status: 403, pathPrefix });
  const { operationId } = await writeAsynchronously(writer, { record: createContact() });
  const operation = await writer.waitForOperation(operationId);
  expect(operation).toMatchObject({ status: 'FAILURE' });
  expect(operation.metadata).not.toHaveProperty('retry');
});

test('does not retry a write after its deadline', async () => {
  const writer = await createWriter(app);
  sandbox.faults.set({ status: 503, times: 1_000, pathPrefix });
  const retryPolicy = { deadlineHours: 2 };
  const { operationId } = await writeAsynchronously(writer, {
    record: createContact(),
    retryPolicy,
  });
  await waitUntil(operationId, isRetried);
  aheadMs += 3 * HOUR_MS;
  notifyWorkers(services.database, writes);
  const operation = await writer.waitForOperation(operationId);
  sandbox.faults.clear();
  expect(operation).toMatchObject({ status: 'FAILURE', metadata: { successfulRecordIds: [] } });
  expect(operation.result).toContain('unknown');
});

test('continues a write of a killed process, and refuses its late result', () =>
  withoutWorkers(async () => {
    const writer = await createWriter(app);
    const { projectId } = writer;
    const record = createContact();
    const { operationId } = await writeAsynchronously(writer, { record });
    const lostClaim = await claimDueRow(services, writes, projectId);
    expect(await claimDueRows(services, writes, projectId)).toEqual([]);
    await prisma.$executeRaw`
      update "WriteTask" set "leaseExpireTime" = clock_timestamp()
      where "projectId" = ${projectId} and "id" = ${operationId}`;
    await runDueRows(services, writes, { projectId });
    expect(await writer.waitForOperation(operationId)).toMatchObject({ status: 'SUCCESS' });
    const task = await getTask(operationId);
    const { signal } = new AbortController();
    await expect(writes.run(services, lostClaim, signal)).rejects.toThrow(LeaseLost);
    expect(await getTask(operationId)).toEqual(task);
    expect(listEmails().filter((email) => email === record.email)).toHaveLength(1);
  }));

test('runs a write once, and not after its end', () =>
  withoutWorkers(async () => {
    const writer = await createWriter(app);
    const { projectId } = writer;
    const { operationId } = await writeAsynchronously(writer, { record: createContact() });
    const claims = await Promise.all([1, 2].map(() => claimDueRows(services, writes, projectId)));
    const [claim, ...otherClaims] = claims.flat();
    if (!claim) throw new Error('The write is not due.');
    expect(otherClaims).toEqual([]);
    await writes.run(services, claim, new AbortController().signal);
    expect(await runDueRows(services, writes, { projectId })).toEqual([]);
    expect((await getTask(operationId)).attempts).toBe(1);
  }));

test('fails a write whose installation is deleted', () =>
  withoutWorkers(async () => {
    const writer = await createWriter(app);
    const { operationId } = await writeAsynchronously(writer, { record: createContact() });
    await deleteInstallation(writer, writer.installationId);
    await runDueRows(services, writes, { projectId: writer.projectId });
    expect(await writer.waitForOperation(operationId)).toMatchObject({
      status: 'FAILURE',
      result: expect.stringContaining('installation has been deleted'),
    });
  }));

test('fails a write whose result could not be stored for a day, with the instance of the error', () =>
  withoutWorkers(async () => {
    const writer = await createWriter(app);
    const { projectId } = writer;
    const { operationId } = await writeAsynchronously(writer, { record: createContact() });
    const failingServices = {
      ...services,
      catalogs: {
        builtIn: services.catalogs.builtIn,
        getOfProject: () => Promise.reject(new Error('a defect')),
        forget: () => {},
      },
    };
    const where = { id: operationId };
    const run = () => runDueRows(failingServices, writes, { projectId });
    await expect(run()).rejects.toThrow('a defect');
    expect(await getTask(operationId)).toMatchObject({ attempts: 1, endTime: null });
    const data = { attempts: 1_500, leaseToken: null, leaseExpireTime: null };
    await prisma.writeTask.updateMany({ where, data });
    await run();
    expect(await writer.waitForOperation(operationId)).toMatchObject({
      status: 'FAILURE',
      result: expect.stringContaining('Report urn:'),
    });
    expect(await run()).toEqual([]);
  }));
