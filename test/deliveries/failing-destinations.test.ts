import { expect, test } from 'vitest';
import { createClock, createWorker, getSharedDeliveries } from '../support/fixtures/deliveries.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const shared = await getSharedDeliveries();
const { database, prisma, receiver, createEndpointName, projectId, createDestination, enqueue } =
  shared;
const { findDelivery, findDestination } = shared;

test('disables the destination after a 410, records an event and keeps its deliveries pending', async () => {
  const endpoint = createEndpointName();
  receiver.setBehavior(endpoint, { status: 410 });
  const { id } = await createDestination(receiver.getUrl(endpoint));
  const [firstId] = await enqueue(id);
  const clock = createClock('2031-01-01T00:00:00Z');
  await using sender = createWorker(database, { now: clock.now });
  await sender.worker.drain();
  expect(await findDestination(id)).toMatchObject({
    status: 'DISABLED',
    disabledReason: 'The receiver responded with 410 Gone.',
  });
  const event = await prisma.notificationEvent.findFirstOrThrow({ where: { destinationId: id } });
  expect(event).toMatchObject({
    eventType: 'DESTINATION_WEBHOOK_DISABLED',
    data: { projectId, destinationId: id, destinationName: id, url: receiver.getUrl(endpoint) },
  });

  const [secondId] = await enqueue(id);
  clock.advance(HOUR_MS);
  await sender.worker.drain();
  expect(receiver.listMessages(endpoint)).toHaveLength(1);
  expect(await findDelivery(firstId)).toMatchObject({ status: 'PENDING', attemptCount: 1 });
  expect(await findDelivery(secondId)).toMatchObject({ status: 'PENDING', attemptCount: 0 });

  receiver.setBehavior(endpoint, { status: 204 });
  await prisma.destination.updateMany({ where: { id }, data: { status: 'ENABLED' } });
  await sender.worker.drain();
  expect(await findDelivery(firstId)).toMatchObject({ status: 'SUCCEEDED', attemptCount: 2 });
  expect(await findDelivery(secondId)).toMatchObject({ status: 'SUCCEEDED', attemptCount: 1 });
});

test('ignores a 410 if the URL has changed since the request', async () => {
  const endpoint = createEndpointName();
  receiver.setBehavior(endpoint, 'HANG');
  const { id } = await createDestination(receiver.getUrl(endpoint));
  await enqueue(id);
  await using sender = createWorker(database);
  const draining = sender.worker.drain();
  await receiver.waitForMessages(endpoint, 1);
  await prisma.destination.updateMany({
    where: { id },
    data: { url: receiver.getUrl(createEndpointName()) },
  });
  receiver.respondToHeld(endpoint, { status: 410 });
  await draining;
  expect(await findDestination(id)).toMatchObject({
    status: 'ENABLED',
    failedAttempts: 1,
  });
});

test('disables a destination after 5 days and 20 attempts without a success', async () => {
  const endpoint = createEndpointName();
  receiver.setBehavior(endpoint, { status: 503 });
  const { id } = await createDestination(receiver.getUrl(endpoint));
  const clock = createClock('2031-01-01T00:00:00Z');
  await using sender = createWorker(database, { now: clock.now });

  await enqueue(id, 18);
  await sender.worker.drain();
  expect(await findDestination(id)).toMatchObject({
    failedAttempts: 18,
    failingSince: clock.now(),
  });
  await prisma.delivery.deleteMany();

  // After 5 days there are only 19 attempts.
  clock.advance(5 * DAY_MS);
  await enqueue(id);
  await sender.worker.drain();
  expect(await findDestination(id)).toMatchObject({ failedAttempts: 19, status: 'ENABLED' });
  await prisma.delivery.deleteMany();

  await enqueue(id);
  await sender.worker.drain();
  expect(await findDestination(id)).toMatchObject({
    failedAttempts: 20,
    status: 'DISABLED',
    disabledReason: 'Every attempt has failed for 5 days.',
  });
  expect(await prisma.notificationEvent.count({ where: { destinationId: id } })).toBe(1);
});

test('keeps a destination that has failed for less than 5 days enabled, and restarts the count after a success', async () => {
  const endpoint = createEndpointName();
  receiver.setBehavior(endpoint, { status: 503 });
  const { id } = await createDestination(receiver.getUrl(endpoint));
  const clock = createClock('2031-01-01T00:00:00Z');
  await using sender = createWorker(database, { now: clock.now });

  await enqueue(id, 30);
  await sender.worker.drain();
  await prisma.delivery.deleteMany();
  clock.advance(5 * DAY_MS - 1);
  await enqueue(id);
  await sender.worker.drain();
  expect(await findDestination(id)).toMatchObject({ failedAttempts: 31, status: 'ENABLED' });

  receiver.setBehavior(endpoint, { status: 200 });
  await enqueue(id);
  await sender.worker.drain();
  expect(await findDestination(id)).toMatchObject({ failedAttempts: 0, failingSince: null });

  receiver.setBehavior(endpoint, { status: 503 });
  clock.advance(2);
  await enqueue(id, 30);
  await sender.worker.drain();
  expect(await findDestination(id)).toMatchObject({
    failedAttempts: 30,
    failingSince: clock.now(),
  });
  expect(await findDestination(id)).toMatchObject({ status: 'ENABLED' });
});
