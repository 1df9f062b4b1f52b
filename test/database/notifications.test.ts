import { afterAll, expect, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { inTransaction, notifyAfterCommit } from '../../src/database/transaction.ts';
import { createTestDatabase, onPostgres } from '../support/app.ts';

const database = await createTestDatabase();
afterAll(() => database[Symbol.asyncDispose]());

/** Records the notifications of a channel. Returns when the database listens to it. */
async function listenTo(channel: string, onDatabase: Database = database) {
  const received: (string | undefined)[] = [];
  let next = Promise.withResolvers<void>();
  const listening = onDatabase.listen(channel, (payload) => {
    received.push(payload);
    next.resolve();
    next = Promise.withResolvers();
  });
  const until = async (isEnough: () => boolean) => {
    while (!isEnough()) await next.promise;
  };
  await until(() => received.length > 0);
  return { received, until, listening };
}

const notify = (channel: string, payload: string) =>
  database.prisma.$executeRaw`select pg_notify(${channel}, ${payload})`;

test('calls a listener when it starts to listen, then for each notification', async () => {
  const { received, until, listening } = await listenTo('test_hints');
  await notify('test_hints', 'one');
  await notify('test_other', 'not this');
  await notify('test_hints', 'two');
  await until(() => received.includes('two'));
  expect(received).toEqual([undefined, 'one', 'two']);
  await listening[Symbol.asyncDispose]();
});

test('notifies after the commit, and not after a rollback', async () => {
  const { received, until, listening } = await listenTo('test_commit');
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
  await until(() => received.includes('committed'));
  expect(received).toEqual([undefined, 'committed']);
  await listening[Symbol.asyncDispose]();
});

test('throws if a notification is requested outside of inTransaction', async () => {
  expect(() => notifyAfterCommit(database.prisma, 'test_commit at once')).toThrow('inTransaction');
});

test('calls no listener that was disposed of', async () => {
  const [left, staying] = [await listenTo('test_left'), await listenTo('test_left')];
  await left.listening[Symbol.asyncDispose]();
  const before = [...left.received];
  await notify('test_left', 'late');
  await staying.until(() => staying.received.includes('late'));
  expect(left.received).toEqual(before);
  await staying.listening[Symbol.asyncDispose]();
});

test.runIf(!onPostgres)('needs no database connection within one process', async () => {
  const { received, until, listening } = await listenTo('test_inside');
  await inTransaction(database, async (tx) => {
    await tx.$executeRaw`select 1`;
    database.notify(['test_inside one', 'test_inside two']);
    await until(() => received.includes('two'));
  });
  expect(received).toEqual([undefined, 'one', 'two']);
  await listening[Symbol.asyncDispose]();
});

test.runIf(onPostgres)('reconnects after a lost connection and calls every listener', async () => {
  const [a, b] = [await listenTo('test_lost_a'), await listenTo('test_lost_b')];
  const before = { a: a.received.length, b: b.received.length };
  await database.prisma.$executeRaw`
    select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'integration-gateway notifications' and datname = current_database()`;
  await a.until(() => a.received.length > before.a);
  await b.until(() => b.received.length > before.b);
  expect([a.received.at(-1), b.received.at(-1)]).toEqual([undefined, undefined]);
  await notify('test_lost_a', 'again');
  await a.until(() => a.received.includes('again'));
  expect(b.received).not.toContain('again');
});
