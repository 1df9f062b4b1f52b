/**
 * Applies migrations/ at start. Keeps Prisma's own table and checksums, so that `prisma migrate deploy`
 * and `prisma migrate status` see the same history; unlike the CLI it also reaches the embedded database.
 */
import { createHash, randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../log.ts';
import type { RunQuery } from './rows.ts';

const FOLDER = join(import.meta.dirname, '..', '..', 'migrations');
/** The lock that Prisma's CLI takes too. */
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

/** One session of a database. */
export interface Session {
  query: RunQuery;
  /** Runs several statements. */
  script(sql: string): Promise<void>;
}

interface Applied {
  migration_name: string;
  checksum: string;
  finished_at: Date | null;
}

/** Returns whether the database was new. Throws where its history contradicts migrations/. */
export async function migrate(session: Session, log: Log): Promise<boolean> {
  await session.query(`select pg_advisory_lock(${ADVISORY_LOCK})`, []);
  try {
    await session.query(HISTORY_TABLE, []);
    const history = await session.query<Applied>(
      `select migration_name, checksum, finished_at from "_prisma_migrations"
       where rolled_back_at is null order by started_at`,
      [],
    );
    const applied = new Map(history.map((row) => [row.migration_name, row]));
    for (const migration of listMigrations()) {
      const row = applied.get(migration.name);
      if (row) refuseContradiction(row, migration);
      else await apply(session, migration, log);
    }
    return history.length === 0;
  } finally {
    await session.query(`select pg_advisory_unlock(${ADVISORY_LOCK})`, []);
  }
}

interface Migration {
  name: string;
  sql: string;
  checksum: string;
}

function listMigrations(): Migration[] {
  return readdirSync(FOLDER, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort()
    .map((name) => {
      const sql = readFileSync(join(FOLDER, name, 'migration.sql'), 'utf8');
      return { name, sql, checksum: createHash('sha256').update(sql).digest('hex') };
    });
}

function refuseContradiction(row: Applied, migration: Migration): void {
  if (!row.finished_at) {
    throw new Error(
      `Migration ${migration.name} was begun and not finished: repair the database first.`,
    );
  }
  if (row.checksum !== migration.checksum) {
    throw new Error(
      `Migration ${migration.name} was changed after it was applied to this database.`,
    );
  }
}

/** The migration and its row of the history commit together. */
async function apply(session: Session, migration: Migration, log: Log): Promise<void> {
  await session.script('begin');
  try {
    await session.script(migration.sql);
    await session.query(
      `insert into "_prisma_migrations" (id, checksum, migration_name, finished_at, applied_steps_count)
       values ($1, $2, $3, now(), 1)`,
      [randomUUID(), migration.checksum, migration.name],
    );
    await session.script('commit');
  } catch (error) {
    await session.script('rollback');
    throw error;
  }
  log.info({ migration: migration.name }, 'migration.applied');
}
