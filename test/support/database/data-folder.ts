/** Data folders for servers that are processes of their own. */
import { execFileSync } from 'node:child_process';
import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { snapshotPath } from './embedded/memory-engine.ts';

/**
 * Puts a migrated, empty database in the folder, as an earlier start leaves it. Most of a first start's time goes
 * into making one, which is of no interest to tests of what comes later.
 */
export function fillDataFolder(dataDir: string): void {
  const database = join(dataDir, 'database');
  mkdirSync(database, { recursive: true, mode: 0o700 });
  // Names begin with a slash, which tar leaves out with a word on it.
  execFileSync('tar', ['-xf', snapshotPath(), '-C', database], { stdio: 'pipe' });
}
