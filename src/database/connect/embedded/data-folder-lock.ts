/**
 * Locks the data folder, because PGlite takes no lock of its own, and two processes on one folder would destroy it. The
 * lock is an exclusive SQLite transaction. The operating system releases it when the process ends, even if it is
 * killed.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartRefused } from '../../../kernel/errors.ts';

/** The lock file in DATA_DIR. */
export const LOCK_FILE = 'lock.sqlite';

const SQLITE_BUSY = 5;

/** Another process uses the data folder. */
export class DataFolderInUse extends StartRefused {}

/** Throws DataFolderInUse if another process uses the folder, and StartRefused if the lock file can't be used. */
export function lockDataFolder(dataDir: string): Disposable {
  const path = join(dataDir, LOCK_FILE);
  let file: DatabaseSync | undefined;
  try {
    file = new DatabaseSync(path, { timeout: 0 });
    file.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    file?.close();
    throw (error as { errcode?: number }).errcode === SQLITE_BUSY
      ? createInUseError(dataDir)
      : createUnusableError(path, error as Error);
  }
  return { [Symbol.dispose]: () => file.close() };
}

function createInUseError(dataDir: string): DataFolderInUse {
  return new DataFolderInUse(
    `Another server is using the data folder ${dataDir}. Stop it, or give this one its own DATA_DIR; ` +
      'several servers share one database through DATABASE_URL.',
  );
}

function createUnusableError(path: string, { message }: Error): StartRefused {
  return new StartRefused(
    `${path} can't be locked: ${message}. The file contains no data. ` +
      'Check that this user may write it, and that no server uses the folder. Then delete the file.',
  );
}
