/** @module-tag all/rows */
import { expect, test } from 'vitest';
import { createOwing, createWorker, sharedDeliveries } from '../support/scenes/deliveries.ts';

const shared = await sharedDeliveries();
const { database, prisma, receiver, newPlace, projectId, destination, owe } = shared;
const atOnce = { DELIVERY_RETRY_SECONDS: [5], SHUTDOWN_MS: 0 };

async function newDestination(data: Parameters<typeof destination>[1] = {}) {
  const place = newPlace();
  return { place, ...(await destination(receiver.url(place), data)) };
}

/** Rows of one statement, which has five seconds on a machine that is busy too. */
const INSERTED = 5_000;

/** So many at once: as rows, without their way through this process. */
async function oweMany(destinationId: string, count: number): Promise<void> {
  for (let at = 1; at <= count; at += INSERTED) {
    await database.rows.query(
      `insert into "Delivery" ("id", "projectId", "destinationId", "body", "nextAttemptTime")
       select 'dlv_many_' || n, $1, $2, '{}', now() - interval '1 hour'
       from generate_series($3::int, $4::int) n`,
      [projectId, destinationId, at, Math.min(count, at + INSERTED - 1)],
    );
  }
}

test('a destination that hangs with 20,000 due messages holds up no other, and has 8 in flight', async () => {
  const hanging = await newDestination();
  receiver.behave(hanging.place, 'HANG');
  await oweMany(hanging.id, 20_000);
  const others = await Promise.all(Array.from({ length: 5 }, () => newDestination()));
  for (const { id } of others) await owe(id, 200);

  // Those that hang do not end on a slow machine either, and make room for more.
  const limits = { attemptMs: 100_000, leaseMs: 120_000 };
  await using sender = createWorker(database, { config: atOnce, limits });
  const running = sender.worker.run();
  await Promise.all(others.map(({ place }) => receiver.arrived(place, 200)));
  expect(receiver.received(hanging.place)).toHaveLength(8);
  await sender.worker.stop(running);
  expect(receiver.mostAtOnce(hanging.place)).toBe(8);
  for (const { place } of others) expect(receiver.mostAtOnce(place)).toBeLessThanOrEqual(8);
});

test('many destinations that hang leave half of all places to the others', async () => {
  const hanging = await Promise.all(
    Array.from({ length: 12 }, () =>
      newDestination({ failingSince: new Date(), failedAttempts: 5 }),
    ),
  );
  for (const { id, place } of hanging) {
    receiver.behave(place, 'HANG');
    await owe(id, 50);
  }
  const good = await newDestination();
  await owe(good.id, 500);

  await using sender = createWorker(database, { config: atOnce });
  const running = sender.worker.run();
  await receiver.arrived(good.place, 500);
  await sender.worker.stop(running);
  const held = hanging.map(({ place }) => receiver.received(place).length);
  expect(held.reduce((sum, count) => sum + count, 0)).toBeLessThanOrEqual(32);
});

test('a project whose destinations hang with more than all that may be in flight delays no other project', async () => {
  // Each may have 8 messages in flight: together more than the process has.
  const hanging = await Promise.all(Array.from({ length: 20 }, () => newDestination()));
  for (const { place } of hanging) receiver.behave(place, 'HANG');
  for (const { id } of hanging) await owe(id, 8);
  const quiet = await createOwing(database);
  const place = newPlace();
  const { id } = await quiet.destination(receiver.url(place));
  await quiet.owe(id, 200);

  const limits = { attemptMs: 100_000, leaseMs: 120_000 };
  await using sender = createWorker(database, { config: atOnce, limits });
  const running = sender.worker.run();
  await receiver.arrived(place, 200);
  await sender.worker.stop(running);
  expect(receiver.received(place)).toHaveLength(200);
});

