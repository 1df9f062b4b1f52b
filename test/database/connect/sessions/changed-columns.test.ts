import { afterAll, beforeEach, expect, inject, test } from 'vitest';
import { Outages } from '../../../../src/database/connect/outages.ts';
import { openDatabaseSession } from '../../../../src/database/connect/sessions/database-session.ts';
import { inTransaction } from '../../../../src/database/transactions/transaction.ts';
import { createLog } from '../../../../src/kernel/log.ts';
import { createTestDatabase, onPostgres } from '../../../support/app.ts';
import { queryRows } from '../../../support/database/query.ts';

const database = await createTestDatabase();
afterAll(() => database[Symbol.asyncDispose]());

const SELECT_ALL = 'select * from "Changing"';
const SELECT_BY_ID = `${SELECT_ALL} where "id" = any($1)`;

beforeEach(async () => {
  await queryRows(database, 'drop table if exists "Changing"', []);
  await queryRows(database, 'create table "Changing" ("id" text)', []);
  await queryRows(database, `insert into "Changing" values ('a')`, []);
});

/** Adds a column, as a migration of a newer version does while the process runs. */
const addColumn = () => queryRows(database, 'alter table "Changing" add column "more" int', []);

test('repeats a statement when a migration has added a column to its table', async () => {
  const query = () =>
    Promise.all(Array.from({ length: 20 }, () => queryRows(database, SELECT_BY_ID, [['a']])));
  expect(await query()).toEqual(Array(20).fill([{ id: 'a' }]));
  await addColumn();
  expect(await query()).toEqual(Array(20).fill([{ id: 'a', more: null }]));
  expect(await query()).toEqual(Array(20).fill([{ id: 'a', more: null }]));
});

test('repeats a transaction when a migration has added a column, and commits it once', async () => {
  const runTransaction = () =>
    inTransaction(database, async (tx) => {
      await tx.$executeRawUnsafe(`insert into "Changing" ("id") values ('b')`);
      return tx.$queryRawUnsafe(SELECT_ALL);
    });
  expect(await runTransaction()).toEqual([{ id: 'a' }, { id: 'b' }]);
  await addColumn();
  const createRow = (id: string) => ({ id, more: null });
  expect(await runTransaction()).toEqual([createRow('a'), createRow('b'), createRow('b')]);
});

test('repeats concurrent transactions in which every statement is outdated', async () => {
  const statements = Array.from({ length: 6 }, (_, index) => `${SELECT_ALL} where ${index} = 0`);
  const runTransactions = () =>
    Promise.all(
      Array.from({ length: 20 }, () =>
        inTransaction(database, async (tx) => {
          const results: unknown[] = [];
          for (const text of statements) results.push(...(await tx.$queryRawUnsafe<[]>(text)));
          return results;
        }),
      ),
    );
  expect(await runTransactions()).toEqual(Array(20).fill([{ id: 'a' }]));
  await addColumn();
  expect(await runTransactions()).toEqual(Array(20).fill([{ id: 'a', more: null }]));
});

test.runIf(onPostgres)('reads the current columns of each result behind a pooler', async () => {
  const [{ name } = { name: '' }] = await queryRows<{ name: string }>(
    database,
    'select current_database() as "name"',
    [],
  );
  const session = await openDatabaseSession({
    address: { connectionString: `${inject('postgres').serverUrl}/${name}` },
    limitMs: 1_000,
    name: 'test',
    outages: new Outages(createLog('silent')),
    pooler: { keepsStatements: true },
  });
  const query = async () => (await session.query({ name: 'changing', text: SELECT_ALL })).rows;
  expect(await query()).toEqual([{ id: 'a' }]);
  await addColumn();
  // A pooler prepares the statement again on a server connection that lacks it.
  await session.query('deallocate "changing"');
  await session.query(`prepare "changing" as ${SELECT_ALL}`);
  expect(await query()).toEqual([{ id: 'a', more: null }]);
  await session.end();
});
