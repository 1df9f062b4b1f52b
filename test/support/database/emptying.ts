/**
 * A test's database after it, for a later one: as a migration leaves it. What belongs to the schema stays. To make one
 * anew takes many times as long, and so does it to truncate all tables, of which a test fills a few.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type pg from 'pg';

/** A statement that a test leaves under way may take for ever. */
const EMPTY_MAX_MS = 5_000;
/** What takes longer to empty than to make anew. */
const LARGE_BYTES = 32 * 1024 ** 2;
const SCHEMAS = ['public', 'pgboss'];
const OF_MIGRATIONS = ['_prisma_migrations', 'version', 'queue'];

/** False if it is not empty, and better left. */
export function isEmptied(empty: () => Promise<boolean>): Promise<boolean> {
  return Promise.race([empty().catch(() => false), wait(EMPTY_MAX_MS, false, { ref: false })]);
}

/** By a session that ends with it. False if there is too much in it. */
export async function emptyDatabase(client: pg.Client): Promise<boolean> {
  const { rows } = await client.query<{ name: string; bytes: string }>(
    `select oid::regclass::text as "name", pg_relation_size(oid) as "bytes"
     ${TABLES} and relname <> all($2) and pg_relation_size(oid) > 0`,
    [SCHEMAS, OF_MIGRATIONS],
  );
  if (rows.reduce((sum, { bytes }) => sum + Number(bytes), 0) > LARGE_BYTES) return false;
  await client.query(
    `select setval(format('%I.%I', schemaname, sequencename), start_value, false)
     from pg_sequences where schemaname = any($1) and last_value is not null`,
    [SCHEMAS],
  );
  if (rows.length > 0) {
    const names = rows.map(({ name }) => name);
    const deleted = names.map((name) => `delete from ${name};`).join(' ');
    // Nothing is left to which a row could point, in the end.
    await client.query(`set session_replication_role = replica; ${deleted}`);
    await client.query(`vacuum ${names.join(', ')}`);
  }
  // What this session has deleted is counted now, and not after its end.
  await client.query('select pg_stat_force_next_flush()');
  for (const text of FORGET) await client.query(text, [SCHEMAS]);
  return true;
}

const TABLES = `from pg_class where relkind in ('r', 'p') and relnamespace::regnamespace::text = any($1)`;

/**
 * To the planner and to autovacuum the tables are new. A table that is known to be empty is read whole, and so is one
 * that fills up afterwards, by plans that are kept; and what is known of values that are gone leads to others again.
 */
const FORGET = [
  `update pg_class set reltuples = -1, relpages = 0,
     reloptions = nullif(array(select o from unnest(reloptions) o where o not like 'autovacuum%'), '{}')
   where oid in (select oid ${TABLES} and (reltuples >= 0 or relpages > 0 or reloptions is not null))`,
  `delete from pg_statistic where starelid in (select oid ${TABLES})`,
  `select pg_stat_reset_single_table_counters(oid) ${TABLES}`,
];
