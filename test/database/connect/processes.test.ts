/**
 * Processes that share a PostgreSQL server detect a process that has lost its connection. They never mark a slow
 * process as missed.
 */
import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { Outages } from '../../../src/database/connect/outages.ts';
import { joinProcesses } from '../../../src/database/connect/processes.ts';
import type { RunQuery } from '../../../src/database/connect/run-query.ts';
import { openDatabase } from '../../../src/database/open/open-database.ts';
import { openEngine } from '../../../src/database/open/open-embedded.ts';
import { PostgresNotifications } from '../../../src/database/transactions/postgres-notifications.ts';
import { createLog } from '../../../src/kernel/log.ts';
import { readConfig } from '../../../src/settings/config.ts';
import { createTestDatabase, onPostgres } from '../../support/app.ts';
import { acquireEngine } from '../../support/database/embedded/embedded-databases.ts';
import { queryRows } from '../../support/database/query.ts';

const log = createLog('silent');

/** Opens a database twice, like two processes. Both have their connection for notifications, and so their lock. */
async function joinTwoProcesses() {
  const database = await createTestDatabase(log);
  const [{ name }] = await database.prisma.$queryRaw<[{ name: string }]>`
    select current_database() as "name"`;
  const url = `${inject('postgres').serverUrl}/${name}`;
  const otherDatabase = await openDatabase(createConfig(url), log);
  await database.ping();
  await otherDatabase.ping();
  return { database, otherDatabase, url };
}

function createConfig(url: string) {
  return readConfig({
    DATABASE_URL: url,
    DATABASE_POOL_SIZE: '4',
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  });
}

test.runIf(onPostgres)(
  'marks a process as missed when its connection is lost, until it reconnects',
  async () => {
    const { database, otherDatabase, url } = await joinTwoProcesses();
    const { processes, prisma } = database;
    const findMissedTime = async () =>
      (await prisma.serverProcess.findUniqueOrThrow({ where: { id: otherDatabase.processes.id } }))
        .lockMissingSince;
    // Processes are not marked as missed in the first 11 seconds after the start of the server.
    const isServerUp = `select now() > pg_postmaster_start_time() + interval '11 seconds' as "is"`;
    await expect.poll(() => queryRows(database, isServerUp, [])).toEqual([{ is: true }]);
    expect(await processes.check()).toEqual([]);

    const server = new pg.Client({ connectionString: url });
    await server.connect();
    await server.query(
      `select pg_terminate_backend(l.pid) from pg_locks l
       join "ServerProcess" p on l.objid::bigint = p."lockKey"
       where l.locktype = 'advisory' and l.objsubid = 2 and p."id" = $1`,
      [otherDatabase.processes.id],
    );
    await server.end();
    // The process still has its other connections, and does not consider itself missed.
    expect(await otherDatabase.processes.check()).toEqual([]);
    // The process reopens its connection for notifications automatically, and is no longer missed.
    await expect.poll(() => otherDatabase.ping().catch((error: unknown) => error)).toBeUndefined();
    await processes.check();
    expect(await findMissedTime()).toBeNull();

    await otherDatabase[Symbol.asyncDispose]();
    await processes.check();
    expect(await findMissedTime()).not.toBeNull();
    await database[Symbol.asyncDispose]();
  },
);

