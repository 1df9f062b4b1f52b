import { afterAll, expect, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { inTransaction, notifyAfterCommit } from '../../src/database/transaction.ts';
import { onPostgres, testDatabase } from '../support/app.ts';

const database = await testDatabase();
afterAll(() => database[Symbol.asyncDispose]());

/** The hints of a channel, which is listened to when this returns. */
async function listenTo(channel: string, on: Database = database) {
  const heard: (string | undefined)[] = [];
  let told = Promise.withResolvers<void>();
  const listening = on.listen(channel, (payload) => {
    heard.push(payload);
    told.resolve();
    told = Promise.withResolvers();
  });
  const until = async (isEnough: () => boolean) => {
    while (!isEnough()) await told.promise;
  };
  await until(() => heard.length > 0);
  return { heard, until, listening };
}

const notify = (channel: string, payload: string) =>
  database.prisma.$executeRaw`select pg_notify(${channel}, ${payload})`;

test('a listener is called once when it is heard, then for each hint', async () => {
  const { heard, until, listening } = await listenTo('test_hints');
  await notify('test_hints', 'one');
  await notify('test_other', 'not this');
  await notify('test_hints', 'two');
  await until(() => heard.includes('two'));
  expect(heard).toEqual([undefined, 'one', 'two']);
  await listening[Symbol.asyncDispose]();
});

test('a hint comes after the commit, and not after a rollback', async () => {
  const { heard, until, listening } = await listenTo('test_commit');
  await expect(
    inTransaction(database, async (tx) => {
      notifyAfterCommit(tx, 'test_commit rolled back');
      throw new Error('no');
    }),
  ).rejects.toThrow('no');
  await inTransaction(database, async (tx) => {
    notifyAfterCommit(tx, 'test_commit committed', 'test_commit committed');
    await tx.$executeRaw`select 1`;
    expect(heard).toEqual([undefined]);
  });
  await until(() => heard.includes('committed'));
  expect(heard).toEqual([undefined, 'committed']);
  await listening[Symbol.asyncDispose]();
});

test('nothing is told outside of a transaction that can tell', async () => {
  expect(() => notifyAfterCommit(database.prisma, 'test_commit at once')).toThrow('inTransaction');
});

test('who has stopped listening hears nothing more', async () => {
  const [left, staying] = [await listenTo('test_left'), await listenTo('test_left')];
  await left.listening[Symbol.asyncDispose]();
  const before = [...left.heard];
  await notify('test_left', 'late');
  await staying.until(() => staying.heard.includes('late'));
  expect(left.heard).toEqual(before);
  await staying.listening[Symbol.asyncDispose]();
});

test.runIf(!onPostgres)('within the process they wait for no connection', async () => {
  const { heard, until, listening } = await listenTo('test_inside');
  await inTransaction(database, async (tx) => {
    await tx.$executeRaw`select 1`;
    database.tell(['test_inside one', 'test_inside two']);
    await until(() => heard.includes('two'));
  });
  expect(heard).toEqual([undefined, 'one', 'two']);
  await listening[Symbol.asyncDispose]();
});

test.runIf(onPostgres)('a lost connection is opened again, and every listener told', async () => {
  const [a, b] = [await listenTo('test_lost_a'), await listenTo('test_lost_b')];
  const told = { a: a.heard.length, b: b.heard.length };
  await database.prisma.$executeRaw`
    select pg_terminate_backend(pid) from pg_stat_activity
    where application_name = 'integration-gateway hints' and datname = current_database()`;
  await a.until(() => a.heard.length > told.a);
  await b.until(() => b.heard.length > told.b);
  expect([a.heard.at(-1), b.heard.at(-1)]).toEqual([undefined, undefined]);
  await notify('test_lost_a', 'again');
  await a.until(() => a.heard.includes('again'));
  expect(b.heard).not.toContain('again');
});
