/** Data folders for servers that run as separate processes. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { getSnapshotPath } from './embedded/memory-engine.ts';

/** Copies a migrated, empty database to the folder, so that tests skip the slow part of a first start. */
export function fillDataFolder(dataDir: string): void {
  const database = join(dataDir, 'database');
  mkdirSync(database, { recursive: true, mode: 0o700 });
  // The pipe hides tar's warning that it removes leading slashes from names.
  execFileSync('tar', ['-xf', getSnapshotPath(), '-C', database], { stdio: 'pipe' });
}
