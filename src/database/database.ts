/** The one database: embedded PGlite in the data folder, or any PostgreSQL. */
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { PGlite, types } from '@electric-sql/pglite';
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { lockDataFolder } from './data-folder-lock.ts';
import { PrismaClient } from './generated/client.ts';
import { type JobDatabase, jobsOnPglite, jobsOnPostgres } from './job-database.ts';
import { type Listen, listenOnPglite, PostgresHints } from './listen.ts';
import { migrate } from './migrate.ts';
import { readsInBursts } from './read-bursts.ts';
import { createRows, type Rows, type RunQuery, statementName } from './rows.ts';
import { timestampOf } from './timestamps.ts';

/** A caller never waits longer for a connection: with the database gone, requests fail soon and cleanly. */
const CONNECT_TIMEOUT_MS = 4_000;
/** A transaction that waits for a connection, and one that runs: both far above what any of ours takes. */
const TRANSACTION_WAIT_MS = 5_000;
const TRANSACTION_MS = 10_000;

export interface Database extends AsyncDisposable {
  kind: 'embedded' | 'postgres';
  /** Nothing was in it before this start. */
  isNew: boolean;
  /** Writes and ordinary reads. */
  prisma: PrismaClient;
  /** Hot reads: pages, nodes, relations. Never inside a transaction. */
  rows: Rows;
  /** Hears pg_notify of every process, after the commit. A hint only: it may be lost. */
  listen: Listen;
  /** What the job queue runs on. */
  jobs: JobDatabase;
  /** Throws where the database doesn't answer. */
  ping(): Promise<void>;
}

/** Opens the database and brings it to the newest migration. */
export async function openDatabase(config: Config, log: Log): Promise<Database> {
  return config.DATABASE_URL
    ? openPostgres(config.DATABASE_URL.reveal(), config, log)
    : openEmbedded(config.DATA_DIR, log);
}

async function openEmbedded(dataDir: string, log: Log): Promise<Database> {
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const lock = lockDataFolder(dataDir);
  try {
    const pglite = await PGlite.create({ dataDir: join(dataDir, 'database') });
    const database = await openPglite(pglite, log);
    return {
      ...database,
      async [Symbol.asyncDispose]() {
        await database[Symbol.asyncDispose]();
        lock[Symbol.dispose]();
      },
    };
  } catch (error) {
    lock[Symbol.dispose]();
    throw error;
  }
}

/** A database over an open PGlite, which it closes in the end. */
export async function openPglite(pglite: PGlite, log: Log): Promise<Database> {
  const run: RunQuery = async (text, values, rowMode) =>
    (await pglite.query(text, values, { parsers: PGLITE_PARSERS, ...(rowMode && { rowMode }) }))
      .rows as never;
  const isNew = await migrate(
    {
      query: run,
      script: async (sql) => {
        await pglite.exec(sql);
      },
    },
    log,
  );
  // PGlite learns array types when it opens: of the enums that a migration just made it knows none.
  await pglite.refreshArrayTypes();
  const prisma = new PrismaClient({
    adapter: new PrismaPGlite(pglite),
    transactionOptions: { maxWait: TRANSACTION_WAIT_MS, timeout: TRANSACTION_MS },
  });
  const listen = listenOnPglite(pglite, log);
  return {
    kind: 'embedded',
    isNew,
    prisma,
    rows: createRows(run),
    listen,
    jobs: jobsOnPglite(pglite, listen),
    ping: async () => {
      await pglite.query('select 1');
    },
    async [Symbol.asyncDispose]() {
      await prisma.$disconnect();
      await pglite.close();
    },
  };
}

async function openPostgres(url: string, config: Config, log: Log): Promise<Database> {
  const pool = new pg.Pool({
    connectionString: url,
    max: config.DATABASE_POOL_SIZE,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    statement_timeout: config.LIMIT_QUERY_MS,
    application_name: 'integration-gateway',
    types: TYPES,
    pipeline: true,
  });
  // Without a listener, a connection that the server closes ends the process.
  const onLost = (error: Error) => log.warn({ error: error.message }, 'database connection lost');
  pool.on('error', onLost);
  pool.on('connect', (client) => client.on('error', onLost));

  const isNew = await migratePostgres(url, log);
  const prisma = new PrismaClient({
    adapter: new PrismaPg(pool, { statementNameGenerator: ({ sql }) => statementName(sql) }),
    transactionOptions: { maxWait: TRANSACTION_WAIT_MS, timeout: TRANSACTION_MS },
  });
  const bursts = readsInBursts(pool);
  const hints = new PostgresHints(url, log);
  const jobs = jobsOnPostgres(url, hints.listen, log);
  return {
    kind: 'postgres',
    isNew,
    prisma,
    rows: createRows(
      async (text, values, rowMode) => {
        const config = { name: statementName(text), text, values, ...(rowMode && { rowMode }) };
        const { rows } = await pool.query(config);
        return rows as never;
      },
      { short: bursts.each, shared: bursts.shared },
    ),
    listen: hints.listen,
    jobs,
    ping: async () => {
      await pool.query('select 1');
    },
    async [Symbol.asyncDispose]() {
      await hints[Symbol.asyncDispose]();
      await jobs[Symbol.asyncDispose]();
      await prisma.$disconnect();
      await pool.end();
    },
  };
}

/** Migrations run on a connection of their own: they may take longer than a statement of a request. */
async function migratePostgres(url: string, log: Log): Promise<boolean> {
  const client = new pg.Client({
    connectionString: url,
    connectionTimeoutMillis: CONNECT_TIMEOUT_MS,
    application_name: 'integration-gateway migrations',
  });
  await client.connect();
  try {
    return await migrate(
      {
        query: async (text, values) => (await client.query(text, values)).rows,
        script: async (sql) => {
          await client.query(sql);
        },
      },
      log,
    );
  } finally {
    await client.end();
  }
}

/** Positions of the event log are int8: exact as bigint, as Prisma gives them too. */
const PGLITE_PARSERS = {
  [types.INT8]: BigInt,
  [types.TIMESTAMPTZ]: (text: string) => timestampOf(text) ?? new Date(text),
};

const readTimestamp = pg.types.getTypeParser(pg.types.builtins.TIMESTAMPTZ) as (
  text: string,
) => Date;

const TYPES: pg.CustomTypesConfig = {
  getTypeParser: (oid, format) => {
    if (format === 'binary') return pg.types.getTypeParser(oid, format);
    if (oid === pg.types.builtins.INT8) return BigInt;
    if (oid === pg.types.builtins.TIMESTAMPTZ) {
      return (text: string) => timestampOf(text) ?? readTimestamp(text);
    }
    return pg.types.getTypeParser(oid, format);
  },
};
