/** Any PostgreSQL: a pool for requests, one for jobs, and a connection for hints. */
import { PrismaPg } from '@prisma/adapter-pg';
import pg from 'pg';
import type { Config } from '../config.ts';
import type { Log } from '../log.ts';
import { RemoteClock } from '../work/clock.ts';
import { endWithin } from '../work/deadline.ts';
import type { Database } from './database.ts';
import { PrismaClient } from './generated/client.ts';
import { jobsOnPostgres } from './job-database.ts';
import { migrate } from './migrate.ts';
import { Outages } from './outages.ts';
import { PostgresHints } from './postgres-hints.ts';
import { joinProcesses } from './processes.ts';
import { readsInBursts } from './read-bursts.ts';
import { createRows, type RunQuery, statementName } from './rows.ts';
import { openSession, type Server } from './session.ts';
import { SessionPool } from './session-pool.ts';
import { timestampOf } from './timestamps.ts';
import { TRANSACTION_OPTIONS } from './transaction.ts';

/** Far above what any of ours takes; so short that what follows a connection that hangs goes on within 10 s. */
const STATEMENT_MAX_MS = 5_000;
/** A migration may build an index over all rows. */
const MIGRATION_MAX_MS = 30 * 60_000;
/** For another process that migrates, or that has hung while it did. */
const MIGRATION_LOCK_MS = 5 * 60_000;

/** Disposing of it takes no longer than a few seconds, whatever hangs. */
export async function openPostgres(url: string, config: Config, log: Log): Promise<Database> {
  const outages = new Outages(log);
  const limitMs = Math.min(config.LIMIT_QUERY_MS, STATEMENT_MAX_MS);
  const server = { url, outages, limitMs };
  const isNew = await migratePostgres(server, log);
  const name = 'integration-gateway';
  const size = config.DATABASE_POOL_SIZE;
  const sessions = new SessionPool({ ...server, name, size, types: TYPES, pipeline: true });
  const pool: pg.Pool = sessions;
  const prisma = new PrismaClient({
    adapter: new PrismaPg(pool, { statementNameGenerator: ({ sql }) => statementName(sql) }),
    transactionOptions: TRANSACTION_OPTIONS,
  });
  const bursts = readsInBursts(pool);
  const run: RunQuery = async (text, values, rowMode) => {
    const config = { name: statementName(text), text, values, ...(rowMode && { rowMode }) };
    const { rows } = await pool.query(config);
    return rows as never;
  };
  const processes = await joinProcesses(run);
  const clock = await followClock(run);
  const hints = new PostgresHints(server, processes.attend);
  const jobs = jobsOnPostgres(server, hints.listen);
  return {
    kind: 'postgres',
    isNew,
    prisma,
    processes,
    now: clock.now,
    rows: createRows(run, { short: bursts.each, shared: bursts.shared }),
    listen: hints.listen,
    jobs,
    outages,
    ping: hints.ping,
    async [Symbol.asyncDispose]() {
      outages[Symbol.dispose]();
      clock[Symbol.dispose]();
      await Promise.all([hints[Symbol.asyncDispose](), jobs[Symbol.asyncDispose]()]);
      // Its leases end by themselves where this is not heard.
      await endWithin(processes.leave(), LEAVE_MS);
      await prisma.$disconnect();
      await sessions.close();
    },
  };
}

/** A server that hangs must not hold up the end of this process. */
const LEAVE_MS = 1_000;

/** A clock that runs wrong by a second in a day is off by a tenth of a millisecond then. */
const CLOCK_MS = 10_000;
const READ_CLOCK = `select (extract(epoch from clock_timestamp()) * 1000)::float8 as "ms"`;

/** The database's clock, read again and again. A reading that fails is made up for by the next one. */
async function followClock(query: RunQuery): Promise<Pick<RemoteClock, 'now'> & Disposable> {
  const clock = new RemoteClock(async () => {
    const [row] = await query<{ ms: number }>(READ_CLOCK, []);
    return row?.ms ?? Number.NaN;
  });
  await clock.set();
  const timer = setInterval(() => void clock.set().catch(() => {}), CLOCK_MS).unref();
  return { now: clock.now, [Symbol.dispose]: () => clearInterval(timer) };
}

/** Migrations run on a connection of their own: they may take longer than a statement of a request. */
async function migratePostgres(server: Server, log: Log): Promise<boolean> {
  const name = 'integration-gateway migrations';
  const session = await openSession({ ...server, name, limitMs: MIGRATION_MAX_MS });
  try {
    await session.query(`set lock_timeout = ${MIGRATION_LOCK_MS}`);
    return await migrate(
      {
        query: async (text, values) => (await session.query(text, values)).rows,
        script: async (sql) => {
          await session.query(sql);
        },
      },
      log,
    );
  } finally {
    await session.end();
  }
}

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
