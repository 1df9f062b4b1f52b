/** An embedded database after all migrations, as a file that is made once for each state of what it is made from. */
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
const FOLDER = join(ROOT, 'node_modules', '.cache', 'test-databases');
const MADE_FROM = [
  'package-lock.json',
  'migrations/*/*.sql',
  'src/database/migrating/migrate.ts',
  'src/jobs/{jobs,queue}.ts',
  'test/support/database/embedded/make-snapshot.ts',
];

/** The path of the file. To make it takes seconds, so it outlives the run. */
export async function embeddedSnapshot(): Promise<string> {
  const path = join(FOLDER, `${fingerprint()}.tar`);
  if (existsSync(path)) return path;
  mkdirSync(FOLDER, { recursive: true });
  // Loads half of the product, which runs that find the file need not wait for.
  const { makeSnapshot } = await import('./make-snapshot.ts');
  // Another run may make the same: none sees half of a file.
  const unfinished = `${path}.${process.pid}`;
  writeFileSync(unfinished, await makeSnapshot());
  renameSync(unfinished, path);
  for (const older of globSync('*.tar', { cwd: FOLDER })) {
    if (join(FOLDER, older) !== path) rmSync(join(FOLDER, older));
  }
  return path;
}

function fingerprint(): string {
  const hash = createHash('sha256');
  for (const path of globSync(MADE_FROM, { cwd: ROOT }).sort()) {
    hash.update(path).update(readFileSync(join(ROOT, path)));
  }
  return hash.digest('hex').slice(0, 16);
}
