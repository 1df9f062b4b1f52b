/** A database that is copied from or into: a PostgreSQL, or the folder of an embedded one. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DATABASE_FOLDER, requireIntactFolder } from '../database/embedded/data-folder.ts';
import { lockDataFolder } from '../database/embedded/data-folder-lock.ts';
import { startEngine } from '../database/embedded/embedded.ts';
import { borrowSnapshot } from '../database/embedded/snapshots.ts';
import { Outages } from '../database/outages.ts';
import { Primary } from '../database/postgres/primary.ts';
import { hasRunningGateways } from '../database/processes.ts';
import { type OpenSession, openSession, type Server } from '../database/sessions/session.ts';
import { databaseUrls } from '../database-urls.ts';
import { StartRefused } from '../errors.ts';
import type { Log } from '../log.ts';

/** The limit of a statement that counts the largest table or builds an index over it. */
const STATEMENT_MAX_MS = 6 * 60 * 60_000;

export interface Place extends AsyncDisposable {
  server: Server;
  /** True while a gateway changes it. A copy is still of one moment. */
  isInUse(): Promise<boolean>;
  /** Runs on its own connection, which is closed at the end. */
  inSession<T>(run: (session: OpenSession) => Promise<T>): Promise<T>;
}

/** A URL of PostgreSQL, or a data folder. */
export function isPostgres(place: string): boolean {
  return /^postgres(ql)?:\/\//.test(place);
}

/** Opens a database to copy from. If a server has an embedded database open, its files are copied first. */
export async function openSource(where: string, log: Log): Promise<Place> {
  if (isPostgres(where)) return onPostgres(where, log);
  if (!existsSync(join(where, DATABASE_FOLDER))) {
    throw new StartRefused(`There is no database in ${where}.`);
  }
  await using opening = new AsyncDisposableStack();
  const lock = lockIfFree(where);
  const snapshot = lock ? null : opening.use(await borrowSnapshot(where));
  if (lock) opening.use(lock);
  const folder = snapshot?.folder ?? where;
  requireIntactFolder(folder);
  return onEngine(folder, { log, isInUse: snapshot !== null, opening: opening.move() });
}

/** Opens a database to copy into. */
export async function openTarget(where: string, log: Log): Promise<Place> {
  if (isPostgres(where)) return onPostgres(where, log);
  if (existsSync(join(where, DATABASE_FOLDER))) requireIntactFolder(where);
  mkdirSync(where, { recursive: true, mode: 0o700 });
  await using opening = new AsyncDisposableStack();
  opening.use(lockDataFolder(where));
  return onEngine(where, { log, isInUse: false, opening: opening.move() });
}

function lockIfFree(dataDir: string): Disposable | null {
  try {
    return lockDataFolder(dataDir);
  } catch (error) {
    if (error instanceof StartRefused) return null;
    throw error;
  }
}

async function onPostgres(url: string, log: Log): Promise<Place> {
  const outages = new Outages(log);
  const primary = new Primary(databaseUrls(url), log);
  await primary.find();
  const place = createPlace(
    { address: primary.address, outages, limitMs: STATEMENT_MAX_MS },
    {
      isInUse: () => place.inSession(hasRunningGateways),
      close: async () => outages[Symbol.dispose](),
    },
  );
  return place;
}

interface OnEngine {
  log: Log;
  isInUse: boolean;
  opening: AsyncDisposableStack;
}

async function onEngine(folder: string, { log, isInUse, opening }: OnEngine): Promise<Place> {
  await using open = opening;
  const engine = open.use(
    await startEngine(folder, (failure) => {
      throw failure;
    }),
  );
  const outages = open.use(new Outages(log));
  const server = { address: engine.address, outages, limitMs: STATEMENT_MAX_MS };
  const held = open.move();
  return createPlace(server, { isInUse: async () => isInUse, close: () => held.disposeAsync() });
}

interface Own extends Pick<Place, 'isInUse'> {
  close(): Promise<void>;
}

function createPlace(server: Server, { isInUse, close }: Own): Place {
  return {
    server,
    isInUse,
    async inSession(run) {
      const session = await openSession({ ...server, name: 'integration-gateway copy' });
      try {
        return await run(session);
      } finally {
        await session.end();
      }
    },
    [Symbol.asyncDispose]: close,
  };
}
