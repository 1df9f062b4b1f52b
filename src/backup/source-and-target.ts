/** Opens databases to copy from or into: PostgreSQL, or the data folder of an embedded database. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DATABASE_FOLDER, requireIntactFolder } from '../database/connect/embedded/data-folder.ts';
import { DataFolderInUse, lockDataFolder } from '../database/connect/embedded/data-folder-lock.ts';
import { startEngine } from '../database/connect/embedded/engine.ts';
import { borrowSnapshot } from '../database/connect/embedded/snapshots.ts';
import { Outages } from '../database/connect/outages.ts';
import { Primary } from '../database/connect/primary.ts';
import { hasRunningGateways } from '../database/connect/processes.ts';
import {
  type OpenDatabaseSession,
  openDatabaseSession,
  type Server,
} from '../database/connect/sessions/database-session.ts';
import { StartRefused } from '../kernel/errors.ts';
import type { Log } from '../kernel/log.ts';
import { splitDatabaseUrl } from '../settings/database-urls.ts';

/** The longest statement. It may read a large table as a whole or build an index over it. */
const STATEMENT_MS_MAX = 6 * 60 * 60_000;

export interface CopyDatabase extends AsyncDisposable {
  server: Server;
  /** Returns whether a gateway uses the database. A copy is consistent even then, except of a cluster. */
  isInUse(): Promise<boolean>;
  /** Runs the function with a new connection, and closes the connection afterwards. */
  inSession<T>(run: (session: OpenDatabaseSession) => Promise<T>): Promise<T>;
}

/** Returns whether the location is a URL of PostgreSQL. Any other location is a data folder. */
export function isPostgres(location: string): boolean {
  return /^postgres(ql)?:\/\//.test(location);
}

/** Opens a database to copy from. If a server has the data folder open, copies its files first. */
export async function openCopySource(location: string, log: Log): Promise<CopyDatabase> {
  if (isPostgres(location)) return connectPostgres(location, log);
  if (!existsSync(join(location, DATABASE_FOLDER))) {
    throw new StartRefused(`There is no database in ${location}.`);
  }
  await using opening = new AsyncDisposableStack();
  const lock = lockIfFree(location);
  const snapshot = lock ? null : opening.use(await borrowSnapshot(location));
  if (lock) opening.use(lock);
  const folder = snapshot?.folder ?? location;
  requireIntactFolder(folder);
  return openFolder(folder, { log, isInUse: snapshot !== null, opening: opening.move() });
}

/** Opens a database to copy into. */
export async function openTarget(location: string, log: Log): Promise<CopyDatabase> {
  if (isPostgres(location)) return connectPostgres(location, log);
  if (existsSync(join(location, DATABASE_FOLDER))) requireIntactFolder(location);
  mkdirSync(location, { recursive: true, mode: 0o700 });
  await using opening = new AsyncDisposableStack();
  opening.use(lockDataFolder(location));
  return openFolder(location, { log, isInUse: false, opening: opening.move() });
}

function lockIfFree(dataDir: string): Disposable | null {
  try {
    return lockDataFolder(dataDir);
  } catch (error) {
    if (error instanceof DataFolderInUse) return null;
    throw error;
  }
}

async function connectPostgres(url: string, log: Log): Promise<CopyDatabase> {
  const outages = new Outages(log);
  const primary = new Primary(splitDatabaseUrl(url), log);
  await primary.find();
  const database = createCopyDatabase(
    { address: primary.address, outages, limitMs: STATEMENT_MS_MAX },
    {
      isInUse: () => database.inSession(hasRunningGateways),
      close: async () => outages[Symbol.dispose](),
    },
  );
  return database;
}

interface FolderOptions {
  log: Log;
  isInUse: boolean;
  opening: AsyncDisposableStack;
}

async function openFolder(
  folder: string,
  { log, isInUse, opening }: FolderOptions,
): Promise<CopyDatabase> {
  await using open = opening;
  const engine = open.use(
    await startEngine(folder, (failure) => {
      throw failure;
    }),
  );
  const outages = open.use(new Outages(log));
  const server = { address: engine.address, outages, limitMs: STATEMENT_MS_MAX };
  const resources = open.move();
  return createCopyDatabase(server, {
    isInUse: async () => isInUse,
    close: () => resources.disposeAsync(),
  });
}

interface DatabaseMethods extends Pick<CopyDatabase, 'isInUse'> {
  close(): Promise<void>;
}

function createCopyDatabase(server: Server, { isInUse, close }: DatabaseMethods): CopyDatabase {
  return {
    server,
    isInUse,
    async inSession(run) {
      const session = await openDatabaseSession({ ...server, name: 'integration-gateway copy' });
      try {
        return await run(session);
      } finally {
        await session.end();
      }
    },
    [Symbol.asyncDispose]: close,
  };
}
