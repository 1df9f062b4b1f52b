/**
 * Hanging or busy destinations do not delay messages to other destinations.
 *
 * @module-tag all/rows
 */
import { expect, test } from 'vitest';
import { queryRows } from '../support/database/query.ts';
import {
  createDeliveryProject,
  createWorker,
  getSharedDeliveries,
} from '../support/fixtures/deliveries.ts';

const shared = await getSharedDeliveries();
const { database, prisma, receiver, createEndpointName, projectId, createDestination, enqueue } =
  shared;
/** With these settings, the worker stops without waiting for messages in flight. */
const STOP_IMMEDIATELY = { DELIVERY_RETRY_SECONDS: [5], SHUTDOWN_MS: 0 };
/** With these limits, hanging requests last longer than the test, even on a slow machine. */
const LONG_ATTEMPTS = { attemptMs: 100_000, leaseMs: 120_000 };
/** A statement must end within five seconds, even on a busy machine. */
const ROWS_PER_INSERT = 5_000;

async function createNextDestination(data: Parameters<typeof createDestination>[1] = {}) {
  const endpoint = createEndpointName();
  return { endpoint, ...(await createDestination(receiver.getUrl(endpoint), data)) };
}

/** Inserts deliveries without loading them into this process. */
async function enqueueMany(destinationId: string, count: number): Promise<void> {
  for (let index = 1; index <= count; index += ROWS_PER_INSERT) {
    await queryRows(
      database,
      `insert into "Delivery" ("id", "projectId", "destinationId", "body", "nextAttemptTime")
       select 'dlv_many_' || n, $1, $2, '{}', now() - interval '1 hour'
       from generate_series($3::int, $4::int) n`,
      [projectId, destinationId, index, Math.min(count, index + ROWS_PER_INSERT - 1)],
    );
  }
}

test('limits a hanging destination with 20,000 due messages to 8 in flight, without delaying other destinations', async () => {
  const hanging = await createNextDestination();
  receiver.setBehavior(hanging.endpoint, 'HANG');
  await enqueueMany(hanging.id, 20_000);
  const otherDestinations = await Promise.all(
    Array.from({ length: 5 }, () => createNextDestination()),
  );
  for (const { id } of otherDestinations) await enqueue(id, 200);

  await using sender = createWorker(database, { config: STOP_IMMEDIATELY, limits: LONG_ATTEMPTS });
  const running = sender.worker.run();
  await Promise.all(
    otherDestinations.map(({ endpoint }) => receiver.waitForMessages(endpoint, 200)),
  );
  expect(receiver.listMessages(hanging.endpoint)).toHaveLength(8);
  await sender.worker.stop(running);
  expect(receiver.getConcurrentMax(hanging.endpoint)).toBe(8);
  for (const { endpoint } of otherDestinations)
    expect(receiver.getConcurrentMax(endpoint)).toBeLessThanOrEqual(8);
});

