/** Builds the bundle of the console if it is missing or older than its sources. */
import { execFile } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Log } from '../../log.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const CONSOLE = join(ROOT, 'console');
export const CONSOLE_DIST = join(CONSOLE, 'dist');
/** Sources of the bundle outside the console's folder. */
const SHARED_SOURCES = ['schema.graphql', 'package-lock.json'];
const GENERATED_FOLDER = /^(dist|__generated__)/;

/**
 * Builds the console if its sources have changed. A production install lacks the packages for it, and keeps the
 * existing bundle. So does a failed build, whose error is logged.
 */
export async function buildIfStale(log: Log): Promise<void> {
  if ((await getModifiedMs(CONSOLE_DIST)) >= (await findNewestSourceMs())) return;
  if ((await getModifiedMs(join(ROOT, 'node_modules', 'vite'))) === 0) return;
  try {
    log.info('console.building');
    await promisify(execFile)(process.execPath, [join(CONSOLE, 'build.ts')], { cwd: ROOT });
  } catch (error) {
    log.error({ err: error }, 'console.build_failed');
  }
}

async function findNewestSourceMs(): Promise<number> {
  const names = await readdir(CONSOLE).catch(() => []);
  const topPaths = names
    .filter((name) => !GENERATED_FOLDER.test(name))
    .map((name) => join(CONSOLE, name));
  const nestedPaths = await Promise.all(topPaths.map(listFilesBelow));
  const paths = [
    ...topPaths,
    ...nestedPaths.flat(),
    ...SHARED_SOURCES.map((name) => join(ROOT, name)),
  ];
  return Math.max(0, ...(await Promise.all(paths.map(getModifiedMs))));
}

async function listFilesBelow(path: string): Promise<string[]> {
  const names = await readdir(path, { recursive: true }).catch(() => []);
  return names.map((name) => join(path, name));
}

/** Returns the modification time of a file. 0 if it does not exist. */
async function getModifiedMs(path: string): Promise<number> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}
