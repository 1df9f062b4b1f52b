/**
 * Notifications of the same moment share a statement. They are retried until the database has accepted them.
 */
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  createSender,
  NotificationSender,
} from '../../src/database/notifications/notification-sender.ts';
import type { RunQuery } from '../../src/database/rows.ts';

const POLLING = { timeout: 10_000, interval: 5 };

/** A database that records notifications, and that a test can delay or fail. */
function startDatabase() {
  const statements: string[][] = [];
  const database = {
    statements,
    isDown: false,
    ready: Promise.resolve(),
    delivered: () => statements.flat(),
    query: (async (_text, [channels, payloads]) => {
      await database.ready;
      if (database.isDown) throw new Error('The database is away.');
      const names = payloads as string[];
      statements.push((channels as string[]).map((channel, index) => `${channel} ${names[index]}`));
      return [];
    }) as RunQuery,
  };
  return database;
}

test('sends the first notification immediately, and later ones together without duplicates', async () => {
  const database = startDatabase();
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

test('queues at most 10,000 notifications while the database is down, and sends them afterwards', async () => {
  const database = startDatabase();
  await using sender = new NotificationSender(createSender(database.query));
  database.isDown = true;
  sender.notify(['logs first']);
  await wait(1);
  const channels = Array.from({ length: 12_000 }, (_, number) => `logs ${number}` as const);
  sender.notify(channels);
  database.isDown = false;
  await expect.poll(() => database.delivered().length, POLLING).toBe(10_001);
  expect(database.delivered().slice(0, 2)).toEqual(['logs first', 'logs 0']);
});

test('sends queued notifications on disposal, and does not wait for a database that hangs', async () => {
  const database = startDatabase();
  const sender = new NotificationSender(createSender(database.query));
  sender.notify(['logs one']);
  sender.notify(['logs two']);
  await sender[Symbol.asyncDispose]();
  expect(database.delivered()).toEqual(['logs one', 'logs two']);
  const hanging = new NotificationSender(() => new Promise(() => {}));
  hanging.notify(['logs one']);
  hanging.notify(['logs two']);
  await hanging[Symbol.asyncDispose]();
});
