/**
 * Locks the data folder, because PGlite takes no lock of its own, and two processes on one folder would destroy it. The
 * lock is an exclusive SQLite transaction. The operating system releases it when the process ends, even if it is
 * killed.
 */
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { StartRefused } from '../../errors.ts';

/** The lock file in DATA_DIR. */
export const LOCK_FILE = 'lock.sqlite';

const SQLITE_BUSY = 5;

/** Throws StartRefused if another process uses the folder. */
export function lockDataFolder(dataDir: string): Disposable {
  const file = new DatabaseSync(join(dataDir, LOCK_FILE), { timeout: 0 });
  try {
    file.exec('PRAGMA locking_mode = EXCLUSIVE; BEGIN EXCLUSIVE');
  } catch (error) {
    file.close();
    if ((error as { errcode?: number }).errcode !== SQLITE_BUSY) throw error;
    throw new StartRefused(
      `Another server is using the data folder ${dataDir}. Stop it, or give this one its own DATA_DIR; ` +
        'several servers share one database through DATABASE_URL.',
    );
  }
  return { [Symbol.dispose]: () => file.close() };
}
