/**
 * A folder in memory for the files of a run, mainly its databases. A database has a thousand files, which a
 * disk creates and deletes many times slower.
 */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

const SHARED_MEMORY = '/dev/shm';
const FOLDER_PREFIX = 'gateway-run-';
const GIBIBYTE = 1024 ** 3;
/** A run uses a third of this. */
const FREE_BYTES_MIN = 4 * GIBIBYTE;
/** Includes the memory of the tests themselves. */
const AVAILABLE_BYTES_MIN = 10 * GIBIBYTE;

/**
 * Creates the folder, which is removed when this process exits. Returns null if the system has no such folder
 * or too little memory.
 */
export function createMemoryFolder(): string | null {
  if (!hasEnoughMemory()) return null;
  removeStaleFolders();
  const folder = mkdtempSync(join(SHARED_MEMORY, `${FOLDER_PREFIX}${process.pid}-`));
  // PostgreSQL runs as another user, which needs access.
  chmodSync(folder, 0o755);
  process.once('exit', () => remove(folder));
  return folder;
}

function hasEnoughMemory(): boolean {
  if (process.platform !== 'linux' || process.availableMemory() < AVAILABLE_BYTES_MIN) return false;
  try {
    const { bavail, bsize } = statfsSync(SHARED_MEMORY);
    return bavail * bsize >= FREE_BYTES_MIN && allowsPrograms();
  } catch {
    return false;
  }
}

/** Containers often mount /dev/shm with `noexec`. */
function allowsPrograms(): boolean {
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
  const [, , , options = 'noexec'] =
    mounts.findLast((mount) => mount.split(' ')[1] === SHARED_MEMORY)?.split(' ') ?? [];
  return !options.split(',').includes('noexec');
}

/** A server that is being killed may still write files. The next run removes the rest. */
function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  } catch (error) {
    console.warn(`${folder} could not be removed: ${(error as Error).message}`);
  }
}

/** Removes the folders of runs that were killed. */
function removeStaleFolders(): void {
  for (const name of readdirSync(SHARED_MEMORY)) {
    const pid =
      name.startsWith(FOLDER_PREFIX) && Number(name.slice(FOLDER_PREFIX.length).split('-')[0]);
    if (pid && !isRunning(pid)) remove(join(SHARED_MEMORY, name));
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