test.runIf(onPostgres)(
  'is not ready while the server is read-only, and then replaces read-only connections',
  async () => {
    const { database, otherDatabase, url } = await joinTwoProcesses();
    const name = pg.escapeIdentifier(new URL(url).pathname.slice(1));
    const server = new pg.Client({ connectionString: url });
    await server.connect();
    await server.query(`alter database ${name} set default_transaction_read_only = on`);
    await server.query(`select pg_terminate_backend("pid") from pg_stat_activity
      where "datname" = current_database() and "pid" <> pg_backend_pid()`);
    const readPingError = () => database.ping().then(() => null, String);
    await expect.poll(readPingError).toContain('accepts no writes');
    const write = () =>
      queryRows(database, 'update "ServerProcess" set "lockMissingSince" = null', []);
    await expect(write()).rejects.toThrow('accepts no writes');
    await server.query(`alter database ${name} reset default_transaction_read_only`);
    await expect.poll(readPingError, { timeout: 20_000 }).toBeNull();
    await write();
    await server.end();
    await otherDatabase[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  },
);

test.runIf(onPostgres)('reopens a connection that fails before its first use', async () => {
  const { database, otherDatabase, url } = await joinTwoProcesses();
  let attempts = 0;
  const processes = {
    ...otherDatabase.processes,
    announce: async () => {
      attempts += 1;
      // A standby responds with this error.
      if (attempts < 3) throw new Error('cannot execute LISTEN during recovery');
    },
    hasOthers: async () => false,
    leave: async () => {},
  };
  const server = { address: { connectionString: url }, limitMs: 1_000, outages: new Outages(log) };
  await using notifications = new PostgresNotifications(server, {
    processes,
    notify: async () => {},
    sessions: { dropIdle: () => {} },
  });
  const receivedPayloads: unknown[] = [];
  await using _listening = notifications.listen('test_reopened', (payload) =>
    receivedPayloads.push(payload),
  );
  await expect.poll(() => receivedPayloads).toEqual([undefined]);
  expect(attempts).toBe(3);
  await notifications.ping();
  await otherDatabase[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

test.runIf(onPostgres)(
  'marks no process as missed while it has no connection itself, or just after it has reconnected',
  async () => {
    const { database, otherDatabase, url } = await joinTwoProcesses();
    const server = new pg.Client({ connectionString: url });
    await server.connect();
    const query: RunQuery = async (text, values) => (await server.query(text, values)).rows;
    const isServerUp = `select now() > pg_postmaster_start_time() + interval '11 seconds' as "is"`;
    await expect.poll(() => query(isServerUp, [])).toEqual([{ is: true }]);
    const joinedProcess = await joinProcesses(query);
    const silentProcess = await joinProcesses(query);
    // The process holds no lock, as after a failure that cut all connections.
    expect(await joinedProcess.check()).toEqual([]);
    await joinedProcess.announce((text, values) => server.query(text, values));
    expect(await joinedProcess.check()).toEqual([silentProcess.id]);
    await query('update "ServerProcess" set "lockMissingSince" = null where "id" = $1', [
      silentProcess.id,
    ]);
    await joinedProcess.announce((text, values) => server.query(text, values));
    expect(await joinedProcess.check()).toEqual([]);
    await server.end();
    await otherDatabase[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  },
);

test.runIf(onPostgres)(
  'sends notifications through the database only while another process runs',
  async () => {
    const { database, otherDatabase, url } = await joinTwoProcesses();
    const server = new pg.Client({ connectionString: url });
    await server.connect();
    const sentChannels: string[] = [];
    server.on('notification', ({ payload }) => sentChannels.push(payload ?? ''));
    await server.query('listen test_passed');
    const receivedPayloads: (string | undefined)[] = [];
    await using _listening = database.listen('test_passed', (payload) =>
      receivedPayloads.push(payload),
    );
    await expect.poll(() => receivedPayloads).toEqual([undefined]);

    await otherDatabase.ping();
    const notifyBoth = () => {
      database.notify(['test_passed to-both']);
      return sentChannels;
    };
    await expect.poll(notifyBoth).toContain('to-both');
    await expect.poll(() => receivedPayloads).toContain('to-both');

    await otherDatabase[Symbol.asyncDispose]();
    let count = 0;
    const notifyOnce = async () => {
      count += 1;
      const payload = `alone-${count}`;
      database.notify([`test_passed ${payload}`]);
      await expect.poll(() => receivedPayloads).toContain(payload);
      // The server delivers notifications in order, so the first would have arrived before this one.
      await server.query(`select pg_notify('test_passed', 'after-${count}')`);
      await expect.poll(() => sentChannels).toContain(`after-${count}`);
      return sentChannels.includes(payload);
    };
    await expect.poll(notifyOnce).toBe(false);

    await using newDatabase = await openDatabase(createConfig(url), log);
    await newDatabase.ping();
    // The other process needs a moment to notice the new one.
    const notifyAgain = () => {
      database.notify(['test_passed to-both-again']);
      return sentChannels;
    };
    await expect.poll(notifyAgain).toContain('to-both-again');
    await server.end();
    await database[Symbol.asyncDispose]();
  },
);

test.runIf(!onPostgres)(
  'marks all other processes as missed when it opens an embedded database',
  async () => {
    await using engine = await acquireEngine();
    const persistentEngine = { address: engine.address, [Symbol.asyncDispose]: async () => {} };
    const firstDatabase = await openEngine(persistentEngine, log);
    await firstDatabase[Symbol.asyncDispose]();
    const secondDatabase = await openEngine(persistentEngine, log);
    const rows = await secondDatabase.prisma.serverProcess.findMany({
      where: { lockMissingSince: null },
    });
    expect(rows.map(({ id }) => id)).toEqual([secondDatabase.processes.id]);
    expect(firstDatabase.processes.id).not.toBe(secondDatabase.processes.id);
    await secondDatabase[Symbol.asyncDispose]();
  },
);

test.runIf(onPostgres)('leaves when it stops while its first connection is opened', async () => {
  await using database = await createTestDatabase(log);
  const [{ name }] = await database.prisma.$queryRaw<[{ name: string }]>`
    select current_database() as "name"`;
  const other = await openDatabase(createConfig(`${inject('postgres').serverUrl}/${name}`), log);
  await other[Symbol.asyncDispose]();
  const { lockMissingSince } = await database.prisma.serverProcess.findUniqueOrThrow({
    where: { id: other.processes.id },
  });
  expect(lockMissingSince).not.toBeNull();
});