test('leaves half of the capacity to other destinations while many hang', async () => {
  const hanging = await Promise.all(
    Array.from({ length: 12 }, () =>
      createNextDestination({ failingSince: new Date(), failedAttempts: 5 }),
    ),
  );
  for (const { id, endpoint } of hanging) {
    receiver.setBehavior(endpoint, 'HANG');
    await enqueue(id, 50);
  }
  const responsive = await createNextDestination();
  await enqueue(responsive.id, 500);

  await using sender = createWorker(database, { config: STOP_IMMEDIATELY });
  const running = sender.worker.run();
  await receiver.waitForMessages(responsive.endpoint, 500);
  await sender.worker.stop(running);
  const receivedCounts = hanging.map(({ endpoint }) => receiver.listMessages(endpoint).length);
  expect(receivedCounts.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(32);
});

test('delays no other project if the destinations of a project could fill the capacity in flight', async () => {
  // Each destination may have 8 messages in flight. Together they exceed the limit of the process.
  const hanging = await Promise.all(Array.from({ length: 20 }, () => createNextDestination()));
  for (const { endpoint } of hanging) receiver.setBehavior(endpoint, 'HANG');
  for (const { id } of hanging) await enqueue(id, 8);
  const quiet = await createDeliveryProject(database);
  const endpoint = createEndpointName();
  const { id } = await quiet.createDestination(receiver.getUrl(endpoint));
  await quiet.enqueue(id, 200);

  await using sender = createWorker(database, { config: STOP_IMMEDIATELY, limits: LONG_ATTEMPTS });
  const running = sender.worker.run();
  await receiver.waitForMessages(endpoint, 200);
  await sender.worker.stop(running);
  expect(receiver.listMessages(endpoint)).toHaveLength(200);
});

interface HangingOptions {
  destinations: number;
  isFailing?: boolean;
  body?: string;
}

/** Enqueues deliveries to hanging destinations, and to an endpoint of another project whose ID is greater. */
async function enqueueToHangingAndQuiet({
  destinations,
  isFailing = false,
  body = '{}',
}: HangingOptions) {
  const failingColumns = isFailing ? { failingSince: new Date(), failedAttempts: 5 } : {};
  const hanging = await Promise.all(
    Array.from({ length: destinations }, () => createNextDestination(failingColumns)),
  );
  for (const { id, endpoint } of hanging) {
    receiver.setBehavior(endpoint, 'HANG');
    await enqueue(id, 20, { body });
  }
  const quiet = await createDeliveryProject(database);
  const endpoint = createEndpointName();
  const { id } = await quiet.createDestination(receiver.getUrl(endpoint), failingColumns);
  await quiet.enqueue(id, 40, { body });
  return { endpoint, hanging };
}

test.each([
  { resource: 'rows', limits: { claimRows: 20, heldRows: 40 }, delivery: {} },
  {
    resource: 'bytes',
    limits: { claimRows: 20, heldBytes: 50_000 },
    delivery: { body: JSON.stringify('x'.repeat(1_000)) },
  },
  {
    resource: 'rows for destinations that fail',
    limits: { claimRows: 20, heldRows: 80 },
    delivery: { isFailing: true },
  },
])('leaves a part of the $resource to other projects while the destinations of a project hang', async (scenario) => {
  const { endpoint } = await enqueueToHangingAndQuiet({ destinations: 20, ...scenario.delivery });
  const limits = { ...LONG_ATTEMPTS, ...scenario.limits };
  await using sender = createWorker(database, { config: STOP_IMMEDIATELY, limits });
  const running = sender.worker.run();
  await receiver.waitForMessages(endpoint, 40);
  await sender.worker.stop(running);
  expect(receiver.listMessages(endpoint)).toHaveLength(40);
});

test('serves every destination of a project if each claim takes only a few rows', async () => {
  const { hanging } = await enqueueToHangingAndQuiet({ destinations: 12 });
  for (const { endpoint } of hanging) receiver.setBehavior(endpoint, { status: 200 });
  const limits = { claimRows: 8, heldRows: 10, inFlight: 4 };
  await using sender = createWorker(database, { limits });
  await sender.worker.drain();
  expect(hanging.map(({ endpoint }) => receiver.listMessages(endpoint).length)).toEqual(
    Array(12).fill(20),
  );
});

test('serves every destination, even if many have many messages', async () => {
  const destinations = await Promise.all(Array.from({ length: 30 }, () => createNextDestination()));
  for (const { id } of destinations) await enqueue(id, 30);
  const limits = { claimRows: 20, heldRows: 40, inFlight: 4 };
  await using sender = createWorker(database, { limits });
  await sender.worker.drain();
  const counts = destinations.map(({ endpoint }) => receiver.listMessages(endpoint).length);
  expect(counts).toEqual(Array(30).fill(30));
});

test('limits the size of bodies in memory, and sends all messages', async () => {
  const { id, endpoint } = await createNextDestination();
  const body = JSON.stringify({ text: 'x'.repeat(100_000) });
  await enqueue(id, 40, { body });
  await using sender = createWorker(database, { limits: { heldBytes: 250_000 } });
  await sender.worker.drain();
  expect(receiver.listMessages(endpoint)).toHaveLength(40);
  expect(receiver.getConcurrentMax(endpoint)).toBeLessThanOrEqual(3);
});

test('releases deliveries that cannot start within their lease, and sends them with a new lease', async () => {
  const { id, endpoint } = await createNextDestination();
  const limits = { attemptMs: 150, leaseMs: 200, heldPerQuickDestination: 20 };
  await using sender = createWorker(database, { limits: { ...limits, inFlightPerDestination: 4 } });
  // A quick response allows the worker to hold more messages of the destination than are in flight.
  await enqueue(id);
  await sender.worker.drain();
  receiver.setBehavior(endpoint, 'HANG');
  await enqueue(id, 20);
  await sender.worker.drain();
  expect(receiver.listMessages(endpoint)).toHaveLength(21);
  expect(receiver.getConcurrentMax(endpoint)).toBe(4);
  expect(await prisma.delivery.count({ where: { leaseToken: { not: null } } })).toBe(0);
  const attempts = await prisma.deliveryAttempt.groupBy({ by: ['deliveryId'], _count: true });
  expect(attempts.map(({ _count }) => _count)).toEqual(Array(21).fill(1));
});
