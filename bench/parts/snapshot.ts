/** Copies a migrated, empty embedded database to a server's data folder. Creating one takes seconds. */
import { execFile } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { DATABASE_FOLDER } from '../../src/database/connect/embedded/data-folder.ts';
import { ensureEmbeddedSnapshot } from '../../test/support/database/embedded/embedded-snapshot.ts';

export async function copySnapshot(dataFolder: string): Promise<void> {
  const databaseFolder = join(dataFolder, DATABASE_FOLDER);
  mkdirSync(databaseFolder, { mode: 0o700 });
  const snapshot = await ensureEmbeddedSnapshot();
  await promisify(execFile)('tar', ['-xf', snapshot, '-C', databaseFolder]);
}
