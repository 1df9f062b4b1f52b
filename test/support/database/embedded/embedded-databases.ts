/**
 * Reuses the embedded databases of a worker's apps. Opening one takes half a second, emptying one a fortieth
 * of that. A database that an app closes is emptied and kept for a later app.
 */
import type { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import type { OpenEngine } from '../../../../src/database/embedded/embedded.ts';
import type { Engine } from '../../../../src/database/embedded/engine.ts';
import { emptyDatabase, tryToEmpty } from '../empty-database.ts';
import { takeFirstEngine } from './first-engine.ts';
import { getSnapshotPath, startMemoryEngine } from './memory-engine.ts';
import { openSnapshot } from './open-snapshot.ts';

/**
 * Each database takes some hundred megabytes. Few tests have more than this many apps open at the same time.
 */
const POOL_MAX = 2;

/** Undoes the migrations. */
const DROP_SCHEMAS = 'drop schema public, pgboss cascade; create schema public';

const pool: Engine[] = [];

/**
 * Returns a migrated, empty database. Closing it returns it to the pool; the caller must not use it
 * afterwards.
 */
export async function acquireEngine(): Promise<OpenEngine> {
  // Cleared on close, because modules of tests stay in memory with all that they refer to.
  let acquired: Engine | null = pool.pop() ?? (await (takeFirstEngine() ?? startMemoryEngine()));
  return {
    address: acquired.address,
    async [Symbol.asyncDispose]() {
      const engine = acquired;
      acquired = null;
      if (engine) await releaseEngine(engine);
    },
  };
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

async function connectTo({ address }: Engine) {
  const client = new pg.Client(address);
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

async function releaseEngine(engine: Engine): Promise<void> {
  const wasEmptied = await tryToEmpty(async () => {
    await using client = await connectTo(engine);
    return await emptyDatabase(client);
  });
  if (wasEmptied && pool.length < POOL_MAX) pool.push(engine);
  else void engine[Symbol.asyncDispose]();
}
