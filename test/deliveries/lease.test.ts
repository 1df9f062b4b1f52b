import { expect, test } from 'vitest';
import { newLeaseToken } from '../../src/work/lease.ts';
import { onCitus, onPostgres } from '../support/app.ts';
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
  await using late = createWorker(database);
  const draining = late.worker.drain();
  await receiver.waitForMessages(endpoint, 1);

  await prisma.delivery.updateMany({
    where: { id: deliveryId },
    data: { leaseExpireTime: new Date(0) },
  });
  receiver.setBehavior(endpoint, { status: 200 });
  await using next = createWorker(database);
  await next.worker.drain();
  const recorded = await findDelivery(deliveryId);
  expect(recorded).toMatchObject({ status: 'SUCCEEDED', attemptCount: 1 });

  receiver.respondToHeld(endpoint, { status: 500 });
  await draining;
  expect(await findDelivery(deliveryId)).toEqual(recorded);
  expect(await findDestination(id)).toMatchObject({
    failedAttempts: 0,
  });
});

test('keeps the next message waiting when the result of the previous one is refused', async () => {
  const endpoint = createEndpointName();
  receiver.setBehavior(endpoint, 'HANG');
  const { id } = await createDestination(receiver.getUrl(endpoint));
  const [first] = await enqueue(id, 1, { orderKey: 'one' });
  const [next] = await enqueue(id, 1, { orderKey: 'one', afterId: first, nextAttemptTime: null });
  await using late = createWorker(database);
  const draining = late.worker.drain();
  await receiver.waitForMessages(endpoint, 1);
  await prisma.delivery.updateMany({ where: { id: first }, data: { leaseToken: 'newer' } });
  receiver.respondToHeld(endpoint, { status: 200 });
  await draining;
  expect(await findDelivery(next)).toMatchObject({ status: 'PENDING', afterId: first });
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
  await prisma.serverProcess.create({ data: { id: 'ended', missedTime: new Date(0) } });
  const leaseExpireTime = new Date(Date.now() + HOUR_MS);
  const [held] = await enqueue(id, 1, { leaseToken: newLeaseToken('ended'), leaseExpireTime });
  await using sender = createWorker(database);
  await sender.worker.drain();
  expect(receiver.listMessages(endpoint).map((message) => message.id)).toEqual([held]);
  expect(await findDelivery(held)).toMatchObject({ status: 'SUCCEEDED', attemptCount: 1 });
});

test('sends each message once from two concurrent workers', async () => {
  const endpoint = createEndpointName();
  const { id } = await createDestination(receiver.getUrl(endpoint));
  const ids = await enqueue(id, 500);
  await using first = createWorker(database);
  await using other = createWorker(database);
  await Promise.all([first.worker.drain(), other.worker.drain()]);
  const arrived = receiver.listMessages(endpoint).map((message) => message.id);
  expect(arrived.toSorted()).toEqual(ids.toSorted());
  expect(await countSucceeded()).toBe(500);
});

const WAITING = `select 1 from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;

// The embedded database has one connection, so nothing changes concurrently. In a cluster the statement waits
// on another server.
test.runIf(onPostgres && !onCitus)(
  'records a result although another transaction changes the delivery',
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
      await expect.poll(() => database.rows.query(WAITING, [])).toHaveLength(1);
    });
    await draining;
    expect(await findDelivery(deliveryId)).toMatchObject({ status: 'SUCCEEDED', attemptCount: 1 });
    expect(receiver.listMessages(endpoint)).toHaveLength(1);
  },
);
