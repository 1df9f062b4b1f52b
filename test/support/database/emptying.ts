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
    `select oid::regclass::text as "name", pg_relation_size(oid) as "bytes" from pg_class
     where relkind = 'r' and relnamespace::regnamespace::text = any($1) and relname <> all($2)
       and pg_relation_size(oid) > 0`,
    [SCHEMAS, OF_MIGRATIONS],
  );
  if (rows.reduce((sum, { bytes }) => sum + Number(bytes), 0) > LARGE_BYTES) return false;
  await client.query(
    `select setval(format('%I.%I', schemaname, sequencename), start_value, false)
     from pg_sequences where schemaname = any($1) and last_value is not null`,
    [SCHEMAS],
  );
  if (rows.length === 0) return true;
  const names = rows.map(({ name }) => name);
  const deleted = names.map((name) => `delete from ${name};`).join(' ');
  // Nothing is left to which a row could point, in the end.
  await client.query(`set session_replication_role = replica; ${deleted}`);
  await client.query(`vacuum ${names.join(', ')}`);
  // A table that is known to be empty is read whole, and so is one that fills up afterwards, by plans that are kept.
  await client.query(
    'update pg_class set reltuples = -1, relpages = 0 where oid = any($1::regclass[])',
    [names],
  );
  return true;
}
