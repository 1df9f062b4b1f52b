/**
 * The embedded databases of a worker's apps. To open one takes half a second, to empty one a fortieth of that:
 * what an app has closed is emptied and kept for a later one.
 */
import type { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import type { OpenEngine } from '../../../../src/database/embedded/embedded.ts';
import type { Engine } from '../../../../src/database/embedded/engine.ts';
import { emptyDatabase, isEmptied } from '../emptying.ts';
import { takeFirstEngine } from './first-engine.ts';
import { snapshotPath, startMemoryEngine } from './memory-engine.ts';
import { openSnapshot } from './open-snapshot.ts';

/** Each takes some hundred megabytes; few tests have more apps than this open at once. */
const KEPT_MAX = 2;

const kept: Engine[] = [];

/** Migrated and empty. To be closed as any other, and closed for who closes it. */
export async function lendEngine(): Promise<OpenEngine> {
  // Forgotten when it is closed: modules of tests stay in memory, and with them what they refer to.
  let lent: Engine | null = kept.pop() ?? (await (takeFirstEngine() ?? startMemoryEngine()));
  return {
    address: lent.address,
    async [Symbol.asyncDispose]() {
      const engine = lent;
      lent = null;
      if (engine) await takeBack(engine);
    },
  };
}

/** As a first start finds it after it has made it. */
export async function startUnmigratedEngine(): Promise<Engine> {
  const engine = await startMemoryEngine();
  await using client = await connectTo(engine);
  await client.query(UNMIGRATED);
  return engine;
}

/** The same in this thread, for who needs PGlite itself. Belongs to who opens it. */
export async function openUnmigratedPglite(): Promise<PGlite> {
  const pglite = await openSnapshot(snapshotPath());
  await pglite.exec(UNMIGRATED);
  return pglite;
}

const UNMIGRATED = 'drop schema public, pgboss cascade; create schema public';

async function connectTo({ address }: Engine) {
  const client = new pg.Client(address);
  await client.connect();
  return Object.assign(client, { [Symbol.asyncDispose]: () => client.end() });
}

async function takeBack(engine: Engine): Promise<void> {
  const isEmpty = await isEmptied(async () => {
    await using client = await connectTo(engine);
    return await emptyDatabase(client);
  });
  if (isEmpty && kept.length < KEPT_MAX) kept.push(engine);
  else void engine[Symbol.asyncDispose]();
}
