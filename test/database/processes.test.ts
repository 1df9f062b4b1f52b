/**
 * Processes that share a PostgreSQL server detect one whose connection is lost, and never one that is only
 * slow.
 */
import pg from 'pg';
import { expect, inject, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { openDatabase, openEngine } from '../../src/database/database.ts';
import { Outages } from '../../src/database/outages.ts';
import { PostgresNotifications } from '../../src/database/postgres/postgres-notifications.ts';
import { joinProcesses } from '../../src/database/processes.ts';
import type { RunQuery } from '../../src/database/rows.ts';
import { createLog } from '../../src/log.ts';
import { createTestDatabase, onPostgres } from '../support/app.ts';
import { acquireEngine } from '../support/database/embedded/embedded-databases.ts';

const log = createLog('silent');

async function joinTwoProcesses() {
  const database = await createTestDatabase(log);
  const [{ name }] = await database.prisma.$queryRaw<[{ name: string }]>`
    select current_database() as "name"`;
  const url = `${inject('postgres').serverUrl}/${name}`;
  return { database, other: await openDatabase(createConfig(url), log), url };
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
    const { database, other, url } = await joinTwoProcesses();
    const { processes, prisma } = database;
    const findMissedTime = async () =>
      (await prisma.serverProcess.findUniqueOrThrow({ where: { id: other.processes.id } }))
        .missedTime;
    await database.ping();
    await other.ping();
    // No process is missed just after the start of the server.
    const isLongUp = `select now() > pg_postmaster_start_time() + interval '11 seconds' as "is"`;
    await expect.poll(() => database.rows.query(isLongUp, [])).toEqual([{ is: true }]);
    expect(await processes.check()).toEqual([]);

    const server = new pg.Client({ connectionString: url });
    await server.connect();
    await server.query(
      `select pg_terminate_backend(l.pid) from pg_locks l
       join "ServerProcess" p on l.objid::bigint = p."lockKey"
       where l.locktype = 'advisory' and l.objsubid = 2 and p."id" = $1`,
      [other.processes.id],
    );
    await server.end();
    // The process still has its other connections, and does not consider itself missed.
    expect(await other.processes.check()).toEqual([]);
    // The process reopens its connection for notifications automatically, and is no longer missed.
    await expect.poll(() => other.ping().catch((error: unknown) => error)).toBeUndefined();
    await processes.check();
    expect(await findMissedTime()).toBeNull();

    await other[Symbol.asyncDispose]();
    await processes.check();
    expect(await findMissedTime()).not.toBeNull();
    await database[Symbol.asyncDispose]();
  },
);

test.runIf(onPostgres)('reopens a connection that fails before its first use', async () => {
  const { database, other, url } = await joinTwoProcesses();
  let attempts = 0;
  const processes = {
    ...other.processes,
    announce: async () => {
      attempts += 1;
      // A standby responds with this error.
      if (attempts < 3) throw new Error('cannot execute LISTEN during recovery');
    },
    hasOthers: async () => false,
    leave: async () => {},
  };
  const server = { address: { connectionString: url }, limitMs: 1_000, outages: new Outages(log) };
  await using notifications = new PostgresNotifications(server, processes, async () => {});
  const received: unknown[] = [];
  await using _listening = notifications.listen('test_opened_anew', (payload) =>
    received.push(payload),
  );
  await expect.poll(() => received).toEqual([undefined]);
  expect(attempts).toBe(3);
  await notifications.ping();
  await other[Symbol.asyncDispose]();
  await database[Symbol.asyncDispose]();
});

test.runIf(onPostgres)(
  'misses no process without a connection of its own, nor just after it reconnects',
  async () => {
    const { database, url } = await joinTwoProcesses();
    const server = new pg.Client({ connectionString: url });
    await server.connect();
    const query: RunQuery = async (text, values) => (await server.query(text, values)).rows;
    const isLongUp = `select now() > pg_postmaster_start_time() + interval '11 seconds' as "is"`;
    await expect.poll(() => query(isLongUp, [])).toEqual([{ is: true }]);
    const joined = await joinProcesses(query);
    const closedProcess = await joinProcesses(query);
    // The process holds no lock, as after a failure that cut all connections.
    expect(await joined.check()).toEqual([]);
    await joined.announce((text, values) => server.query(text, values));
    expect(await joined.check()).toEqual([closedProcess.id]);
    await query('update "ServerProcess" set "missedTime" = null where "id" = $1', [
      closedProcess.id,
    ]);
    await joined.announce((text, values) => server.query(text, values));
    expect(await joined.check()).toEqual([]);
    await server.end();
    await database[Symbol.asyncDispose]();
  },
);

test.runIf(onPostgres)(
  'sends notifications through the database only while other processes run',
  async () => {
    const { database, other, url } = await joinTwoProcesses();
    const server = new pg.Client({ connectionString: url });
    await server.connect();
    const sentChannels: string[] = [];
    server.on('notification', ({ payload }) => sentChannels.push(payload ?? ''));
    await server.query('listen test_passed');
    const received: (string | undefined)[] = [];
    await using _listening = database.listen('test_passed', (payload) => received.push(payload));
    await expect.poll(() => received).toEqual([undefined]);

    await other.ping();
    const notifyBoth = () => {
      database.notify(['test_passed to-both']);
      return sentChannels;
    };
    await expect.poll(notifyBoth).toContain('to-both');
    await expect.poll(() => received).toContain('to-both');

    await other[Symbol.asyncDispose]();
    let count = 0;
    const notifyOnce = async () => {
      count += 1;
      const payload = `alone-${count}`;
      database.notify([`test_passed ${payload}`]);
      await expect.poll(() => received).toContain(payload);
      // Notifications of a server arrive in order, so the earlier one has arrived, too, if it went through the
      // server.
      await server.query(`select pg_notify('test_passed', 'after-${count}')`);
      await expect.poll(() => sentChannels).toContain(`after-${count}`);
      return sentChannels.includes(payload);
    };
    await expect.poll(notifyOnce).toBe(false);

    await using reopened = await openDatabase(createConfig(url), log);
    await reopened.ping();
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
    const first = await openEngine(persistentEngine, log);
    await first[Symbol.asyncDispose]();
    const second = await openEngine(persistentEngine, log);
    const rows = await second.prisma.serverProcess.findMany({ where: { missedTime: null } });
    expect(rows.map(({ id }) => id)).toEqual([second.processes.id]);
    expect(first.processes.id).not.toBe(second.processes.id);
    await second[Symbol.asyncDispose]();
  },
);
