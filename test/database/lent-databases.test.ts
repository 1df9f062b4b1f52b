/** A database for a test has no traces of earlier tests. These tests lend databases of their own. */
import { aroundEach, expect, test } from 'vitest';
import type { Database } from '../../src/database/open/database.ts';
import { createTestApp, createTestDatabase, onCitus, onPostgres } from '../support/app.ts';
import { withOwnDatabases } from '../support/database/embedded/embedded-databases.ts';
import { emptyDatabase, toConnection } from '../support/database/empty-database.ts';
import { withOwnPostgres } from '../support/database/postgres-databases.ts';
import { queryRows, toQuery } from '../support/database/query.ts';

aroundEach((runTest) => (onPostgres ? withOwnPostgres : withOwnDatabases)(runTest));

const IN_SCHEMAS = `schemaname = 'public'`;
/** Each process inserts a row into this table, which PostgreSQL counts about a second later. */
const PROCESS_TABLE = 'ServerProcess';
const STATISTICS_QUERIES = {
  values: `select distinct tablename from pg_stats
    where ${IN_SCHEMAS} and tablename <> '_prisma_migrations' order by 1`,
  changes: `select relname, n_live_tup, n_dead_tup, n_mod_since_analyze, last_vacuum, last_analyze
    from pg_stat_user_tables where ${IN_SCHEMAS} and relname <> '${PROCESS_TABLE}' order by 1`,
  sizes: `select relname, reltuples, relpages, reloptions from pg_class
    where relkind in ('r', 'p') and relnamespace = 'public'::regnamespace and relname <> '_prisma_migrations' order by 1`,
};

async function readStatistics(database: Database) {
  const statistics: Record<string, unknown> = {};
  for (const [name, text] of Object.entries(STATISTICS_QUERIES))
    statistics[name] = await queryRows(database, text, []);
  return statistics;
}

test.skipIf(onCitus)('resets statistics and rows before it lends a database again', async () => {
  const database = await createTestDatabase();
  const orgs = `select n::text, n::text from generate_series(1, 500) n`;
  const initialStatistics = await readStatistics(database);
  await queryRows(database, `insert into "Org" ("id", "label") ${orgs}`, []);
  for (const table of ['Org', 'Project', 'Delivery']) {
    await queryRows(database, `alter table "${table}" set (autovacuum_enabled = off)`, []);
  }
  await queryRows(database, 'vacuum analyze', []);
  expect(await readStatistics(database)).not.toEqual(initialStatistics);
  await database[Symbol.asyncDispose]();

  await using nextDatabase = await createTestDatabase();
  expect(await readStatistics(nextDatabase)).toEqual(initialStatistics);
  expect(await queryRows(nextDatabase, 'select "id" from "Org"', [])).toEqual([]);
});

const SCHEMA_CHANGES = [
  'create table "Left" ("id" text)',
  'alter table "Org" add column "left" text',
  'alter table "Org" alter column "label" set (n_distinct = 1)',
  'create index "left" on "Org" ("label")',
  `alter table "Org" add constraint "left" check ("label" <> '')`,
  'create function "left"() returns int language sql as $$ select 1 $$',
  `create trigger "left" before update on "Org" for each row
     execute function suppress_redundant_updates_trigger()`,
  `create type "left" as enum ('first')`,
  `alter type "left" add value 'second'`,
  'drop type "left"',
  'drop trigger "left" on "Org"',
  'drop function "left"()',
  'alter table "Org" drop constraint "left"',
  'drop index "left"',
  'drop table "Left"',
];

test.skipIf(onCitus)('does not lend a database again if its schema has changed', async () => {
  const database = await createTestDatabase();
  const { query } = toConnection(database);
  expect(await emptyDatabase({ query })).toBe(true);
  for (const text of SCHEMA_CHANGES) {
    await query(text);
    expect([text, await emptyDatabase({ query })]).toEqual([text, false]);
    await query('select pg_stat_reset()');
  }
  await query('create table "Last" ("id" text)');
  await database[Symbol.asyncDispose]();

  await using nextDatabase = await createTestDatabase();
  const leftTables = `select relname from pg_class where relname in ('Left', 'left')`;
  expect(await queryRows(nextDatabase, leftTables, [])).toEqual([]);
});

test.skipIf(onPostgres)('lends an open database without rows to the next app only', async () => {
  const app = await createTestApp();
  const query = toQuery(app.app.services.database);
  await app.createTenant();
  await app[Symbol.asyncDispose]();

  await using nextApp = await createTestApp();
  const { prisma, processes } = nextApp.app.services.database;
  expect(await prisma.org.count()).toBe(0);
  expect(await prisma.serverProcess.findMany()).toMatchObject([{ id: processes.id }]);
  await expect(async () => query('select 1', [])).rejects.toThrow(TypeError);
});