/** Two projects: the first one has destinations that hang, the second one is quiet, and its id is the later one. */
async function besideHanging({ destinations, failing = false, body = '{}' }: Hanging) {
  const since = failing ? { failingSince: new Date(), failedAttempts: 5 } : {};
  const hanging = await Promise.all(
    Array.from({ length: destinations }, () => newDestination(since)),
  );
  for (const { id, place } of hanging) {
    receiver.behave(place, 'HANG');
    await owe(id, 20, { body });
  }
  const quiet = await createOwing(database);
  const place = newPlace();
  const { id } = await quiet.destination(receiver.url(place), since);
  await quiet.owe(id, 40, { body });
  return { place, hanging };
}

interface Hanging {
  destinations: number;
  failing?: boolean;
  body?: string;
}

/** None of those that hang ends during a test. */
const HANGING = { attemptMs: 100_000, leaseMs: 120_000 };

test.each([
  { what: 'rows', limits: { claimRows: 20, heldRows: 40 }, given: {} },
  {
    what: 'bytes',
    limits: { claimRows: 20, heldBytes: 50_000 },
    given: { body: JSON.stringify('x'.repeat(1_000)) },
  },
  {
    what: 'rows for destinations that fail',
    limits: { claimRows: 20, heldRows: 80 },
    given: { failing: true },
  },
])('a project whose destinations hang does not take all $what of a process', async (one) => {
  const { place } = await besideHanging({ destinations: 20, ...one.given });
  const limits = { ...HANGING, ...one.limits };
  await using sender = createWorker(database, { config: atOnce, limits });
  const running = sender.worker.run();
  await receiver.arrived(place, 40);
  await sender.worker.stop(running);
  expect(receiver.received(place)).toHaveLength(40);
});

test("every destination of a project gets its turn, though one claim takes a few of the project's", async () => {
  const { hanging } = await besideHanging({ destinations: 12 });
  for (const { place } of hanging) receiver.behave(place, { status: 200 });
  const limits = { claimRows: 8, heldRows: 10, inFlight: 4 };
  await using sender = createWorker(database, { limits });
  await sender.worker.drain();
  expect(hanging.map(({ place }) => receiver.received(place).length)).toEqual(Array(12).fill(20));
});

test('every destination gets its turn, however many there are and however much each is owed', async () => {
  const destinations = await Promise.all(Array.from({ length: 30 }, () => newDestination()));
  for (const { id } of destinations) await owe(id, 30);
  const limits = { claimRows: 20, heldRows: 40, inFlight: 4 };
  await using sender = createWorker(database, { limits });
  await sender.worker.drain();
  const counts = destinations.map(({ place }) => receiver.received(place).length);
  expect(counts).toEqual(Array(30).fill(30));
});

test('bodies in memory are bounded, and still all of them are sent', async () => {
  const { id, place } = await newDestination();
  const body = JSON.stringify({ text: 'x'.repeat(100_000) });
  await owe(id, 40, { body });
  await using sender = createWorker(database, { limits: { heldBytes: 250_000 } });
  await sender.worker.drain();
  expect(receiver.received(place)).toHaveLength(40);
  expect(receiver.mostAtOnce(place)).toBeLessThanOrEqual(3);
});

test('what waited here too long to be sent within its lease is given back, and sent with a new one', async () => {
  const { id, place } = await newDestination();
  const limits = { attemptMs: 150, leaseMs: 200, heldPerQuickDestination: 20 };
  await using sender = createWorker(database, { limits: { ...limits, inFlightPerDestination: 4 } });
  // An answer at once makes it a destination of which more is held than is in flight.
  await owe(id);
  await sender.worker.drain();
  receiver.behave(place, 'HANG');
  await owe(id, 20);
  await sender.worker.drain();
  expect(receiver.received(place)).toHaveLength(21);
  expect(receiver.mostAtOnce(place)).toBe(4);
  expect(await prisma.delivery.count({ where: { leaseToken: { not: null } } })).toBe(0);
  const attempts = await prisma.deliveryAttempt.groupBy({ by: ['deliveryId'], _count: true });
  expect(attempts.map(({ _count }) => _count)).toEqual(Array(21).fill(1));
});
