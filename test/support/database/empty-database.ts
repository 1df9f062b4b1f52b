/**
 * Empties the database of a test so that a later test can use it. The schema and its migrations stay.
 * Recreating a database takes many times as long. So does truncating all tables, because a test fills only a
 * few of them.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { Database } from '../../../src/database/open/database.ts';
import { queryRows } from './query.ts';

/** Emptying stops after this time, because a statement that a test left running may never end. */
const EMPTY_MAX_MS = 5_000;
/** Above this size, emptying takes longer than recreating the database. */
const EMPTIED_BYTES_MAX = 32 * 1024 ** 2;
const SCHEMAS = ['public'];
const KEPT_TABLES = ['_prisma_migrations'];

const FROM_TABLES = `from pg_class where relkind in ('r', 'p') and relnamespace = any($1::regnamespace[])`;

/**
 * Resets the statistics, so that the planner and autovacuum treat the tables as new. Otherwise the planner
 * would plan sequential scans for tables that it knows as empty, and keep those plans after the tables are
 * filled. Statistics about deleted values would also change plans.
 */
const RESET_STATISTICS = [
  `update pg_class set reltuples = -1, relpages = 0,
     reloptions = nullif(array(select o from unnest(reloptions) o where o not like 'autovacuum%'), '{}')
   where oid in (select oid ${FROM_TABLES} and (reltuples >= 0 or relpages > 0 or reloptions is not null))`,
  // Indexes on expressions have statistics too.
  `delete from pg_statistic
   where starelid in (select oid from pg_class where relnamespace = any($1::regnamespace[]))`,
  `select pg_stat_reset_single_table_counters(oid) ${FROM_TABLES}`,
];

/** Counts the changes of the schema since the database was copied from the snapshot or the template. */
const COUNT_SCHEMA_CHANGES = `
  select sum(
    pg_stat_get_tuples_inserted(oid) + pg_stat_get_tuples_updated(oid) + pg_stat_get_tuples_deleted(oid)
  )::int as "changes"
  from unnest(
    '{pg_attribute, pg_constraint, pg_enum, pg_index, pg_proc, pg_trigger}'::regclass[]
  ) oid`;

/** Returns false if emptying failed or timed out. The database must then be dropped. */
export function tryToEmpty(tryOnce: () => Promise<boolean>): Promise<boolean> {
  return Promise.race([tryOnce().catch(() => false), wait(EMPTY_MAX_MS, false, { ref: false })]);
}

export interface Connection {
  query(text: string, values?: unknown[]): Promise<{ rows: unknown[] }>;
}

/** Returns a connection that sends statements over those of an open database. */
export function toConnection(database: Pick<Database, 'run'>): Connection {
  return {
    query: async (text, values = []) => ({ rows: await queryRows(database, text, values) }),
  };
}

/**
 * Empties the database, and sets `session_replication_role` for the session. Returns false if there are too many rows, or
 * if the schema has changed.
 */
export async function emptyDatabase(client: Connection): Promise<boolean> {
  // Without this, the session reports its changes to the statistics only when it ends.
  await client.query('select pg_stat_force_next_flush()');
  const [{ changes }] = (await client.query(COUNT_SCHEMA_CHANGES)).rows as [{ changes: number }];
  if (changes > 0) return false;
  const { rows } = (await client.query(
    `select oid::regclass::text as "name", pg_relation_size(oid) as "bytes"
     ${FROM_TABLES} and relname <> all($2) and pg_relation_size(oid) > 0`,
    [SCHEMAS, KEPT_TABLES],
  )) as { rows: { name: string; bytes: string }[] };
  if (rows.reduce((sum, { bytes }) => sum + Number(bytes), 0) > EMPTIED_BYTES_MAX) return false;
  await client.query(
    `select setval(format('%I.%I', schemaname, sequencename), start_value, false)
     from pg_sequences where schemaname = any($1) and last_value is not null`,
    [SCHEMAS],
  );
  if (rows.length > 0) {
    const names = rows.map(({ name }) => name);
    const deletions = names.map((name, index) => `deleted_${index} as (delete from ${name})`);
    // Foreign keys need no checks, because all rows are deleted.
    await client.query('set session_replication_role = replica');
    await client.query(`with ${deletions.join(', ')} select 1`);
    // Without the option, it would also read all of `pg_class` to update the age of the database.
    await client.query(`vacuum (skip_database_stats) ${names.join(', ')}`);
  }
  await client.query('select pg_stat_force_next_flush()');
  for (const text of RESET_STATISTICS) await client.query(text, [SCHEMAS]);
  return true;
}
