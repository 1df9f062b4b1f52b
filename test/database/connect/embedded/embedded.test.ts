import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { AvailabilityCheck } from '../../../../src/database/connect/availability-check.ts';
import { runUpkeepStep } from '../../../../src/database/connect/embedded/upkeep.ts';
import type { Database } from '../../../../src/database/open/database.ts';
import { openDatabase } from '../../../../src/database/open/open-database.ts';
import { createLog } from '../../../../src/kernel/log.ts';
import { readConfig } from '../../../../src/settings/config.ts';
import { createTestDatabase, onPostgres } from '../../../support/app.ts';
import { fillDataFolder } from '../../../support/database/data-folder.ts';
import { queryRows, toQuery } from '../../../support/database/query.ts';

const MIB = 1024 * 1024;

async function openTestDatabase(): Promise<Database> {
  const database = await createTestDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  return database;
}

/** Inserts rows into the table of processes, and updates each, so that as many dead rows remain. */
async function changeRows(database: Database, count: number): Promise<void> {
  await queryRows(
    database,
    `insert into "ServerProcess" ("id") select 'p' || n from generate_series(1, $1::int) n`,
    [count],
  );
  await queryRows(database, `update "ServerProcess" set "lockMissingSince" = now()`, []);
}

async function countDeadRows(database: Database): Promise<bigint | undefined> {
  const [row] = await queryRows<{ dead: bigint }>(
    database,
    `select n_dead_tup as "dead" from pg_stat_user_tables where relname = 'ServerProcess'`,
    [],
  );
  return row?.dead;
}

/**
 * Vacuums tables until no table needs it. Returns their names. Only catalog tables may need it repeatedly, because each
 * vacuum changes them.
 */
async function vacuumAll(database: Database): Promise<string[]> {
  const tables: string[] = [];
  for (;;) {
    const { vacuum } = await runUpkeepStep(toQuery(database));
    if (vacuum === null) return tables;
    const vacuumCount = tables.filter((name) => name === vacuum).length;
    expect(vacuumCount, vacuum).toBeLessThan(vacuum.startsWith('pg_') ? 5 : 1);
    tables.push(vacuum);
  }
}

/** Returns the size of the write-ahead log that a start after a crash would replay. */
async function readWalBytes(database: Database): Promise<number> {
  const [row] = await queryRows<{ bytes: number }>(
    database,
    `select pg_wal_lsn_diff(pg_current_wal_lsn(), redo_lsn)::float8 as "bytes"
     from pg_control_checkpoint()`,
    [],
  );
  return row?.bytes ?? Number.NaN;
}

test.skipIf(onPostgres)('vacuums each table that has changed', async () => {
  const database = await openTestDatabase();
  await changeRows(database, 2_000);
  // PostgreSQL updates its counts about a second later.
  await expect.poll(() => countDeadRows(database)).toBeGreaterThan(1_000);
  expect(await vacuumAll(database)).toContain('public."ServerProcess"');
  expect(await countDeadRows(database)).toBe(0n);
});

test.skipIf(onPostgres)(
  'vacuums other tables even if each analyze changes the catalog',
  async () => {
    const database = await openTestDatabase();
    await changeRows(database, 2_000);
    for (let count = 0; count < 6; count += 1) await queryRows(database, 'analyze', []);
    const readChangeCount = async () => {
      const [row] = await queryRows<{ changed: number }>(
        database,
        `select n_mod_since_analyze::float8 as "changed" from pg_stat_all_tables where relname = 'pg_statistic'`,
        [],
      );
      return row?.changed;
    };
    await expect.poll(readChangeCount).toBeGreaterThan(1_000);
    expect(await vacuumAll(database)).toContain('public."ServerProcess"');
  },
);

test.skipIf(onPostgres)('writes a checkpoint when the write-ahead log has grown', async () => {
  const database = await openTestDatabase();
  await queryRows(database, 'checkpoint', []);
  expect(await runUpkeepStep(toQuery(database))).toMatchObject({ checkpoint: false });
  while ((await readWalBytes(database)) < 64 * MIB) {
    await queryRows(
      database,
      `select pg_logical_emit_message(false, 'test', repeat('x', 4000000))`,
      [],
    );
  }
  expect(await runUpkeepStep(toQuery(database))).toMatchObject({ checkpoint: true });
  expect(await readWalBytes(database)).toBeLessThan(MIB);
});

test('vacuums changed tables automatically', { tags: ['all/rows'], timeout: 120_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-upkeep-'));
  fillDataFolder(folder);
  const config = readConfig({ DATA_DIR: folder });
  const database = await openDatabase(config, createLog('silent'));
  onTestFinished(async () => {
    await database[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });
  await changeRows(database, 2_000);
  const readVacuumCount = async () => {
    const [row] = await queryRows<{ count: bigint }>(
      database,
      `select vacuum_count as "count" from pg_stat_user_tables where relname = 'ServerProcess'`,
      [],
    );
    return row?.count;
  };
  await expect.poll(readVacuumCount, { timeout: 60_000 }).toBeGreaterThan(0n);
});

test.skipIf(onPostgres)('responds to a ping during a long transaction', async () => {
  const database = await openTestDatabase();
  await database.prisma.$transaction(async (tx) => {
    await tx.$queryRaw`select 1`;
    await database.ping();
  });
  await database[Symbol.asyncDispose]();
  await expect(database.ping()).rejects.toThrow('closed');
});

test('reports why the database is not available until it responds again', async () => {
  let ping = Promise.withResolvers<void>();
  using availability = new AvailabilityCheck(() => ping.promise, { pollMs: 1, silenceMaxMs: 20 });
  const readFailure = () => {
    try {
      availability.check();
      return null;
    } catch (error) {
      return String(error);
    }
  };
  expect(readFailure()).toBeNull();
  await expect.poll(readFailure, { interval: 5 }).toContain('has not responded for');
  const silentPing = ping;
  ping = Promise.withResolvers();
  ping.promise.catch(() => {});
  ping.reject(new Error('No room'));
  silentPing.resolve();
  await expect.poll(readFailure, { interval: 5 }).toContain('No room');
  ping = Promise.withResolvers();
  ping.resolve();
  await expect.poll(readFailure, { interval: 5 }).toBeNull();
});
