/**
 * The embedded databases of a worker's apps. To open one takes half a second, to empty one a fortieth of that:
 * what an app has closed is emptied and kept for a later one.
 */
import { setTimeout as wait } from 'node:timers/promises';
import type { PGlite } from '@electric-sql/pglite';
import pg from 'pg';
import { inject } from 'vitest';
import type { OpenEngine } from '../../../src/database/embedded/embedded.ts';
import { Engine } from '../../../src/database/embedded/engine.ts';
import { openSnapshot } from './open-snapshot.ts';

/** Each takes some hundred megabytes; few tests have more apps than this open at once. */
const KEPT_MAX = 2;
/** A statement that a test leaves under way may take for ever: such a database is not kept. */
const EMPTY_MAX_MS = 5_000;

const kept: Engine[] = [];

/** Migrated and empty. To be closed as any other, and closed for who closes it. */
export async function lendEngine(): Promise<OpenEngine> {
  // Forgotten when it is closed: modules of tests stay in memory, and with them what they refer to.
  let lent: Engine | null = kept.pop() ?? (await startMemoryEngine());
  return {
    address: lent.address,
    async [Symbol.asyncDispose]() {
      const engine = lent;
      lent = null;
      if (engine) await takeBack(engine);
    },
  };
}

/** Migrated and empty, of one's own. */
export function startMemoryEngine(): Promise<Engine> {
  return Engine.start({
    module: new URL('engine-thread.ts', import.meta.url),
    data: inject('embeddedSnapshot'),
    onCrash: (failure) => {
      throw failure;
    },
  });
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
  const pglite = await openSnapshot(inject('embeddedSnapshot'));
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
  const isEmpty = await Promise.race([
    empty(engine).then(
      () => true,
      () => false,
    ),
    wait(EMPTY_MAX_MS, false, { ref: false }),
  ]);
  if (isEmpty && kept.length < KEPT_MAX) kept.push(engine);
  else void engine[Symbol.asyncDispose]();
}

/**
 * As a migration leaves it: what belongs to the schema stays. Of the session nothing does. To truncate all tables takes
 * four times as long as to delete the rows of the few that a test fills.
 */
async function empty(engine: Engine): Promise<void> {
  await using client = await connectTo(engine);
  const schemas = ['public', 'pgboss'];
  const { rows } = await client.query<{ name: string }>(
    `select oid::regclass::text as "name" from pg_class
     where relkind = 'r' and relnamespace::regnamespace::text = any($1) and relname <> all($2)
       and pg_relation_size(oid) > 0`,
    [schemas, ['_prisma_migrations', 'version', 'queue']],
  );
  await client.query(
    `select setval(format('%I.%I', schemaname, sequencename), start_value, false)
     from pg_sequences where schemaname = any($1) and last_value is not null`,
    [schemas],
  );
  if (rows.length === 0) return;
  const names = rows.map(({ name }) => name);
  const deleted = names.map((name) => `delete from ${name};`).join(' ');
  // Nothing is left to which a row could point, in the end.
  await client.query(`set session_replication_role = replica; ${deleted}`);
  await client.query(`vacuum ${names.join(', ')}`);
}
