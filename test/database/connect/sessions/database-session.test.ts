import type { EventEmitter } from 'node:events';
import type { QueryConfig } from 'pg';
import { afterAll, expect, test } from 'vitest';
import { Outages } from '../../../../src/database/connect/outages.ts';
import { TRIES_MAX } from '../../../../src/database/connect/repeatable-errors.ts';
import { openDatabaseSession } from '../../../../src/database/connect/sessions/database-session.ts';
import { inTransaction } from '../../../../src/database/transactions/transaction.ts';
import { createLog } from '../../../../src/kernel/log.ts';
import { createTestDatabase, onCitus, onPostgres } from '../../../support/app.ts';
import { queryRows, toQuery } from '../../../support/database/query.ts';
import { startTcpProxy } from '../../../support/tcp-proxy.ts';

const database = await createTestDatabase();
afterAll(() => database[Symbol.asyncDispose]());

test('resolves a ping when the database responds', async () => {
  await expect(database.ping()).resolves.toBeUndefined();
});

const RAISE_DISK_FULL = "do $$ begin raise exception 'no room' using errcode = '53100'; end $$";
const unavailableError = { name: 'ServiceUnavailable', retryAfterSeconds: 30 };

test('fails with ServiceUnavailable from each client if the disk is full, but not for a wrong statement', async () => {
  const { prisma } = database;
  const query = toQuery(database);
  await expect(query(RAISE_DISK_FULL, [])).rejects.toMatchObject(unavailableError);
  await expect(prisma.$executeRawUnsafe(RAISE_DISK_FULL)).rejects.toMatchObject(unavailableError);
  const transaction = inTransaction(database, (tx) => tx.$executeRawUnsafe(RAISE_DISK_FULL));
  await expect(transaction).rejects.toMatchObject(unavailableError);
  await expect(query('select nothing', [])).rejects.not.toMatchObject(unavailableError);
  await expect(database.ping()).resolves.toBeUndefined();
});

test.runIf(onPostgres)('requests the columns of a statement once', async () => {
  const { acquirePostgres } = await import('../../../support/database/postgres-databases.ts');
  await using lent = await acquirePostgres();
  using outages = new Outages(createLog('silent'));
  const address = { connectionString: String(lent.env.DATABASE_URL) };
  const session = await openDatabaseSession({ address, name: 'columns', limitMs: 5_000, outages });
  let descriptionCount = 0;
  const { connection } = session as unknown as { connection: EventEmitter };
  connection.on('rowDescription', () => {
    descriptionCount += 1;
  });
  const queryRows = async (statement: QueryConfig) => (await session.query(statement)).rows;
  const text = 'select $1::int as "one", $2::text as "other" where $1 > 0';
  const statement = { name: 'both', text };
  expect(await queryRows({ ...statement, values: [1, 'a'] })).toEqual([{ one: 1, other: 'a' }]);
  expect(await queryRows({ ...statement, values: [2, null] })).toEqual([{ one: 2, other: null }]);
  expect(await queryRows({ ...statement, values: [0, 'a'] })).toEqual([]);
  const array = { ...statement, values: [3, 'b'], rowMode: 'array' };
  expect(await queryRows(array)).toEqual([[3, 'b']]);
  await expect(queryRows({ ...statement, values: ['none', ''] })).rejects.toThrow('invalid input');
  expect(await queryRows({ ...statement, values: [4, 'c'] })).toEqual([{ one: 4, other: 'c' }]);
  expect(descriptionCount).toBe(1);
  await session.end();
});

// On Citus, the coordinator plans a statement for each set of values.
test.skipIf(onCitus)('plans a statement once, even with an array among its values', async () => {
  const query = toQuery(database);
  const text = 'select $1 = any($2::text[]) as "isThere"';
  for (const value of ['a', 'b', 'c', 'd', 'e', 'f', 'g']) {
    expect(await query(text, [value, ['a', 'b']])).toEqual([{ isThere: 'ab'.includes(value) }]);
  }
  const plans = `select sum(generic_plans)::int as "generic", sum(custom_plans)::int as "custom"
    from pg_prepared_statements where statement = $1`;
  expect(await query(plans, [text])).toEqual([{ generic: 7, custom: 0 }]);
});

test.runIf(onPostgres)('limits statements, idle transactions and silent sockets', async () => {
  const [limits] = await queryRows<Record<string, string>>(
    database,
    `select current_setting('statement_timeout') as "statement",
      current_setting('idle_in_transaction_session_timeout') as "idle",
      current_setting('tcp_user_timeout') as "unanswered",
      current_setting('tcp_keepalives_idle') as "quiet"`,
    [],
  );
  expect(limits).toEqual({ statement: '5s', idle: '10s', unanswered: '10000', quiet: '10' });
});

test.runIf(onPostgres)('fails with ServiceUnavailable when a statement is canceled', async () => {
  const slowQuery = queryRows(database, 'select pg_sleep(60)', []);
  const failure = expect(slowQuery).rejects.toMatchObject({ name: 'ServiceUnavailable' });
  const cancelQuery = () =>
    queryRows(
      database,
      `select pg_cancel_backend(pid) from pg_stat_activity
       where query = 'select pg_sleep(60)' and state = 'active' and datname = current_database()`,
      [],
    );
  await expect.poll(cancelQuery).toHaveLength(1);
  await failure;
});

test.runIf(onPostgres)('retries a statement that a deadlock aborts, up to a maximum', async () => {
  await using database = await createTestDatabase();
  const query = toQuery(database);
  await query('create sequence tried', []);
  await query(
    `create function undone_before("first" bigint) returns bigint language plpgsql as $$
       declare tries bigint := nextval('tried');
       begin
         if tries < "first" then raise exception 'a deadlock' using errcode = '40P01'; end if;
         return tries;
       end $$`,
    [],
  );
  const countTries = (first: number) => query('select undone_before($1) as "tries"', [first]);
  expect(await countTries(3)).toEqual([{ tries: expect.anything() }]);
  expect(await query('select last_value::int as "tries" from tried', [])).toEqual([{ tries: 3 }]);
  await expect(countTries(100)).rejects.toThrow('a deadlock');
  expect(await query('select last_value::int as "tries" from tried', [])).toEqual([
    { tries: 3 + TRIES_MAX },
  ]);
});

test.runIf(onPostgres)(
  'keeps an idle connection, and fails a connection that stops responding',
  async () => {
    const { acquirePostgres } = await import('../../../support/database/postgres-databases.ts');
    await using lent = await acquirePostgres();
    const url = new URL(String(lent.env.DATABASE_URL));
    await using proxy = await startTcpProxy({ host: url.hostname, port: Number(url.port) });
    Object.assign(url, { hostname: '127.0.0.1', port: String(proxy.port) });
    using outages = new Outages(createLog('silent'));
    const address = { connectionString: url.href };
    const session = await openDatabaseSession({ address, name: 'silence', limitMs: 200, outages });
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await expect(session.query('select 1')).resolves.toMatchObject({ rowCount: 1 });
    proxy.blockOpen();
    const cause = { message: 'No response arrived in time' };
    const silenceError = { name: 'ServiceUnavailable', cause };
    const waitingQueries = [session.query('select 1'), session.query('select 2')];
    await Promise.all(
      waitingQueries.map((query) => expect(query).rejects.toMatchObject(silenceError)),
    );
  },
);
