/** PostgreSQL in the process: PGlite, in the data folder. */
import { mkdirSync } from 'node:fs';
import { type PGlite, types } from '@electric-sql/pglite';
import { PrismaPGlite } from 'pglite-prisma-adapter';
import type { Log } from '../../log.ts';
import { Answering } from '../answering.ts';
import type { Database } from '../database.ts';
import { PrismaClient } from '../generated/client.ts';
import { jobsOnPglite } from '../job-database.ts';
import { migrate } from '../migrate.ts';
import { listenOnPglite } from '../notifications.ts';
import { Outages } from '../outages.ts';
import { onlyProcess } from '../processes.ts';
import { createRows, type RunQuery } from '../rows.ts';
import { timestampOf } from '../timestamps.ts';
import { TRANSACTION_OPTIONS } from '../transaction.ts';
import { openFolder, refuseDamage } from './data-folder.ts';
import { lockDataFolder } from './data-folder-lock.ts';
import { aroundStatements } from './pglite-statements.ts';
import { startUpkeep } from './upkeep.ts';

/** The one in the data folder, which no other process may have open. */
export async function openEmbedded(dataDir: string, log: Log): Promise<Database> {
  refuseDamage(dataDir);
  mkdirSync(dataDir, { recursive: true, mode: 0o700 });
  const lock = lockDataFolder(dataDir);
  try {
    const pglite = await openFolder(dataDir);
    const database = await openPglite(pglite, log);
    const upkeep = startUpkeep(database.rows.query, log);
    return {
      ...database,
      async [Symbol.asyncDispose]() {
        await upkeep[Symbol.asyncDispose]();
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
  const outages = new Outages(log);
  aroundStatements(pglite, (statement) =>
    statement().catch((error: unknown) => {
      throw outages.told(error);
    }),
  );
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
    transactionOptions: TRANSACTION_OPTIONS,
  });
  const processes = await onlyProcess(run);
  const listen = listenOnPglite(pglite, log);
  const answering = new Answering(async () => pglite.query('select 1'));
  return {
    kind: 'embedded',
    processes,
    now: () => new Date(),
    outages,
    isNew,
    prisma,
    rows: createRows(run),
    listen,
    jobs: jobsOnPglite(pglite, listen),
    ping: async () => answering.check(),
    async [Symbol.asyncDispose]() {
      answering[Symbol.dispose]();
      outages[Symbol.dispose]();
      await prisma.$disconnect();
      await pglite.close();
    },
  };
}

/** Positions of the event log are int8: exact as bigint, as Prisma gives them too. */
const PGLITE_PARSERS = {
  [types.INT8]: BigInt,
  [types.TIMESTAMPTZ]: (text: string) => timestampOf(text) ?? new Date(text),
};
