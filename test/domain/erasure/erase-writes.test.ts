/** A write with records of two consumers, of which one is erased. */
import { expect, test } from 'vitest';
import { inTransaction } from '../../../src/database/transaction.ts';
import { continueErasure } from '../../../src/domain/erasure/continue-erasure.ts';
import { beginErasure } from '../../../src/domain/erasure/erasure.ts';
import { runWrite } from '../../../src/domain/operation/write/write-run.ts';
import { getSharedApp } from '../../support/app.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import { UPDATE_INSTALLATION } from '../../support/fixtures/integrations.ts';
import { createContact, createWriter } from '../../support/fixtures/writes.ts';

const HOUR_MS = 3_600_000;

let aheadMs = 0;
const app = await getSharedApp({ now: () => new Date(Date.now() + aheadMs) });
const { services, sandbox } = app.app;
const { prisma } = services.database;

/** Collects a record of ann and then one of bob, whose connection the installation uses afterwards. */
async function collectForTwoConsumers() {
  const writer = await createWriter(app);
  const { projectId, installationId } = writer;
  const collect = async () => {
    const autoBatchPolicy = { maxDelayMinutes: 5 };
    const record = createContact();
    const input = { mode: 'ASYNCHRONOUS', autoBatchPolicy, record };
    return { id: (await writer.write(input)).operationId as string, record };
  };
  const annsEntries = await collect();
  const bob = { consumerRef: 'bob', apiKey: 'sandbox-key-of-bob' };
  const { id: connectionId, consumer } = await generateConnection(writer, bob);
  const input = { projectIdOrName: projectId, installationId, connectionId };
  await writer.query(UPDATE_INSTALLATION, { input });
  const bobsEntries = await collect();
  const ann = await prisma.consumer.findFirstOrThrow({ where: { projectId, consumerRef: 'ann' } });
  const task = { projectId, id: annsEntries.id };
  expect(await prisma.writeEntry.count({ where: { projectId, taskId: task.id } })).toBe(2);
  return {
    projectId,
    task,
    annsEntries,
    bobsEntries,
    ann,
    bob: consumer as { id: string },
  };
}

async function erase(projectId: string, { id }: { id: string }): Promise<void> {
  const key = { projectId, id };
  await inTransaction(services.database, (tx) => beginErasure(services, tx, key));
  await continueErasure(services, key, new AbortController().signal);
  expect(await prisma.operation.count({ where: { projectId, consumerId: id } })).toBe(0);
}

/** Runs the write an hour later, when it is due. */
async function runLater(task: { projectId: string; id: string }) {
  aheadMs += HOUR_MS;
  return runWrite(services, task);
}

const listEmails = () => sandbox.records('contacts').map(({ email }) => email);

test("writes the remaining consumer's record and ends its operation", async () => {
  const { projectId, task, annsEntries, bobsEntries, ann } = await collectForTwoConsumers();
  await erase(projectId, ann);
  expect(await prisma.writeEntry.findMany({ where: { projectId } })).toMatchObject([
    { operationId: bobsEntries.id, position: 1 },
  ]);
  await runLater(task);
  expect(await prisma.operation.findMany({ where: { projectId } })).toMatchObject([
    { id: bobsEntries.id, status: 'SUCCESS' },
  ]);
  expect(listEmails()).toContain(bobsEntries.record.email);
  expect(listEmails()).not.toContain(annsEntries.record.email);
});

test('deletes the write together with the last of its records', async () => {
  const { projectId, ann, bob } = await collectForTwoConsumers();
  await Promise.all([erase(projectId, ann), erase(projectId, bob)]);
  expect(await prisma.writeTask.count({ where: { projectId } })).toBe(0);
});

test('retries a failed attempt with the remaining records if a consumer is erased during it', async () => {
  const { projectId, task, bobsEntries, ann } = await collectForTwoConsumers();
  const path = { pathPrefix: '/objects/contacts/batch' };
  sandbox.faults.set({ ...path, status: 429, delayMs: 1_000, times: 1 });
  const running = runLater(task);
  await expect
    .poll(() => prisma.writeTask.findFirst({ where: task }))
    .toMatchObject({ attempts: 1 });
  await erase(projectId, ann);
  expect(await running).toMatchObject({ nextTime: expect.any(Date) });
  await runLater(task);
  expect(await prisma.operation.findMany({ where: { projectId } })).toMatchObject([
    { id: bobsEntries.id, status: 'SUCCESS' },
  ]);
});

test('does not repeat a request with an unknown outcome if its records have changed', async () => {
  const { projectId, task, bobsEntries, ann } = await collectForTwoConsumers();
  sandbox.faults.set({ drop: 'after', pathPrefix: '/objects/contacts/batch', times: 1 });
  expect(await runLater(task)).toMatchObject({ nextTime: expect.any(Date) });
  await erase(projectId, ann);
  await runLater(task);
  expect(await prisma.operation.findMany({ where: { projectId } })).toMatchObject([
    {
      id: bobsEntries.id,
      status: 'FAILURE',
      result: expect.stringContaining('outcome is unknown'),
    },
  ]);
  expect(listEmails().filter((email) => email === bobsEntries.record.email)).toHaveLength(1);
});
