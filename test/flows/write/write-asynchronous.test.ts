import { afterAll, expect, test } from 'vitest';
import { runClaim, runWrite } from '../../../src/domain/operation/write/write-run.ts';
import { claimWrite, recoverWrites } from '../../../src/domain/operation/write/write-task.ts';
import { getSharedApp } from '../../support/app.ts';
import { recordEvents } from '../../support/fixtures/connections.ts';
import { deleteInstallation } from '../../support/fixtures/integrations.ts';
import {
  createContact,
  createWriter,
  startWriteJobs,
  type Writer,
} from '../../support/fixtures/writes.ts';

const HOUR_MS = 3_600_000;
const pathPrefix = '/objects/contacts';

let aheadMs = 0;
const app = await getSharedApp({ now: () => new Date(Date.now() + aheadMs) });
const { sandbox, services } = app.app;
const { prisma } = services.database;
const workers = await startWriteJobs(app);
afterAll(() => workers[Symbol.asyncDispose]());

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
  const { dueTime, lastAttempt, leaseToken } = await getTask(operationId);
  expect(Number(dueTime) - Number(lastAttempt)).toBeGreaterThanOrEqual(90_000);
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
  const operation = await writer.waitForOperation(operationId);
  sandbox.faults.clear();
  expect(operation).toMatchObject({ status: 'FAILURE', metadata: { successfulRecordIds: [] } });
  expect(operation.result).toContain('unknown');
});

/** Claims the write with a lease that has expired, like the lease of a killed process. */
async function expireLease(taskId: string) {
  const key = await prisma.writeTask.findFirstOrThrow({ where: { id: taskId } });
  const claim = await claimWrite(services.database, key, services.now());
  if (!claim) throw new Error('Another process has claimed the write.');
  await prisma.$executeRaw`
    update "WriteTask" set "leaseExpireTime" = clock_timestamp()
    where "projectId" = ${key.projectId} and "id" = ${taskId}`;
  return claim;
}

/** Stores a write without a job, so that no worker runs it. */
async function writeWithoutJob(writer: Writer, overrides: object) {
  const { operationId } = await writeAsynchronously(writer, {
    autoBatchPolicy: { maxDelayMinutes: 1440 },
    ...overrides,
  });
  await prisma.writeTask.updateMany({
    where: { id: operationId },
    data: { dueTime: services.now(), openGroup: null },
  });
  return operationId;
}

test('continues a write of a killed process, and refuses its late result', async () => {
  const writer = await createWriter(app);
  const record = createContact();
  const operationId = await writeWithoutJob(writer, { record });
  const lostClaim = await expireLease(operationId);
  await recoverWrites(services);
  expect(await writer.waitForOperation(operationId)).toMatchObject({ status: 'SUCCESS' });
  const task = await getTask(operationId);
  expect(await runClaim(services, lostClaim)).toBeNull();
  expect(await getTask(operationId)).toEqual(task);
  expect(listEmails().filter((email) => email === record.email)).toHaveLength(1);
});

test('neither claims a claimed write nor runs a finished write', async () => {
  const writer = await createWriter(app);
  const operationId = await writeWithoutJob(writer, { record: createContact() });
  const key = { projectId: writer.projectId, id: operationId };
  const claim = await claimWrite(services.database, key, services.now());
  expect(await claimWrite(services.database, key, services.now())).toBeNull();
  if (claim) await runClaim(services, claim);
  await runWrite(services, key);
  expect((await getTask(operationId)).attempts).toBe(1);
});

test('claims a write once if two claims share a statement', async () => {
  const writer = await createWriter(app);
  const operationId = await writeWithoutJob(writer, { record: createContact() });
  const key = { projectId: writer.projectId, id: operationId };
  const claims = await Promise.all(
    [1, 2].map(() => claimWrite(services.database, key, services.now())),
  );
  const [claim, emptyClaim] = claims.toSorted((a, b) => Number(b !== null) - Number(a !== null));
  expect(emptyClaim).toBeNull();
  if (claim) await runClaim(services, claim);
  expect(await writer.waitForOperation(operationId)).toMatchObject({ status: 'SUCCESS' });
  expect((await getTask(operationId)).attempts).toBe(1);
});

test('fails a write whose installation is deleted', async () => {
  const writer = await createWriter(app);
  const operationId = await writeWithoutJob(writer, { record: createContact() });
  await deleteInstallation(writer, writer.installationId);
  await runWrite(services, { projectId: writer.projectId, id: operationId });
  expect(await writer.waitForOperation(operationId)).toMatchObject({
    status: 'FAILURE',
    result: expect.stringContaining('installation has been deleted'),
  });
});
