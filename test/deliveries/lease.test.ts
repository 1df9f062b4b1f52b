import { expect, test } from 'vitest';
import { newLeaseToken } from '../../src/database/leases/lease.ts';
import { onCitus, onPostgres } from '../support/app.ts';
import { queryRows } from '../support/database/query.ts';
import { createWorker, getSharedDeliveries } from '../support/fixtures/deliveries.ts';

const HOUR_MS = 3_600_000;

const shared = await getSharedDeliveries();
const { database, prisma, receiver, createEndpointName, createDestination, enqueue } = shared;
const { findDelivery, findDestination, countSucceeded } = shared;

test('refuses the late result of a claim that another worker took over', async () => {
  const endpoint = createEndpointName();
  receiver.setBehavior(endpoint, 'HANG');
  const { id } = await createDestination(receiver.getUrl(endpoint));
  const [deliveryId] = await enqueue(id);
  await using lateSender = createWorker(database);
  const draining = lateSender.worker.drain();
  await receiver.waitForMessages(endpoint, 1);

  await prisma.delivery.updateMany({
    where: { id: deliveryId },
    data: { leaseExpireTime: new Date(0) },
  });
  receiver.setBehavior(endpoint, { status: 200 });
  await using nextSender = createWorker(database);
  await nextSender.worker.drain();
  const recorded = await findDelivery(deliveryId);
  expect(recorded).toMatchObject({ status: 'SUCCEEDED', attemptCount: 1 });

  receiver.respondToHeld(endpoint, { status: 500 });
  await draining;
  expect(await findDelivery(deliveryId)).toEqual(recorded);
  expect(await findDestination(id)).toMatchObject({
    failedAttempts: 0,
  });
});

test('keeps a message waiting when the result of the previous message is refused', async () => {
  const endpoint = createEndpointName();
  receiver.setBehavior(endpoint, 'HANG');
  const { id } = await createDestination(receiver.getUrl(endpoint));
  const [firstId] = await enqueue(id, 1, { orderKey: 'one' });
  const [nextId] = await enqueue(id, 1, {
    orderKey: 'one',
    afterId: firstId,
    nextAttemptTime: null,
  });
  await using lateSender = createWorker(database);
  const draining = lateSender.worker.drain();
  await receiver.waitForMessages(endpoint, 1);
  await prisma.delivery.updateMany({ where: { id: firstId }, data: { leaseToken: 'newer' } });
  receiver.respondToHeld(endpoint, { status: 200 });
  await draining;
  expect(await findDelivery(nextId)).toMatchObject({ status: 'PENDING', afterId: firstId });
});

test('skips a delivery while another process holds its lease', async () => {
  const endpoint = createEndpointName();
  const { id } = await createDestination(receiver.getUrl(endpoint));
  await enqueue(id, 1, { leaseToken: 'other', leaseExpireTime: new Date(Date.now() + HOUR_MS) });
  await using sender = createWorker(database);
  await sender.worker.drain();
  expect(receiver.listMessages(endpoint)).toEqual([]);
});

test('sends deliveries of an ended process immediately, before their lease expires', async () => {
  const endpoint = createEndpointName();
  const { id } = await createDestination(receiver.getUrl(endpoint));
  await prisma.serverProcess.create({ data: { id: 'ended', lockMissingSince: new Date(0) } });
  const leaseExpireTime = new Date(Date.now() + HOUR_MS);
  const [deliveryId] = await enqueue(id, 1, {
    leaseToken: newLeaseToken('ended'),
    leaseExpireTime,
  });
  await using sender = createWorker(database);
  await sender.worker.drain();
  expect(receiver.listMessages(endpoint).map((message) => message.id)).toEqual([deliveryId]);
  expect(await findDelivery(deliveryId)).toMatchObject({ status: 'SUCCEEDED', attemptCount: 1 });
});

test('sends each message once from two concurrent workers', async () => {
  const endpoint = createEndpointName();
  const { id } = await createDestination(receiver.getUrl(endpoint));
  const ids = await enqueue(id, 500);
  await using firstSender = createWorker(database);
  await using otherSender = createWorker(database);
  await Promise.all([firstSender.worker.drain(), otherSender.worker.drain()]);
  const arrived = receiver.listMessages(endpoint).map((message) => message.id);
  expect(arrived.toSorted()).toEqual(ids.toSorted());
  expect(await countSucceeded()).toBe(500);
});

const WAITING_STATEMENTS = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

// The embedded database runs no concurrent transactions. On Citus, the statement waits on another server, so the query
// does not find it.
test.runIf(onPostgres && !onCitus)(
  'records a result after another transaction has changed the delivery',
  async () => {
    const endpoint = createEndpointName();
    receiver.setBehavior(endpoint, 'HANG');
    const { id } = await createDestination(receiver.getUrl(endpoint));
    const [deliveryId] = await enqueue(id);
    await using sender = createWorker(database);
    const draining = sender.worker.drain();
    await receiver.waitForMessages(endpoint, 1);

    await prisma.$transaction(async (tx) => {
      await tx.delivery.updateMany({
        where: { id: deliveryId },
        data: { updateTime: new Date(0) },
      });
      receiver.respondToHeld(endpoint, { status: 200 });
      await expect.poll(() => queryRows(database, WAITING_STATEMENTS, [])).toHaveLength(1);
    });
    await draining;
    expect(await findDelivery(deliveryId)).toMatchObject({ status: 'SUCCEEDED', attemptCount: 1 });
    expect(receiver.listMessages(endpoint)).toHaveLength(1);
  },
);
