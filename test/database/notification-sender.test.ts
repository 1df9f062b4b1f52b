/** Hints of the same moment share a statement, and are told until the database has taken them. */
import { setTimeout as wait } from 'node:timers/promises';
import { expect, test } from 'vitest';
import {
  NotificationSender,
  notifyBy,
} from '../../src/database/notifications/notification-sender.ts';
import type { RunQuery } from '../../src/database/rows.ts';

const POLLING = { timeout: 10_000, interval: 5 };

/** A database that takes what it is told when it is let. */
function startDatabase() {
  const statements: string[][] = [];
  const database = {
    statements,
    isAway: false,
    taken: Promise.resolve(),
    told: () => statements.flat(),
    query: (async (_text, [channels, payloads]) => {
      await database.taken;
      if (database.isAway) throw new Error('The database is away.');
      const names = payloads as string[];
      statements.push((channels as string[]).map((channel, place) => `${channel} ${names[place]}`));
      return [];
    }) as RunQuery,
  };
  return database;
}

test('one goes at once; those that come meanwhile go together, each once', async () => {
  const database = startDatabase();
  await using sender = new NotificationSender(notifyBy(database.query));
  const { promise, resolve } = Promise.withResolvers<void>();
  database.taken = promise;
  sender.tell(['logs one']);
  for (let time = 0; time < 50; time += 1) sender.tell(['logs two', 'logs three of it', 'others ']);
  resolve();
  await expect.poll(() => database.statements.length, POLLING).toBe(2);
  expect(database.statements).toEqual([['logs one'], ['logs two', 'logs three of it', 'others ']]);
});

test('while the database is away they wait, up to a number, and are told when it is back', async () => {
  const database = startDatabase();
  await using sender = new NotificationSender(notifyBy(database.query));
  database.isAway = true;
  sender.tell(['logs first']);
  await wait(1);
  const many = Array.from({ length: 12_000 }, (_, number) => `logs ${number}` as const);
  sender.tell(many);
  database.isAway = false;
  await expect.poll(() => database.told().length, POLLING).toBe(10_001);
  expect(database.told().slice(0, 2)).toEqual(['logs first', 'logs 0']);
});

test('what waits at the end is sent, and a database that hangs does not hold it up', async () => {
  const database = startDatabase();
  const sender = new NotificationSender(notifyBy(database.query));
  sender.tell(['logs one']);
  sender.tell(['logs two']);
  await sender[Symbol.asyncDispose]();
  expect(database.told()).toEqual(['logs one', 'logs two']);
  const hanging = new NotificationSender(() => new Promise(() => {}));
  hanging.tell(['logs one']);
  hanging.tell(['logs two']);
  await hanging[Symbol.asyncDispose]();
});
