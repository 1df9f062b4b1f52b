/**
 * A folder in memory for what goes with a run, above all for its databases: a disk takes many times as long to make and
 * to drop one, which has a thousand files.
 */
import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, statfsSync } from 'node:fs';
import { join } from 'node:path';

const PLACE = '/dev/shm';
const PREFIX = 'gateway-run-';
const GIBIBYTE = 1024 ** 3;
/** A run takes a third of that. */
const ROOM_BYTES = 4 * GIBIBYTE;
/** With what the tests themselves take. */
const MEMORY_BYTES = 10 * GIBIBYTE;

/** Null where the system has none, or no room there. It is removed when this process ends. */
export function memoryFolder(): string | null {
  if (!hasRoom()) return null;
  removeLeft();
  const folder = mkdtempSync(join(PLACE, `${PREFIX}${process.pid}-`));
  // PostgreSQL's own user must get through.
  chmodSync(folder, 0o755);
  process.once('exit', () => remove(folder));
  return folder;
}

function hasRoom(): boolean {
  if (process.platform !== 'linux' || process.availableMemory() < MEMORY_BYTES) return false;
  try {
    const { bavail, bsize } = statfsSync(PLACE);
    return bavail * bsize >= ROOM_BYTES && mayRunPrograms();
  } catch {
    return false;
  }
}

/** In containers it is often mounted so that nothing in it can be executed. */
function mayRunPrograms(): boolean {
  const mounts = readFileSync('/proc/mounts', 'utf8').split('\n');
  const [, , , options = 'noexec'] =
    mounts.findLast((mount) => mount.split(' ')[1] === PLACE)?.split(' ') ?? [];
  return !options.split(',').includes('noexec');
}

/** A server that is being killed may still write there: what is left then is removed by the next run. */
function remove(folder: string): void {
  try {
    rmSync(folder, { recursive: true, force: true, maxRetries: 5, retryDelay: 100 });
  } catch (error) {
    console.warn(`${folder} is left: ${(error as Error).message}`);
  }
}

/** Of runs that were killed outright. */
function removeLeft(): void {
  for (const name of readdirSync(PLACE)) {
    const pid = name.startsWith(PREFIX) && Number(name.slice(PREFIX.length).split('-')[0]);
    if (pid && !isRunning(pid)) remove(join(PLACE, name));
  }
}

function isRunning(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch (error) {
    return (error as NodeJS.ErrnoException).code !== 'ESRCH';
  }
}
