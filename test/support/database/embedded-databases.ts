/**
 * The embedded databases of a worker's apps. To open one takes half a second, to empty one a tenth of that:
 * what an app has closed is emptied and kept for a later one.
 */
import { readFileSync } from 'node:fs';
import { setTimeout as wait } from 'node:timers/promises';
import { PGlite } from '@electric-sql/pglite';
import { inject } from 'vitest';

/** Each takes some hundred megabytes; few tests have more apps than this open at once. */
const KEPT_MAX = 2;
/** A transaction that a test leaves open would hold the database for ever: such a one is not kept. */
const EMPTY_MAX_MS = 5_000;

const kept: PGlite[] = [];

/** Migrated and empty. To be closed as any other, and closed for who closes it. */
export async function lendPglite(): Promise<PGlite> {
  // Forgotten when it is closed: modules of tests stay in memory, and with them what they refer to.
  let lent: PGlite | null = kept.pop() ?? (await openSnapshot());
  const listeners = new Map<symbol, () => Promise<void>>();
  // What the app puts in place of a member: it ends with the loan.
  const replaced: Record<PropertyKey, unknown> = {};
  const own = {
    async close() {
      const pglite = lent;
      lent = null;
      for (const name of Reflect.ownKeys(replaced)) delete replaced[name as string];
      for (const unlisten of listeners.values()) await unlisten();
      listeners.clear();
      if (pglite) await takeBack(pglite);
    },
    async listen(...listener: Parameters<PGlite['listen']>) {
      const key = Symbol();
      listeners.set(key, await open(lent).listen(...listener));
      return async () => {
        await listeners.get(key)?.();
        listeners.delete(key);
      };
    },
  };
  return new Proxy(replaced as unknown as PGlite, {
    get(_, name) {
      if (Object.hasOwn(replaced, name)) return replaced[name as string];
      if (name === 'closed') return lent === null;
      if (name === 'close' || name === Symbol.asyncDispose) return own.close;
      if (name === 'listen') return own.listen;
      const pglite = open(lent);
      const member: unknown = Reflect.get(pglite, name, pglite);
      return typeof member === 'function' ? member.bind(pglite) : member;
    },
  });
}

function open(lent: PGlite | null): PGlite {
  if (!lent) throw new Error('PGlite is closed');
  return lent;
}

/** As a first start finds it after it has made it. Belongs to who opens it. */
export async function openUnmigratedPglite(): Promise<PGlite> {
  const pglite = await openSnapshot();
  await pglite.exec('drop schema public, pgboss cascade; create schema public');
  return pglite;
}

async function openSnapshot(): Promise<PGlite> {
  const { buffer } = readFileSync(inject('embeddedSnapshot'));
  // A blob with these bytes would give a copy of a copy.
  const snapshot = Object.assign(new Blob(), { arrayBuffer: async () => buffer });
  return PGlite.create({ loadDataDir: snapshot });
}

async function takeBack(pglite: PGlite): Promise<void> {
  const isEmpty = await Promise.race([
    empty(pglite).then(
      () => true,
      () => false,
    ),
    wait(EMPTY_MAX_MS, false, { ref: false }),
  ]);
  if (isEmpty && kept.length < KEPT_MAX) kept.push(pglite);
  else void pglite.close().catch(() => {});
}

/** As a migration leaves it: what belongs to the schema stays, and nothing of the session. */
async function empty(pglite: PGlite): Promise<void> {
  await pglite.exec('discard all');
  const { rows } = await pglite.query<{ name: string }>(
    `select format('%I.%I', schemaname, tablename) as name from pg_tables
     where schemaname = any($1) and tablename <> all($2)`,
    [
      ['public', 'pgboss'],
      ['_prisma_migrations', 'version', 'queue'],
    ],
  );
  const names = rows.map(({ name }) => name).join(', ');
  await pglite.exec(`truncate ${names} restart identity cascade`);
}
