/** Where a database is that is copied from or into: a PostgreSQL, or the folder of an embedded one. */
import { existsSync, mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { DATABASE, refuseDamage } from '../database/embedded/data-folder.ts';
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

/** Of one statement: the largest table is counted, or an index over it built. */
const STATEMENT_MAX_MS = 6 * 60 * 60_000;

export interface Place extends AsyncDisposable {
  server: Server;
  /** A gateway changes it meanwhile: the copy is of one moment. */
  isInUse(): Promise<boolean>;
  /** A connection of its own, which is closed in the end. */
  inSession<T>(run: (session: OpenSession) => Promise<T>): Promise<T>;
}

/** A URL of PostgreSQL, or a data folder. */
export function isPostgres(place: string): boolean {
  return /^postgres(ql)?:\/\//.test(place);
}

/** To copy from. An embedded database that a server has open is copied as files first. */
export async function openSource(where: string, log: Log): Promise<Place> {
  if (isPostgres(where)) return onPostgres(where, log);
  if (!existsSync(join(where, DATABASE))) {
    throw new StartRefused(`There is no database in ${where}.`);
  }
  await using opening = new AsyncDisposableStack();
  const lock = lockIfFree(where);
  const snapshot = lock ? null : opening.use(await borrowSnapshot(where));
  if (lock) opening.use(lock);
  const folder = snapshot?.folder ?? where;
  refuseDamage(folder);
  return onEngine(folder, { log, isInUse: snapshot !== null, opening: opening.move() });
}

/** To copy into. */
export async function openTarget(where: string, log: Log): Promise<Place> {
  if (isPostgres(where)) return onPostgres(where, log);
  if (existsSync(join(where, DATABASE))) refuseDamage(where);
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
  const place = placeOf(
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
  return placeOf(server, { isInUse: async () => isInUse, close: () => held.disposeAsync() });
}

interface Own extends Pick<Place, 'isInUse'> {
  close(): Promise<void>;
}

function placeOf(server: Server, { isInUse, close }: Own): Place {
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
