/** Erases one of two consumers whose records are in the same write. */
import { expect, test } from 'vitest';
import { inTransaction } from '../../../src/database/transactions/transaction.ts';
import { writes } from '../../../src/domain/data/operation/write/write-run.ts';
import { erasures } from '../../../src/domain/upkeep/continue-erasure.ts';
import { beginErasure } from '../../../src/domain/upkeep/erasure.ts';
import { getSharedApp } from '../../support/app.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import { UPDATE_INSTALLATION } from '../../support/fixtures/integrations.ts';
import { createContact, createWriter } from '../../support/fixtures/writes.ts';
import { runDueRows } from '../../support/work/due-work.ts';

const HOUR_MS = 3_600_000;

let aheadMs = 0;
const app = await getSharedApp({ now: () => new Date(Date.now() + aheadMs) });
const { services, sandbox } = app.app;
const { prisma } = services.database;

/** Collects a record with the connection of `ann`, and then a record with the connection of `bob`. */
async function collectForTwoConsumers() {
  const writer = await createWriter(app);
  const { projectId, installationId } = writer;
  const collectRecord = async () => {
    const autoBatchPolicy = { maxDelayMinutes: 5 };
    const record = createContact();
    const input = { mode: 'ASYNCHRONOUS', autoBatchPolicy, record };
    return { id: (await writer.write(input)).operationId as string, record };
  };
  const annsWrite = await collectRecord();
  const bob = { consumerRef: 'bob', apiKey: 'sandbox-key-of-bob' };
  const { id: connectionId, consumer } = await generateConnection(writer, bob);
  const input = { projectIdOrName: projectId, installationId, connectionId };
  await writer.query(UPDATE_INSTALLATION, { input });
  const bobsWrite = await collectRecord();
  const ann = await prisma.consumer.findFirstOrThrow({ where: { projectId, consumerRef: 'ann' } });
  const task = { projectId, id: annsWrite.id };
  expect(await prisma.writeEntry.count({ where: { projectId, taskId: task.id } })).toBe(2);
  return {
    projectId,
    task,
    annsWrite,
    bobsWrite,
    ann,
    bob: consumer as { id: string },
  };
}

async function eraseConsumer(projectId: string, { id }: { id: string }): Promise<void> {
  const key = { projectId, id };
  await inTransaction(services.database, (tx) => beginErasure(tx, key));
  await runDueRows(services, erasures, { projectId });
  // Another call of this function may run the erasure.
  const countOperations = () => prisma.operation.count({ where: { projectId, consumerId: id } });
  await expect.poll(countOperations).toBe(0);
}

/** Advances the clock until the write is due, and runs it. */
async function runWhenDue({ projectId }: { projectId: string }) {
  aheadMs += HOUR_MS;
  return runDueRows(services, writes, { projectId });
}

const listEmails = () => sandbox.listRecords('contacts').map(({ email }) => email);

test("writes the remaining consumer's record, and ends the operation of that record", async () => {
  const { projectId, task, annsWrite, bobsWrite, ann } = await collectForTwoConsumers();
  await eraseConsumer(projectId, ann);
  expect(await prisma.writeEntry.findMany({ where: { projectId } })).toMatchObject([
    { operationId: bobsWrite.id, position: 1 },
  ]);
  await runWhenDue(task);
  expect(await prisma.operation.findMany({ where: { projectId } })).toMatchObject([
    { id: bobsWrite.id, status: 'SUCCESS' },
  ]);
  expect(listEmails()).toContain(bobsWrite.record.email);
  expect(listEmails()).not.toContain(annsWrite.record.email);
});

test('deletes the write with its last record', async () => {
  const { projectId, ann, bob } = await collectForTwoConsumers();
  await Promise.all([eraseConsumer(projectId, ann), eraseConsumer(projectId, bob)]);
  expect(await prisma.writeTask.count({ where: { projectId } })).toBe(0);
});

test('retries a failed attempt with the remaining records if a consumer is erased during it', async () => {
  const { projectId, task, bobsWrite, ann } = await collectForTwoConsumers();
  const batchRequests = { pathPrefix: '/objects/contacts/batch' };
  sandbox.faults.set({ ...batchRequests, status: 429, delayMs: 1_000, times: 1 });
  const pendingRun = runWhenDue(task);
  await expect
    .poll(() => prisma.writeTask.findFirst({ where: task }))
    .toMatchObject({ attempts: 1 });
  await eraseConsumer(projectId, ann);
  expect(await pendingRun).toMatchObject([{ next: expect.anything() }]);
  await runWhenDue(task);
  expect(await prisma.operation.findMany({ where: { projectId } })).toMatchObject([
    { id: bobsWrite.id, status: 'SUCCESS' },
  ]);
});

test('does not repeat a request with an unknown outcome if its records have changed', async () => {
  const { projectId, task, bobsWrite, ann } = await collectForTwoConsumers();
  sandbox.faults.set({ drop: 'after', pathPrefix: '/objects/contacts/batch', times: 1 });
  expect(await runWhenDue(task)).toMatchObject([{ next: expect.anything() }]);
  await eraseConsumer(projectId, ann);
  await runWhenDue(task);
  expect(await prisma.operation.findMany({ where: { projectId } })).toMatchObject([
    {
      id: bobsWrite.id,
      status: 'FAILURE',
      result: expect.stringContaining('outcome is unknown'),
    },
  ]);
  expect(listEmails().filter((email) => email === bobsWrite.record.email)).toHaveLength(1);
});
