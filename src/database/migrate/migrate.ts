/**
 * Applies migrations/ at start. Keeps Prisma's own table and checksums, so that `prisma migrate deploy` and `prisma
 * migrate status` see the same history. Unlike the CLI, it also works on the embedded database.
 */
import { hash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../../kernel/log.ts';
import { type ClusterSchema, findClusterSchema } from '../cluster/cluster.ts';
import {
  type OpenDatabaseSession,
  openDatabaseSession,
  type Server,
} from '../connect/sessions/database-session.ts';
import { countsAsFirstMigration } from './development-history.ts';

const FOLDER = join(import.meta.dirname, '..', '..', '..', 'migrations');
/** The lock that Prisma's CLI also takes. */
const ADVISORY_LOCK = 72_707_369;

const HISTORY_TABLE = `
  create table if not exists "_prisma_migrations" (
    "id" varchar(36) primary key not null,
    "checksum" varchar(64) not null,
    "finished_at" timestamptz,
    "migration_name" varchar(255) not null,
    "logs" text,
    "rolled_back_at" timestamptz,
    "started_at" timestamptz not null default now(),
    "applied_steps_count" integer not null default 0
  )`;

interface AppliedMigration {
  migration_name: string;
  checksum: string;
  finished_at: Date | null;
}

/** A migration may build an index over all rows. */
const MIGRATION_MS_MAX = 30 * 60_000;
/** The time to wait for another process that migrates, or that hung during a migration. */
const LOCK_MS_MAX = 5 * 60_000;

interface MigrateOptions {
  /** Applies only migrations of these names. */
  only?: string[];
  /** Default: the migrations of this version of the gateway. */
  migrations?: readonly Migration[];
}

interface MigrationResult {
  /** True if the database was empty before. */
  isNew: boolean;
  /** True if the tables are distributed over several servers. */
  isDistributed: boolean;
}

/** Applies the pending migrations. Throws if the database's history contradicts migrations/. */
export async function migrate(
  server: Server,
  log: Log,
  { only, migrations = listMigrations() }: MigrateOptions = {},
): Promise<MigrationResult> {
  const selectedMigrations = migrations.filter(({ name }) => !only || only.includes(name));
  const name = 'integration-gateway migrations';
  // Uses its own connection, because it may take longer than a statement of a request.
  const session = await openDatabaseSession({ ...server, name, limitMs: MIGRATION_MS_MAX });
  try {
    await session.query(`set lock_timeout = ${LOCK_MS_MAX}`);
    await session.query('select pg_advisory_lock($1)', [ADVISORY_LOCK]);
    const cluster = await findClusterSchema(session);
    const isNew = await applyAll({ session, cluster, log }, selectedMigrations);
    // Distributing requires all tables, which a part of the migrations does not create.
    const isDistributed = cluster !== null && !only && (await cluster.distributeIfEmpty(log));
    return { isNew, isDistributed };
  } finally {
    // Ending the session releases its locks.
    await session.end();
  }
}

interface MigrationContext {
  session: OpenDatabaseSession;
  cluster: ClusterSchema | null;
  log: Log;
}

/** Returns true if the database was empty before. */
async function applyAll(context: MigrationContext, migrations: Migration[]): Promise<boolean> {
  const { session, log } = context;
  await session.query(HISTORY_TABLE);
  const history = await readHistory(session, migrations[0]);
  const historyByName = new Map(history.map((row) => [row.migration_name, row]));
  const isNew = history.length === 0;
  for (const migration of migrations) {
    const row = historyByName.get(migration.name);
    if (row) requireConsistentHistory(row, migration);
    else await applyMigration({ ...context, isNew }, migration);
  }
  if (isNew)
    log.info({ count: migrations.length, last: migrations.at(-1)?.name }, 'schema.created');
  return isNew;
}

const SELECT_HISTORY = `
  select migration_name, checksum, finished_at from "_prisma_migrations" where rolled_back_at is null order by migration_name`;

const RECORD_MIGRATION = `
  insert into "_prisma_migrations" (id, checksum, migration_name, finished_at, applied_steps_count)
  values ($1, $2, $3, now(), 1)`;

/** Returns the history. Replaces one that counts as the first migration. Throws StartRefused if it is older. */
async function readHistory(
  session: OpenDatabaseSession,
  firstMigration: Migration | undefined,
): Promise<AppliedMigration[]> {
  const { rows: history } = await session.query<AppliedMigration>(SELECT_HISTORY);
  const finished = history.filter(({ finished_at }) => finished_at !== null);
  const names = finished.map(({ migration_name }) => migration_name);
  if (!firstMigration || !countsAsFirstMigration(names, firstMigration.name)) return history;
  const { name, checksum } = firstMigration;
  await session.query(`with replaced as (delete from "_prisma_migrations") ${RECORD_MIGRATION}`, [
    randomUUID(),
    checksum,
    name,
  ]);
  return (await session.query<AppliedMigration>(SELECT_HISTORY)).rows;
}

interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

/** Returns the migrations of this version of the gateway, in order. */
export function listMigrations(): Migration[] {
  return readdirSync(FOLDER, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
    .map((name) => {
      const sql = readFileSync(join(FOLDER, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: hash('sha256', sql, 'hex') };
    });
}

function requireConsistentHistory(row: AppliedMigration, migration: Migration): void {
  if (!row.finished_at) {
    throw new Error(
      `Migration ${migration.name} was started and not finished: repair the database with \`prisma migrate resolve\` first.`,
    );
  }
  if (row.checksum !== migration.checksum) {
    throw new Error(
      `Migration ${migration.name} was changed after it was applied to this database.`,
    );
  }
}

/** Applies a migration. It commits together with its row of the history. */
async function applyMigration(
  { session, cluster, log, isNew }: MigrationContext & { isNew: boolean },
  migration: Migration,
): Promise<void> {
  const notice = isNew ? null : await findNotice(session, migration.sql);
  if (notice) log.info({ migration: migration.name, ...notice }, 'migration.begun');
  await session.query('begin');
  try {
    await (cluster ? cluster.run(migration.sql) : session.query(migration.sql));
    await session.query(RECORD_MIGRATION, [randomUUID(), migration.checksum, migration.name]);
    await session.query('commit');
  } catch (error) {
    await session.query('rollback');
    throw error;
  }
  // A new database gets one line for all of its migrations.
  log[isNew ? 'debug' : 'info']({ migration: migration.name }, 'migration.applied');
}

/** Logged before a migration of a filled database: how many rows it reads, and how long that may take. */
interface MigrationNotice {
  /** The database's estimate of the rows in the tables that are read completely. */
  rows: number;
  bytes: number;
  /** While a table is indexed, its rows cannot change. */
  mayTakeSeconds: number;
}

/** Conservative throughput of a slow disk that reads, sorts and writes. */
const BYTES_PER_SECOND = 20_000_000;

const FULL_READS = [
  /create (?:unique )?index "\w+" on "(\w+)"/gi,
  /alter table "(\w+)" validate constraint/gi,
  /alter table "(\w+)"[^;]* primary key \(/gi,
  /update "(\w+)"/gi,
];

const SIZES = `
  select greatest(reltuples, 0)::float8 as "rows", (count(*) * pg_table_size(pg_class.oid))::float8 as "bytes"
  from unnest($1::text[]) as input("table")
  join pg_class on pg_class.oid = to_regclass(quote_ident(input."table"))
  group by pg_class.oid, reltuples`;

/** Returns the notice for a migration. Null if it reads no table completely, or only empty ones. */
export async function findNotice(
  session: Pick<OpenDatabaseSession, 'query'>,
  sql: string,
): Promise<MigrationNotice | null> {
  // A table is read once for each of its indexes.
  const tables = FULL_READS.flatMap((pattern) =>
    [...sql.matchAll(pattern)].map(([, name]) => name),
  );
  const { rows: sizes } = await session.query<{ rows: number; bytes: number }>(SIZES, [tables]);
  const rows = sizes.reduce((sum, table) => sum + table.rows, 0);
  const bytes = sizes.reduce((sum, table) => sum + table.bytes, 0);
  return bytes === 0 ? null : { rows, bytes, mayTakeSeconds: Math.ceil(bytes / BYTES_PER_SECOND) };
}
