/** Builds the console if its built files are missing or older than what they are made of. */
import { execFile } from 'node:child_process';
import { readdir, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Log } from '../../log.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const CONSOLE = join(ROOT, 'console');
export const BUILT = join(CONSOLE, 'dist');
/** What the bundle is made of beside the files of the console. */
const SHARED = ['schema.graphql', 'package-lock.json'];
const MADE = /^(dist|__generated__)/;

/**
 * Without the packages that build it (a production install), what is there is used as it is. A build that fails
 * is told to the log, and an older one is still used.
 */
export async function buildIfOld(log: Log): Promise<void> {
  if ((await changedAt(BUILT)) >= (await newestSource())) return;
  if ((await changedAt(join(ROOT, 'node_modules', 'vite'))) === 0) return;
  try {
    log.info('console.building');
    await promisify(execFile)(process.execPath, [join(CONSOLE, 'build.ts')], { cwd: ROOT });
  } catch (error) {
    log.error({ err: error }, 'console.build_failed');
  }
}

async function newestSource(): Promise<number> {
  const own = await readdir(CONSOLE).catch(() => []);
  const tops = own.filter((name) => !MADE.test(name)).map((name) => join(CONSOLE, name));
  const below = await Promise.all(tops.map(filesBelow));
  const paths = [...tops, ...below.flat(), ...SHARED.map((name) => join(ROOT, name))];
  return Math.max(0, ...(await Promise.all(paths.map(changedAt))));
}

async function filesBelow(path: string): Promise<string[]> {
  const names = await readdir(path, { recursive: true }).catch(() => []);
  return names.map((name) => join(path, name));
}

/** 0 if there is no such file. */
async function changedAt(path: string): Promise<number> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}
