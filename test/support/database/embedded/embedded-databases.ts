/**
 * Reuses the embedded databases of a worker's apps. Starting one takes a second of CPU time, emptying one a fiftieth of
 * that. A database that an app closes is emptied and kept for a later app.
 *
 * Apps also reuse its connection and its Prisma client, which takes 8 MB and compiles each query once.
 */
import type { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import type { Engine } from '../../../../src/database/connect/embedded/engine.ts';
import type { Database } from '../../../../src/database/open/database.ts';
import { type OpenEngine, openEngine } from '../../../../src/database/open/open-embedded.ts';
import { testLog } from '../../process/test-log.ts';
import { emptyDatabase, toConnection, tryToEmpty } from '../empty-database.ts';
import { queryRows } from '../query.ts';
import { guardFunctions, Releasable } from '../releasable.ts';
import { runAsTest } from '../test-statements.ts';
import { takeFirstEngine } from './first-engine.ts';
import { getSnapshotPath, startMemoryEngine } from './memory-engine.ts';
import { openSnapshot } from './open-snapshot.ts';

/**
 * Each database takes some hundred megabytes. Few tests have more than this many apps open at the same time.
 */
const IDLE_MAX = 3;
/** A connection keeps the prepared statements of all its apps, so it is replaced after this many. */
const LOANS_MAX = 50;

/** Undoes the migrations. */
const DROP_SCHEMAS = 'drop schema public cascade; create schema public';

/** An engine, and the database that is open on it for the next app. */
interface Idle {
  engine: Engine;
  database: Database | null;
  loans: number;
}

interface OpenIdle extends Idle {
  database: Database;
}

const pool: Idle[] = [];

/**
 * Returns a migrated, empty database without a connection. Closing it returns it to the pool; the caller must not use it
 * afterwards.
 */
export async function acquireEngine(): Promise<OpenEngine> {
  // Cleared on close, because modules of tests stay in memory with all that they refer to.
  let acquired: Engine | null = await takeEngine();
  return {
    address: acquired.address,
    async [Symbol.asyncDispose]() {
      const engine = acquired;
      acquired = null;
      if (engine) await releaseEngine(engine);
    },
  };
}

/**
 * Returns a migrated, empty database that logs errors only. Closing it returns it to the pool; the borrower's later
 * statements throw.
 */
export async function borrowDatabase(): Promise<Database> {
  const borrowed = await takeDatabase();
  const { database } = borrowed;
  const loan = new Releasable();
  const { run, runShared } = database;
  const statements = guardFunctions({ run, runShared }, loan);
  return {
    ...database,
    prisma: loan.wrapBound(database.prisma),
    reads: guardFunctions(database.reads, loan),
    ...statements,
    sweeps: () => statements.run,
    async [Symbol.asyncDispose]() {
      loan.release();
      await releaseDatabase(borrowed);
    },
  };
}

/** Runs `work`, which borrows only databases that it opened itself. */
export async function withOwnDatabases(work: () => Promise<void>): Promise<void> {
  const others = pool.splice(0);
  await work().finally(() => pool.push(...others));
}

/** Returns a database without migrations, as a first start creates it. */
export async function startUnmigratedEngine(): Promise<Engine> {
  const engine = await startMemoryEngine();
  await using client = await connectTo(engine);
  await client.query(DROP_SCHEMAS);
  return engine;
}

/**
 * Opens a database without migrations in this thread, for tests that call PGlite directly. The caller closes
 * it.
 */
export async function openUnmigratedPglite(): Promise<PGlite> {
  const pglite = await openSnapshot(getSnapshotPath());
  await pglite.exec(DROP_SCHEMAS);
  return pglite;
}

async function takeEngine(): Promise<Engine> {
  const { engine, database } = takeIdle({ isOpen: false }) ?? (await startIdle());
  await database?.[Symbol.asyncDispose]();
  return engine;
}

/** Takes an open or closed database, or else one of the other kind. */
function takeIdle({ isOpen }: { isOpen: boolean }): Idle | undefined {
  const index = pool.findIndex(({ database }) => (database !== null) === isOpen);
  return pool.splice(index, 1)[0];
}

async function startIdle(): Promise<Idle> {
  return { engine: await (takeFirstEngine() ?? startMemoryEngine()), database: null, loans: 0 };
}

async function takeDatabase(): Promise<OpenIdle> {
  const idle = takeIdle({ isOpen: true }) ?? (await startIdle());
  const { engine, database } = idle;
  if (!database) return { engine, database: await openDatabase(engine), loans: 1 };
  await runAsTest(() =>
    queryRows(database, 'insert into "ServerProcess" ("id") values ($1)', [database.processes.id]),
  );
  return { engine, database, loans: idle.loans + 1 };
}

/** Closing the database leaves the engine open. */
function openDatabase({ address }: Engine): Promise<Database> {
  const engine = { address, [Symbol.asyncDispose]: async () => {} };
  return openEngine(engine, testLog);
}

async function releaseDatabase(idle: OpenIdle): Promise<void> {
  const { engine, database, loans } = idle;
  const isReusable = loans < LOANS_MAX && pool.length < IDLE_MAX;
  if (isReusable && (await tryToEmpty(() => runAsTest(() => emptyOpen(database))))) pool.push(idle);
  else {
    await database[Symbol.asyncDispose]();
    await releaseEngine(engine);
  }
}

async function emptyOpen(database: Database): Promise<boolean> {
  const connection = toConnection(database);
  const wasEmptied = await emptyDatabase(connection);
  await connection.query('reset session_replication_role');
  await connection.query('select pg_advisory_unlock_all()');
  return wasEmptied;
}

async function releaseEngine(engine: Engine): Promise<void> {
  const wasEmptied = await tryToEmpty(async () => {
    await using client = await connectTo(engine);
    return await emptyDatabase(client);
  });
  if (wasEmptied && pool.length < IDLE_MAX) pool.push({ engine, database: null, loans: 0 });
  else void engine[Symbol.asyncDispose]();
}

async function connectTo({ address }: Engine) {
  const client = new pg.Client(address);
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}
