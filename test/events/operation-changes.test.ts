import { afterAll, expect, test } from 'vitest';
import { inTransaction } from '../../src/database/transactions/transaction.ts';
import { notifyOperation } from '../../src/events/channel.ts';
import { createOperationChanges } from '../../src/events/operation-changes.ts';
import { newId } from '../../src/kernel/ids.ts';
import { createLog } from '../../src/kernel/log.ts';
import { createTestDatabase } from '../support/app.ts';
import { createEventLog } from '../support/event-log.ts';

const log = createLog('silent');
const database = await createTestDatabase(log);
const changes = createOperationChanges(database, log);
afterAll(async () => {
  await changes[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});
const { projectId } = await createEventLog(database);

async function createOperation() {
  const ids = { integrationId: newId('int'), installationId: newId('ins'), configId: newId('cfg') };
  const data = { id: newId('opr'), projectId, ...ids, metadata: { objects: ['contact'] } };
  await database.prisma.operation.create({
    data: { ...data, actionType: 'READ', status: 'IN_PROGRESS' },
  });
  const [operation] = await database.reads.find('Operation', { id: data.id, projectId });
  if (!operation) throw new Error('The operation does not exist.');
  return operation;
}

async function changeOperation(id: string, data: object, { isAnnounced = true } = {}) {
  await inTransaction(database, async (tx) => {
    await tx.operation.updateMany({ where: { id }, data });
    if (isAnnounced) notifyOperation(tx, id);
  });
}

test('yields the current operation, then each change until the operation has ended', async () => {
  const operation = await createOperation();
  const follower = changes.follow(operation);
  expect((await follower.next()).value).toMatchObject({ node: { status: 'IN_PROGRESS' } });

  const metadata = {
    objects: ['contact'],
    progress: { objectName: 'contact', recordsProcessed: 7 },
  };
  const progressRead = follower.next();
  await changeOperation(operation.id, { metadata });
  expect((await progressRead).value).toMatchObject({ node: { status: 'IN_PROGRESS', metadata } });

  const endRead = follower.next();
  await changeOperation(operation.id, { status: 'SUCCESS', updateTime: new Date() });
  expect((await endRead).value).toMatchObject({ node: { status: 'SUCCESS', metadata } });
  expect(await follower.next()).toEqual({ done: true, value: undefined });
});

test('yields an ended operation once', async () => {
  const operation = { ...(await createOperation()), status: 'FAILURE' as const };
  await changeOperation(operation.id, { status: 'FAILURE' });
  const follower = changes.follow(operation);
  expect((await follower.next()).value).toMatchObject({ node: { status: 'FAILURE' } });
  expect((await follower.next()).done).toBe(true);
});

test('yields a change that commits between the read and the subscription', async () => {
  const operation = await createOperation();
  await changeOperation(operation.id, { status: 'SUCCESS' });
  const follower = changes.follow(operation);
  const statuses = [];
  for await (const { node } of follower) statuses.push(node.status);
  expect(statuses.at(-1)).toBe('SUCCESS');
});

test('yields a change without a notification after a poll', async () => {
  await using pollingChanges = createOperationChanges(database, log, { pollMs: 10 });
  const operation = await createOperation();
  const follower = pollingChanges.follow(operation);
  await follower.next();
  const nextRead = follower.next();
  await changeOperation(operation.id, { status: 'SUCCESS' }, { isAnnounced: false });
  expect((await nextRead).value).toMatchObject({ node: { status: 'SUCCESS' } });
});

test('ends when the operation is deleted, and when the follower returns', async () => {
  const operation = await createOperation();
  const [follower, returningFollower] = [changes.follow(operation), changes.follow(operation)];
  await Promise.all([follower.next(), returningFollower.next()]);
  const [nextRead, canceled] = [follower.next(), returningFollower.next()];
  await returningFollower.return?.();
  expect((await canceled).done).toBe(true);
  await inTransaction(database, async (tx) => {
    await tx.operation.deleteMany({ where: { id: operation.id } });
    notifyOperation(tx, operation.id);
  });
  expect((await nextRead).done).toBe(true);
});
