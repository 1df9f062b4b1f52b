import { afterAll, expect, test } from 'vitest';
import type { Database } from '../../../src/database/open/database.ts';
import {
  inTransaction,
  notifyAfterCommit,
} from '../../../src/database/transactions/transaction.ts';
import { createTestDatabase, onPostgres } from '../../support/app.ts';

const database = await createTestDatabase();
afterAll(() => database[Symbol.asyncDispose]());

/** Records the notifications of a channel. Resolves when the database listens to the channel. */
async function listenTo(channel: string, onDatabase: Database = database) {
  const received: (string | undefined)[] = [];
  let nextNotification = Promise.withResolvers<void>();
  const listening = onDatabase.listen(channel, (payload) => {
    received.push(payload);
    nextNotification.resolve();
    nextNotification = Promise.withResolvers();
  });
  const waitUntil = async (isEnough: () => boolean) => {
    while (!isEnough()) await nextNotification.promise;
  };
  await waitUntil(() => received.length > 0);
  return { received, waitUntil, listening };
}

const notify = (channel: string, payload: string) =>
  database.prisma.$executeRaw`select pg_notify(${channel}, ${payload})`;

test('calls a listener when it starts to listen, then for each notification', async () => {
  const { received, waitUntil, listening } = await listenTo('test_letters');
  await notify('test_letters', 'one');
  await notify('test_other', 'not this');
  await notify('test_letters', 'two');
  await waitUntil(() => received.includes('two'));
  expect(received).toEqual([undefined, 'one', 'two']);
  await listening[Symbol.asyncDispose]();
});

test('notifies after the commit, and not after a rollback', async () => {
  const { received, waitUntil, listening } = await listenTo('test_commit');
  await expect(
    inTransaction(database, async (tx) => {
      notifyAfterCommit(tx, 'test_commit rolled back');
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  await inTransaction(database, async (tx) => {
    notifyAfterCommit(tx, 'test_commit committed', 'test_commit committed');
    await tx.$executeRaw`select 1`;
    expect(received).toEqual([undefined]);
  });
  await waitUntil(() => received.includes('committed'));
  expect(received).toEqual([undefined, 'committed']);
  await listening[Symbol.asyncDispose]();
});

test('throws if a notification is requested outside of inTransaction', async () => {
  expect(() => notifyAfterCommit(database.prisma, 'test_commit at once')).toThrow('inTransaction');
});

test('calls no listener that was disposed of', async () => {
  const [disposed, active] = [await listenTo('test_left'), await listenTo('test_left')];
  await disposed.listening[Symbol.asyncDispose]();
  const receivedBefore = [...disposed.received];
  await notify('test_left', 'late');
  await active.waitUntil(() => active.received.includes('late'));
  expect(disposed.received).toEqual(receivedBefore);
  await active.listening[Symbol.asyncDispose]();
});

test.runIf(!onPostgres)('needs no database connection within one process', async () => {
  const { received, waitUntil, listening } = await listenTo('test_inside');
  await inTransaction(database, async (tx) => {
    await tx.$executeRaw`select 1`;
    database.notify(['test_inside one', 'test_inside two']);
    await waitUntil(() => received.includes('two'));
  });
  expect(received).toEqual([undefined, 'one', 'two']);
  await listening[Symbol.asyncDispose]();
});

test.runIf(onPostgres)('reconnects after a lost connection and calls every listener', async () => {
  const [firstListener, secondListener] = [
    await listenTo('test_lost_a'),
    await listenTo('test_lost_b'),
  ];
  const countsBefore = {
    first: firstListener.received.length,
    second: secondListener.received.length,
  };
  await database.prisma.$executeRaw`
    select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'integration-gateway notifications' and datname = current_database()`;
  await firstListener.waitUntil(() => firstListener.received.length > countsBefore.first);
  await secondListener.waitUntil(() => secondListener.received.length > countsBefore.second);
  expect([firstListener.received.at(-1), secondListener.received.at(-1)]).toEqual([
    undefined,
    undefined,
  ]);
  await notify('test_lost_a', 'again');
  await firstListener.waitUntil(() => firstListener.received.includes('again'));
  expect(secondListener.received).not.toContain('again');
});
