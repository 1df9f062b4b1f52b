import { expect, test } from 'vitest';
import type { RunStatement } from '../../src/database/statements/statements.ts';
import { NO_METERS } from '../../src/kernel/meters.ts';
import { createWorker, getSharedDeliveries } from '../support/fixtures/deliveries.ts';

const shared = await getSharedDeliveries();
const {
  database,
  prisma,
  receiver,
  createEndpointName,
  createDestination,
  enqueue,
  findDelivery,
  countSucceeded,
} = shared;

test('on stop, waits for messages in flight, records them, and releases other deliveries', async () => {
  const endpoint = createEndpointName();
  receiver.setBehavior(endpoint, 'HANG');
  const { id } = await createDestination(receiver.getUrl(endpoint));
  await enqueue(id, 20);
  const sender = createWorker(database);
  const running = sender.worker.run();
  await receiver.waitForMessages(endpoint, 8);
  const stopping = sender.worker.stop(running);
  receiver.respondToHeld(endpoint, { status: 200 });
  await stopping;
  await sender[Symbol.asyncDispose]();
  expect(receiver.listMessages(endpoint)).toHaveLength(8);
  expect(await countSucceeded()).toBe(8);
  expect(await prisma.delivery.count({ where: { leaseToken: { not: null } } })).toBe(0);
});

test('leaves a delivery pending if its attempt lasts longer than the stop may take', async () => {
  const endpoint = createEndpointName();
  receiver.setBehavior(endpoint, 'HANG');
  const { id } = await createDestination(receiver.getUrl(endpoint));
  const [deliveryId] = await enqueue(id);
  const config = { DELIVERY_RETRY_SECONDS: [5], SHUTDOWN_MS: 20 };
  const sender = createWorker(database, { config });
  const running = sender.worker.run();
  await receiver.waitForMessages(endpoint, 1);
  await sender.worker.stop(running);
  await sender[Symbol.asyncDispose]();
  expect(await findDelivery(deliveryId)).toMatchObject({ status: 'PENDING', attemptCount: 0 });
});

test('counts attempts while they run, including attempts that a stop aborts', async () => {
  const endpoint = createEndpointName();
  receiver.setBehavior(endpoint, 'HANG');
  const { id } = await createDestination(receiver.getUrl(endpoint));
  await enqueue(id, 3);
  let activeCount = 0;
  const meters = {
    ...NO_METERS,
    activeChanged(_work: string, change: number) {
      activeCount += change;
    },
  };
  const config = { DELIVERY_RETRY_SECONDS: [5], SHUTDOWN_MS: 20 };
  const sender = createWorker(database, { config, meters });
  const running = sender.worker.run();
  await receiver.waitForMessages(endpoint, 3);
  expect(activeCount).toBe(3);
  await sender.worker.stop(running);
  await sender[Symbol.asyncDispose]();
  expect(activeCount).toBe(0);
});

test('sends new deliveries after a notification and after a poll', async () => {
  const endpoint = createEndpointName();
  const { id } = await createDestination(receiver.getUrl(endpoint));
  const sender = createWorker(database, { limits: { pollMs: 20 } });
  const running = sender.worker.run();
  await enqueue(id);
  sender.worker.wake();
  await receiver.waitForMessages(endpoint, 1);
  await enqueue(id);
  await receiver.waitForMessages(endpoint, 2);
  await sender.worker.stop(running);
  await sender[Symbol.asyncDispose]();
  expect(await countSucceeded()).toBe(2);
});

test('neither loses nor repeats a delivery while the database fails', async () => {
  const endpoint = createEndpointName();
  const { id } = await createDestination(receiver.getUrl(endpoint));
  await enqueue(id, 50);
  let failures = 0;
  const run: RunStatement = async (statement, input) => {
    // Two of three statements fail.
    failures += 1;
    if (failures % 3 !== 0) throw new Error('The database is not available.');
    return database.run(statement, input);
  };
  const sender = createWorker(
    { ...database, run },
    { limits: { backoff: { firstMs: 1, maxMs: 1 }, inFlightPerDestination: 4 } },
  );
  const running = sender.worker.run();
  await expect.poll(countSucceeded).toBe(50);
  await sender.worker.stop(running);
  await sender[Symbol.asyncDispose]();
  expect(failures).toBeGreaterThan(6);
  expect(receiver.listMessages(endpoint)).toHaveLength(50);
  expect(await prisma.deliveryAttempt.count({ where: { delivery: { destinationId: id } } })).toBe(
    50,
  );
});

test('claims no delivery while results cannot be recorded', async () => {
  const endpoint = createEndpointName();
  const { id } = await createDestination(receiver.getUrl(endpoint));
  await enqueue(id, 100);
  let isUnavailable = true;
  let refusalCount = 0;
  const claims = { started: 0, ended: 0 };
  const run: RunStatement = async (statement, input) => {
    const { text } = statement;
    if (text.includes('"DeliveryAttempt"') && isUnavailable) {
      refusalCount += 1;
      throw new Error('The database is not available.');
    }
    if (!text.includes('recursive')) return database.run(statement, input);
    claims.started += 1;
    return database.run(statement, input).finally(() => {
      claims.ended += 1;
    });
  };
  const limits = {
    inFlightPerDestination: 10,
    backoff: { firstMs: 1, maxMs: 1 },
    pollMs: 5,
    gapMs: 1,
  };
  const sender = createWorker({ ...database, run }, { limits });
  const running = sender.worker.run();
  await receiver.waitForMessages(endpoint, 10);
  // A claim may have started before the first refusal.
  await expect.poll(() => refusalCount).toBeGreaterThan(1);
  await expect.poll(() => claims.started - claims.ended).toBe(0);
  const startedBefore = claims.started;
  // Simulates an outage that outlasts the leases.
  await prisma.delivery.updateMany({ data: { leaseExpireTime: new Date(0) } });
  const refusalsBefore = refusalCount;
  await expect.poll(() => refusalCount).toBeGreaterThan(refusalsBefore + 100);
  expect(claims.started).toBe(startedBefore);
  isUnavailable = false;
  await expect.poll(countSucceeded).toBe(100);
  await sender.worker.stop(running);
  await sender[Symbol.asyncDispose]();
  expect(receiver.listMessages(endpoint)).toHaveLength(100);
});
