/** A database for a test has no traces of earlier tests. */
import { expect, test } from 'vitest';
import type { Database } from '../../src/database/database.ts';
import { createTestApp, createTestDatabase, onCitus, onPostgres } from '../support/app.ts';

const IN_SCHEMAS = `schemaname in ('public', 'pgboss')`;
/** Each process inserts a row into this table, which PostgreSQL counts about a second later. */
const PROCESS_TABLE = 'ServerProcess';
const STATISTICS_QUERIES = {
  values: `select distinct tablename from pg_stats where ${IN_SCHEMAS} order by 1`,
  changes: `select relname, n_live_tup, n_dead_tup, n_mod_since_analyze, last_vacuum, last_analyze
    from pg_stat_user_tables where ${IN_SCHEMAS} and relname <> '${PROCESS_TABLE}' order by 1`,
  sizes: `select relname, reltuples, relpages, reloptions from pg_class
    where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace and relname <> '_prisma_migrations' order by 1`,
};

async function readStatistics({ rows }: Database) {
  const statistics: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(STATISTICS_QUERIES))
    statistics[name] = await rows.query(text, []);
  return statistics;
}

test.skipIf(onCitus)('resets statistics and rows before it lends a database again', async () => {
  const database = await createTestDatabase();
  const orgs = `select n::text, n::text from generate_series(1, 500) n`;
  const initialStatistics = await readStatistics(database);
  await database.rows.query(`insert into "Org" ("id", "label") ${orgs}`, []);
  for (const table of ['Org', 'Project', 'Delivery']) {
    await database.rows.query(`alter table "${table}" set (autovacuum_enabled = off)`, []);
  }
  await database.rows.query('vacuum analyze', []);
  expect(await readStatistics(database)).not.toEqual(initialStatistics);
  await database[Symbol.asyncDispose]();

  await using nextDatabase = await createTestDatabase();
  expect(await readStatistics(nextDatabase)).toEqual(initialStatistics);
  expect(await nextDatabase.rows.query('select "id" from "Org"', [])).toEqual([]);
});

test.skipIf(onPostgres)('lends an open database without rows to the next app only', async () => {
  const app = await createTestApp();
  const { rows } = app.app.services.database;
  await app.createTenant();
  await app[Symbol.asyncDispose]();

  await using nextApp = await createTestApp();
  const { prisma, processes } = nextApp.app.services.database;
  expect(await prisma.org.count()).toBe(0);
  expect(await prisma.serverProcess.findMany()).toMatchObject([{ id: processes.id }]);
  await expect(async () => rows.query('select 1', [])).rejects.toThrow(TypeError);
});
