/**
 * Caches a migrated embedded database as a tar file. Its name is a hash of the files that it is made from.
 */
import { createHash } from 'node:crypto';
import {
  existsSync,
  globSync,
  mkdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';

const ROOT = join(import.meta.dirname, '..', '..', '..', '..');
const SNAPSHOT_FOLDER = join(ROOT, 'node_modules', '.cache', 'test-databases');
const SNAPSHOT_SOURCES = [
  'package-lock.json',
  'migrations/*/*.sql',
  'src/database/migrate/migrate.ts',
  'test/support/database/embedded/make-snapshot.ts',
];

/** Returns the path of the snapshot. Creating it takes seconds, so it is kept for later runs. */
export async function ensureEmbeddedSnapshot(): Promise<string> {
  const path = join(SNAPSHOT_FOLDER, `${hashSources()}.tar`);
  if (existsSync(path)) return path;
  mkdirSync(SNAPSHOT_FOLDER, { recursive: true });
  // Imported here because it loads half of the product, which runs with a snapshot do not need.
  const { createSnapshot } = await import('./make-snapshot.ts');
  // Another run may write the same file. Renaming a finished file is atomic.
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, await createSnapshot());
  renameSync(unfinished, path);
  for (const older of globSync('*.tar', { cwd: SNAPSHOT_FOLDER })) {
    if (join(SNAPSHOT_FOLDER, older) !== path) rmSync(join(SNAPSHOT_FOLDER, older));
  }
  return path;
}

function hashSources(): string {
  const hash = createHash('sha256');
  for (const path of globSync(SNAPSHOT_SOURCES, { cwd: ROOT }).sort()) {
    hash.update(path).update(readFileSync(join(ROOT, path)));
  }
  return hash.digest('hex').slice(0, 16);
}
