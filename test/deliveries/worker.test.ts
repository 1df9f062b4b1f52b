import { afterAll, beforeEach, expect, test } from 'vitest';
import { rotateSecrets } from '../../src/deliveries/signing-secret.ts';
import { testDatabase } from '../support/app.ts';
import { createOwing, createWorker, vault } from '../support/deliveries.ts';
import { startReceiver, verified } from '../support/receiver.ts';

const HOUR_MS = 3_600_000;
const DAY_MS = 24 * HOUR_MS;

const database = await testDatabase();
const receiver = await startReceiver();
const { prisma } = database;
const { projectId, destination, owe } = await createOwing(database);

afterAll(async () => {
  await receiver[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});
// Workers take whatever is due: nothing may be left over from the test before.
beforeEach(async () => {
  await prisma.delivery.deleteMany();
});

let places = 0;
function newPlace(): string {
  places += 1;
  return `place-${places}`;
}

function clockAt(time: string) {
  let nowMs = Date.parse(time);
  return {
    now: () => new Date(nowMs),
    advance: (ms: number) => {
      nowMs += ms;
    },
  };
}

function delivery(id = '') {
  return prisma.delivery.findUniqueOrThrow({
    where: { id },
    include: { attempts: { orderBy: { attemptNumber: 'asc' } } },
  });
}

test('a message is posted with its signature, its content type and the headers of its destination', async () => {
  const place = newPlace();
  const headers = { 'X-Tenant': 'acme', 'User-Agent': 'acme-hooks' };
  const { id, secret } = await destination(receiver.url(place), { headers });
  const [deliveryId] = await owe(id);
  await using sender = createWorker(database);
  await sender.worker.drain();

  const [message, ...others] = receiver.received(place);
  if (!message) return expect.unreachable();
  expect(others).toEqual([]);
  expect(message.id).toBe(deliveryId);
  expect(message.headers).toMatchObject({
    'content-type': 'application/json',
    'x-tenant': 'acme',
    'user-agent': 'acme-hooks',
  });
  expect(verified(message, secret)).toEqual({
    notificationType: 'connection.created',
    data: { number: 0 },
  });
  const sent = await delivery(deliveryId);
  expect(sent).toMatchObject({
    status: 'SUCCEEDED',
    failureReason: null,
    attemptCount: 1,
    nextAttemptTime: null,
    leaseToken: null,
    leaseExpireTime: null,
  });
  expect(sent.attempts).toMatchObject([{ attemptNumber: 1, responseStatus: 200, error: null }]);
  expect(sent.attempts[0]?.id).toMatch(/^att_/);
});

test('a message keeps its id over all attempts, waits longer after each, and is given up in the end', async () => {
  const place = newPlace();
  receiver.behave(place, { status: 500 });
  const { id, secret } = await destination(receiver.url(place));
  const [deliveryId] = await owe(id);
  const clock = clockAt('2026-01-01T00:00:00Z');
  await using sender = createWorker(database, { now: clock.now, random: () => 0.5 });

  const waits: number[] = [];
  await sender.worker.drain();
  for (;;) {
    const { nextAttemptTime } = await delivery(deliveryId);
    if (!nextAttemptTime) break;
    const waitMs = nextAttemptTime.getTime() - clock.now().getTime();
    waits.push(waitMs / 1000);
    clock.advance(waitMs - 1);
    await sender.worker.drain();
    expect(receiver.received(place)).toHaveLength(waits.length);
    clock.advance(1);
    await sender.worker.drain();
  }
  expect(waits).toEqual([5, 300, 1800, 7200, 18_000, 36_000, 36_000]);
  const given = await delivery(deliveryId);
  expect(given).toMatchObject({
    status: 'FAILED',
    failureReason: 'Given up after 8 attempts: The receiver answered 500.',
    attemptCount: 8,
  });
  expect(given.attempts.map(({ attemptNumber }) => attemptNumber)).toEqual([
    1, 2, 3, 4, 5, 6, 7, 8,
  ]);
  const messages = receiver.received(place);
  expect(new Set(messages.map((message) => message.id))).toEqual(new Set([deliveryId]));
  for (const message of messages) verified(message, secret);
});

test.each([
  { behaviour: { status: 500 }, status: 500, error: 'The receiver answered 500.' },
  { behaviour: { status: 404 }, status: 404, error: 'The receiver answered 404.' },
  {
    behaviour: { status: 301, headers: { location: receiver.url('elsewhere') } },
    status: 301,
    error: 'The receiver answered 301: redirects are not followed.',
  },
  { behaviour: 'HANG', status: null, error: 'No whole answer within 0.2 s.' },
  {
    behaviour: 'DROP',
    status: null,
    error: 'The connection ended before the answer (UND_ERR_SOCKET).',
  },
] as const)('$behaviour fails, and other destinations go on', async (failing) => {
  const [bad, good] = [newPlace(), newPlace()];
  receiver.behave(bad, failing.behaviour);
  const [badOne, goodOne] = [
    await destination(receiver.url(bad)),
    await destination(receiver.url(good)),
  ];
  const [failed] = await owe(badOne.id);
  await owe(goodOne.id, 20);
  await using sender = createWorker(database, { limits: { attemptMs: 200 } });
  await sender.worker.drain();
  expect(receiver.received(good)).toHaveLength(20);
  const { attempts, ...row } = await delivery(failed);
  expect(row).toMatchObject({ status: 'PENDING', attemptCount: 1, failureReason: null });
  expect(attempts).toMatchObject([{ responseStatus: failing.status, error: failing.error }]);
  expect(receiver.received('elsewhere')).toEqual([]);
  await prisma.destination.deleteMany({ where: { id: badOne.id } });
});

test('an endless answer with a good status is a success', async () => {
  const place = newPlace();
  receiver.behave(place, 'ENDLESS');
  const { id } = await destination(receiver.url(place));
  const [deliveryId] = await owe(id);
  await using sender = createWorker(database);
  await sender.worker.drain();
  expect(await delivery(deliveryId)).toMatchObject({ status: 'SUCCEEDED', attemptCount: 1 });
});

test('a destination whose address is private fails without being reached', async () => {
  const place = newPlace();
  const { id } = await destination(receiver.url(place).replace('127.0.0.1', '127.0.0.2'));
  const [deliveryId] = await owe(id);
  await using sender = createWorker(database);
  await sender.worker.drain();
  const { attempts } = await delivery(deliveryId);
  expect(attempts).toMatchObject([
    { responseStatus: null, error: 'The address of 127.0.0.2 is not permitted.' },
  ]);
});

test('a secret that can not be opened fails the attempt, and nothing is sent', async () => {
  const place = newPlace();
  const { id } = await destination(receiver.url(place), { signingSecretSealed: 'v1.other.AAAA' });
  const [deliveryId] = await owe(id);
  await using sender = createWorker(database);
  await sender.worker.drain();
  expect(receiver.received(place)).toEqual([]);
  expect((await delivery(deliveryId)).attempts).toMatchObject([
    { error: 'The message could not be signed.' },
  ]);
});

test('410 disables the destination at once, tells so, and what it is owed waits to be sent', async () => {
  const place = newPlace();
  receiver.behave(place, { status: 410 });
  const { id } = await destination(receiver.url(place));
  const [first] = await owe(id);
  const clock = clockAt('2026-01-01T00:00:00Z');
  await using sender = createWorker(database, { now: clock.now });
  await sender.worker.drain();
  expect(await prisma.destination.findUniqueOrThrow({ where: { id } })).toMatchObject({
    status: 'DISABLED',
    disabledReason: 'The receiver answered 410 Gone.',
  });
  const event = await prisma.notificationEvent.findFirstOrThrow({ where: { destinationId: id } });
  expect(event).toMatchObject({
    eventType: 'DESTINATION_WEBHOOK_DISABLED',
    data: { projectId, destinationId: id, destinationName: id, url: receiver.url(place) },
  });

  const [second] = await owe(id);
  clock.advance(HOUR_MS);
  await sender.worker.drain();
  expect(receiver.received(place)).toHaveLength(1);
  expect(await delivery(first)).toMatchObject({ status: 'PENDING', attemptCount: 1 });
  expect(await delivery(second)).toMatchObject({ status: 'PENDING', attemptCount: 0 });

  receiver.behave(place, { status: 204 });
  await prisma.destination.update({ where: { id }, data: { status: 'ENABLED' } });
  await sender.worker.drain();
  expect(await delivery(first)).toMatchObject({ status: 'SUCCEEDED', attemptCount: 2 });
  expect(await delivery(second)).toMatchObject({ status: 'SUCCEEDED', attemptCount: 1 });
});

test('410 of a URL that was changed meanwhile disables nothing', async () => {
  const place = newPlace();
  receiver.behave(place, 'HANG');
  const { id } = await destination(receiver.url(place));
  await owe(id);
  await using sender = createWorker(database);
  const draining = sender.worker.drain();
  await receiver.arrived(place, 1);
  await prisma.destination.update({ where: { id }, data: { url: receiver.url(newPlace()) } });
  receiver.answerHeld(place, { status: 410 });
  await draining;
  expect(await prisma.destination.findUniqueOrThrow({ where: { id } })).toMatchObject({
    status: 'ENABLED',
    failedAttempts: 1,
  });
});

test('a destination that fails for 5 days and 20 attempts without a success is disabled', async () => {
  const place = newPlace();
  receiver.behave(place, { status: 503 });
  const { id } = await destination(receiver.url(place));
  const clock = clockAt('2026-01-01T00:00:00Z');
  await using sender = createWorker(database, { now: clock.now });
  const state = () => prisma.destination.findUniqueOrThrow({ where: { id } });

  await owe(id, 18);
  await sender.worker.drain();
  expect(await state()).toMatchObject({ failedAttempts: 18, failingSince: clock.now() });
  await prisma.delivery.deleteMany();

  // 5 days, and only 19 attempts.
  clock.advance(5 * DAY_MS);
  await owe(id);
  await sender.worker.drain();
  expect(await state()).toMatchObject({ failedAttempts: 19, status: 'ENABLED' });
  await prisma.delivery.deleteMany();

  await owe(id);
  await sender.worker.drain();
  expect(await state()).toMatchObject({
    failedAttempts: 20,
    status: 'DISABLED',
    disabledReason: 'Every attempt has failed for 5 days.',
  });
  expect(await prisma.notificationEvent.count({ where: { destinationId: id } })).toBe(1);
});

test('failing often, but not for 5 days, disables nothing; a success begins anew', async () => {
  const place = newPlace();
  receiver.behave(place, { status: 503 });
  const { id } = await destination(receiver.url(place));
  const clock = clockAt('2026-01-01T00:00:00Z');
  await using sender = createWorker(database, { now: clock.now });
  const state = () => prisma.destination.findUniqueOrThrow({ where: { id } });

  await owe(id, 30);
  await sender.worker.drain();
  clock.advance(5 * DAY_MS - 1);
  expect(await state()).toMatchObject({ failedAttempts: 30, status: 'ENABLED' });

  receiver.behave(place, { status: 200 });
  await sender.worker.drain();
  expect(await state()).toMatchObject({ failedAttempts: 0, failingSince: null });

  receiver.behave(place, { status: 503 });
  clock.advance(2);
  await owe(id, 30);
  await sender.worker.drain();
  expect(await state()).toMatchObject({ failedAttempts: 30, failingSince: clock.now() });
  expect(await state()).toMatchObject({ status: 'ENABLED' });
});

test('Retry-After is honoured, and for an hour at most', async () => {
  const clock = clockAt('2026-01-01T00:00:00Z');
  const waits: number[] = [];
  for (const retryAfter of ['120', 'Thu, 01 Jan 2026 00:10:00 GMT', '86400', '1', 'soon']) {
    const place = newPlace();
    receiver.behave(place, { status: 429, headers: { 'retry-after': retryAfter } });
    const { id } = await destination(receiver.url(place));
    const [deliveryId] = await owe(id);
    await using sender = createWorker(database, { now: clock.now, random: () => 0.5 });
    await sender.worker.drain();
    const { nextAttemptTime } = await delivery(deliveryId);
    waits.push(((nextAttemptTime?.getTime() ?? 0) - clock.now().getTime()) / 1000);
  }
  expect(waits).toEqual([120, 600, 3600, 5, 5]);
});

test('after a rotation both secrets sign, until the older one has expired', async () => {
  const place = newPlace();
  const { id, secret: before } = await destination(receiver.url(place));
  const clock = clockAt('2026-01-01T00:00:00Z');
  const sealed = await prisma.destination.findUniqueOrThrow({ where: { id } });
  const after = `whsec_${Buffer.alloc(32, 9).toString('base64')}`;
  const rotated = rotateSecrets(vault, sealed, { secret: after, now: clock.now() });
  await prisma.destination.update({ where: { id }, data: rotated });
  await using sender = createWorker(database, { now: clock.now });

  await owe(id);
  await sender.worker.drain();
  clock.advance(DAY_MS);
  await owe(id);
  await sender.worker.drain();

  const [both, only] = receiver.received(place);
  if (!both || !only) return expect.unreachable();
  expect(both.headers['webhook-signature']?.split(' ')).toHaveLength(2);
  expect(verified(both, before)).toEqual(verified(both, after));
  expect(only.headers['webhook-signature']?.split(' ')).toHaveLength(1);
  verified(only, after);
  expect(() => verified(only, before)).toThrow();
});

test('signatures carry the time of the database, whatever the clock of the process says', async () => {
  const place = newPlace();
  const { id, secret } = await destination(receiver.url(place));
  await owe(id);
  await using sender = createWorker(database, { now: clockAt('2031-01-01T00:00:00Z').now });
  await sender.worker.drain();
  const [message] = receiver.received(place);
  if (!message) return expect.unreachable();
  verified(message, secret);
});

test('a late result of a claim that was taken over is refused', async () => {
  const place = newPlace();
  receiver.behave(place, 'HANG');
  const { id } = await destination(receiver.url(place));
  const [deliveryId] = await owe(id);
  await using late = createWorker(database);
  const draining = late.worker.drain();
  await receiver.arrived(place, 1);

  await prisma.delivery.update({
    where: { id: deliveryId },
    data: { leaseExpireTime: new Date(0) },
  });
  receiver.behave(place, { status: 200 });
  await using next = createWorker(database);
  await next.worker.drain();
  const recorded = await delivery(deliveryId);
  expect(recorded).toMatchObject({ status: 'SUCCEEDED', attemptCount: 1 });

  receiver.answerHeld(place, { status: 500 });
  await draining;
  expect(await delivery(deliveryId)).toEqual(recorded);
  expect(await prisma.destination.findUniqueOrThrow({ where: { id } })).toMatchObject({
    failedAttempts: 0,
  });
});

test('a delivery that is held by another is left alone while the lease lasts', async () => {
  const place = newPlace();
  const { id } = await destination(receiver.url(place));
  await owe(id, 1, { leaseToken: 'other', leaseExpireTime: new Date(Date.now() + HOUR_MS) });
  await using sender = createWorker(database);
  await sender.worker.drain();
  expect(receiver.received(place)).toEqual([]);
});

test('two workers at once send each message once', async () => {
  const place = newPlace();
  const { id } = await destination(receiver.url(place));
  const owed = await owe(id, 500);
  await using one = createWorker(database);
  await using other = createWorker(database);
  await Promise.all([one.worker.drain(), other.worker.drain()]);
  const arrived = receiver.received(place).map((message) => message.id);
  expect(arrived.toSorted()).toEqual(owed.toSorted());
  expect(await prisma.delivery.count({ where: { status: 'SUCCEEDED' } })).toBe(500);
});

test('stopping waits for what is in flight, records it, and gives back the rest', async () => {
  const place = newPlace();
  receiver.behave(place, 'HANG');
  const { id } = await destination(receiver.url(place));
  await owe(id, 20);
  const sender = createWorker(database);
  const running = sender.worker.run();
  await receiver.arrived(place, 8);
  const stopping = sender.worker.stop(running);
  receiver.answerHeld(place, { status: 200 });
  await stopping;
  await sender[Symbol.asyncDispose]();
  expect(receiver.received(place)).toHaveLength(8);
  expect(await prisma.delivery.count({ where: { status: 'SUCCEEDED' } })).toBe(8);
  expect(await prisma.delivery.count({ where: { leaseToken: { not: null } } })).toBe(0);
});

test('what stopping can not wait for is left to be sent again', async () => {
  const place = newPlace();
  receiver.behave(place, 'HANG');
  const { id } = await destination(receiver.url(place));
  const [deliveryId] = await owe(id);
  const config = { DELIVERY_RETRY_SECONDS: [5], SHUTDOWN_MS: 20 };
  const sender = createWorker(database, { config });
  const running = sender.worker.run();
  await receiver.arrived(place, 1);
  await sender.worker.stop(running);
  await sender[Symbol.asyncDispose]();
  expect(await delivery(deliveryId)).toMatchObject({ status: 'PENDING', attemptCount: 0 });
});

test('a running worker sends what is owed later, when it is woken or by itself', async () => {
  const place = newPlace();
  const { id } = await destination(receiver.url(place));
  const sender = createWorker(database, { limits: { pollMs: 20 } });
  const running = sender.worker.run();
  await owe(id);
  sender.worker.wake();
  await receiver.arrived(place, 1);
  await owe(id);
  await receiver.arrived(place, 2);
  await sender.worker.stop(running);
  await sender[Symbol.asyncDispose]();
  expect(await prisma.delivery.count({ where: { status: 'SUCCEEDED' } })).toBe(2);
});

test('a database that fails for a while delays deliveries, and none is lost or sent twice', async () => {
  const place = newPlace();
  const { id } = await destination(receiver.url(place));
  await owe(id, 50);
  let failures = 0;
  const failing = async <T>(text: string, values: unknown[]): Promise<T[]> => {
    // Every kind of statement fails twice, and works once in between.
    failures += 1;
    if (failures % 3 !== 0) throw new Error('the database is gone');
    return database.rows.query<T>(text, values);
  };
  const sender = createWorker(
    { ...database, rows: { ...database.rows, query: failing } },
    { limits: { backoffMaxMs: 1, inFlightPerDestination: 4 } },
  );
  const running = sender.worker.run();
  const succeeded = () => prisma.delivery.count({ where: { status: 'SUCCEEDED' } });
  await expect.poll(succeeded).toBe(50);
  await sender.worker.stop(running);
  await sender[Symbol.asyncDispose]();
  expect(failures).toBeGreaterThan(20);
  expect(receiver.received(place)).toHaveLength(50);
  expect(await prisma.deliveryAttempt.count({ where: { delivery: { destinationId: id } } })).toBe(
    50,
  );
});

test('while results can not be recorded, little more is sent and nothing more is claimed', async () => {
  const place = newPlace();
  const { id } = await destination(receiver.url(place));
  await owe(id, 100);
  let isGone = true;
  let claims = 0;
  const query = async <T>(text: string, values: unknown[]): Promise<T[]> => {
    if (text.includes('"DeliveryAttempt"') && isGone) throw new Error('the database is gone');
    if (text.includes('recursive')) claims += 1;
    return database.rows.query<T>(text, values);
  };
  const limits = { unrecorded: 10, inFlight: 5, inFlightPerDestination: 100, backoffMaxMs: 1 };
  const sender = createWorker({ ...database, rows: { ...database.rows, query } }, { limits });
  const running = sender.worker.run();
  await receiver.arrived(place, 10);
  await prisma.delivery.updateMany({ data: { leaseExpireTime: new Date(0) } });
  sender.worker.wake();
  await expect.poll(() => receiver.received(place).length).toBeGreaterThanOrEqual(10);
  const claimsBefore = claims;
  isGone = false;
  await expect.poll(() => prisma.delivery.count({ where: { status: 'SUCCEEDED' } })).toBe(100);
  await sender.worker.stop(running);
  await sender[Symbol.asyncDispose]();
  expect(claimsBefore).toBe(1);
  expect(receiver.received(place)).toHaveLength(100);
});
