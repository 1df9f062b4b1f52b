/** Builds the files of the console when its sources have changed. */
import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { glob, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Log } from '../../kernel/log.ts';

const ROOT = join(import.meta.dirname, '..', '..', '..');
const CONSOLE = join(ROOT, 'console');
export const CONSOLE_DIST = join(CONSOLE, 'dist');
/** The sources of the bundle, below ROOT. The schema and the packages are outside the console's folder. */
const SOURCES = [
  'console/**/*',
  'schema.graphql',
  'docs/provider.schema.json',
  'package-lock.json',
];
const GENERATED_FOLDER = /\b(dist|__generated__)\b/;

/**
 * Builds the console if its sources have changed. A production install lacks the packages for it, and keeps the
 * existing bundle. So does a failed build, whose error is logged.
 */
export async function buildIfStale(log: Pick<Log, 'info' | 'error'>): Promise<void> {
  if ((await getModifiedMs(CONSOLE_DIST)) >= (await getNewestSourceMs())) return;
  if ((await getModifiedMs(join(ROOT, 'node_modules', 'vite'))) === 0) return;
  try {
    log.info('console.building');
    await promisify(execFile)(process.execPath, [join(CONSOLE, 'build.ts')], { cwd: ROOT });
  } catch (error) {
    log.error({ err: error }, 'console.build_failed');
  }
}

/** True if the folder has neither the built console nor the packages that build it. */
export function isConsoleMissing(root = ROOT): boolean {
  return (
    !existsSync(join(root, 'console', 'dist', 'index.html')) &&
    !existsSync(join(root, 'node_modules', 'vite'))
  );
}

export const CONSOLE_MISSING_ADVICE =
  'The console, the connect page and GraphiQL are not built. Install the gateway with `npm run install:production`.';

async function getNewestSourceMs(): Promise<number> {
  const exclude = (path: string) => GENERATED_FOLDER.test(path);
  const paths = await Array.fromAsync(glob(SOURCES, { cwd: ROOT, exclude }));
  return Math.max(0, ...(await Promise.all(paths.map((path) => getModifiedMs(join(ROOT, path))))));
}

/** Returns the modification time of a file. 0 if it does not exist. */
async function getModifiedMs(path: string): Promise<number> {
  return stat(path).then(
    ({ mtimeMs }) => mtimeMs,
    () => 0,
  );
}
