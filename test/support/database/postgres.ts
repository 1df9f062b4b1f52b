/** Starts PostgreSQL servers for tests. */
import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync } from 'node:fs';
import { promisify } from 'node:util';
import { endWithParent } from '../end-with-parent.ts';
import { findFreePort } from '../process/free-port.ts';
import { findPostgresBinaries, type PostgresBinaries } from './postgres-binaries.ts';

/** A standby reports that it accepts read-only connections. */
const READY_MESSAGE = /database system is ready to accept (read-only )?connections/;
/** The data are deleted after the run, so no write needs to wait for the disk. */
const SETTINGS = ['fsync=off', 'full_page_writes=off', 'max_connections=400'];
const STOP_MS = 20_000;

export interface PostgresServer {
  url: string;
  port: number;
  stop(): Promise<void>;
  /** Kills the server with SIGKILL, which has the effect of a crash. */
  kill(): Promise<void>;
}

/**
 * Creates a data folder and starts a PostgreSQL server on it. The server's user needs access to the parent
 * folder.
 */
export async function startPostgres(
  databaseDir: string,
  options: RunOptions = {},
): Promise<PostgresServer> {
  const { initdb, user } = options.binaries ?? findPostgresBinaries();
  mkdirSync(databaseDir, { mode: 0o700 });
  if (user) chownSync(databaseDir, user.uid, user.gid);
  const initOptions = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--no-sync'];
  await promisify(execFile)(
    initdb,
    ['-D', databaseDir, ...initOptions],
    createSpawnOptions(databaseDir),
  );
  return runPostgres(databaseDir, options);
}

interface RunOptions {
  port?: number;
  settings?: string[];
  /** Default: the programs of the npm package. */
  binaries?: PostgresBinaries;
}

/** Starts a PostgreSQL server on an existing data folder. */
export async function runPostgres(
  databaseDir: string,
  { port = 0, settings: extraSettings = [], binaries = findPostgresBinaries() }: RunOptions = {},
): Promise<PostgresServer> {
  port ||= await findFreePort();
  const options = createSpawnOptions(databaseDir);
  const locationOptions = ['-D', databaseDir, '-h', '127.0.0.1', '-p', String(port), '-k', ''];
  const settings = [...SETTINGS, ...extraSettings].flatMap((setting) => ['-c', setting]);
  const server = spawn(binaries.postgres, [...locationOptions, ...settings], options);
  const exited = once(server, 'exit');
  // Stops the server if the run ends first.
  const watchedChild = {
    pid: server.pid as number,
    signal: 'SIGINT',
    patienceMs: STOP_MS,
  } as const;
  server.once('exit', endWithParent(watchedChild));
  await waitUntilReady(server);
  return {
    url: `postgresql://postgres:postgres@127.0.0.1:${port}`,
    port,
    async stop() {
      server.kill('SIGINT');
      await exited;
    },
    async kill() {
      server.kill('SIGKILL');
      await exited;
    },
  };
}

/** The server's user needs access to the working directory too. */
function createSpawnOptions(databaseDir: string) {
  const { user } = findPostgresBinaries();
  return { cwd: databaseDir, ...user, env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' } };
}

function waitUntilReady(server: ChildProcessWithoutNullStreams): Promise<void> {
  let output = '';
  return new Promise((resolve, reject) => {
    server.stderr.on('data', (chunk: Buffer) => {
      if (READY_MESSAGE.test(output)) return;
      output += chunk;
      if (READY_MESSAGE.test(output)) resolve();
    });
    server.once('error', reject);
    server.once('exit', () => reject(new Error(`PostgreSQL exited:\n${output}`)));
  });
}
