/**
 * Notifications that are sent at the same time share a statement. They are retried until the database accepts them.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, test } from 'vitest';
import type { RunQuery } from '../../../src/database/connect/run-query.ts';
import {
  createSender,
  NotificationSender,
} from '../../../src/database/transactions/notifications.ts';

const POLLING = { interval: 5 };

/** Creates a database that records notifications. The test can delay or fail its statements. */
function createDatabase() {
  const statements: string[][] = [];
  const database = {
    statements,
    isUnavailable: false,
    ready: Promise.resolve(),
    listDelivered: () => statements.flat(),
    query: (async (_text, [channels, payloads]) => {
      await database.ready;
      if (database.isUnavailable) throw new Error('The database is not available.');
      const names = payloads as string[];
      statements.push((channels as string[]).map((channel, index) => `${channel} ${names[index]}`));
      return [];
    }) as RunQuery,
  };
  return database;
}

test('sends the first notification immediately, and combines later notifications without duplicates', async () => {
  const database = createDatabase();
  await using sender = new NotificationSender(createSender(database.query));
  const { promise, resolve } = Promise.withResolvers<void>();
  database.ready = promise;
  sender.notify(['logs one']);
  for (let time = 0; time < 50; time += 1)
    sender.notify(['logs two', 'logs three of it', 'others ']);
  resolve();
  await expect.poll(() => database.statements.length, POLLING).toBe(2);
  expect(database.statements).toEqual([['logs one'], ['logs two', 'logs three of it', 'others ']]);
});

test('queues at most 10,000 notifications while the database is not available, and sends them afterwards', async () => {
  const database = createDatabase();
  await using sender = new NotificationSender(createSender(database.query));
  database.isUnavailable = true;
  sender.notify(['logs first']);
  await delay(1);
  const channels = Array.from({ length: 12_000 }, (_, number) => `logs ${number}` as const);
  sender.notify(channels);
  database.isUnavailable = false;
  await expect.poll(() => database.listDelivered().length, POLLING).toBe(10_001);
  expect(database.listDelivered().slice(0, 2)).toEqual(['logs first', 'logs 0']);
});

test('sends queued notifications on disposal, and does not wait for a database that hangs', async () => {
  const database = createDatabase();
  const sender = new NotificationSender(createSender(database.query));
  sender.notify(['logs one']);
  sender.notify(['logs two']);
  await sender[Symbol.asyncDispose]();
  expect(database.listDelivered()).toEqual(['logs one', 'logs two']);
  const hangingSender = new NotificationSender(() => new Promise(() => {}));
  hangingSender.notify(['logs one']);
  hangingSender.notify(['logs two']);
  await hangingSender[Symbol.asyncDispose]();
});
