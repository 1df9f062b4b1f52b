import { type ChildProcessWithoutNullStreams, execFile, spawn } from 'node:child_process';
import { once } from 'node:events';
import { chownSync, mkdirSync } from 'node:fs';
import type { AddressInfo } from 'node:net';
import { createServer } from 'node:net';
import { promisify } from 'node:util';
import { tie } from '../tied.ts';
import { type PostgresBinaries, postgresBinaries } from './postgres-binaries.ts';

/** A standby says that they are read-only. */
const READY = /database system is ready to accept (read-only )?connections/;
/** The data go with the run: nothing waits for the disk. */
const SETTINGS = ['fsync=off', 'full_page_writes=off', 'max_connections=400'];
const STOP_MS = 20_000;

export interface PostgresServer {
  url: string;
  port: number;
  stop(): Promise<void>;
  /** As a crash of the machine does it. */
  kill(): Promise<void>;
}

/** A PostgreSQL server of this run's own, from an npm package. Its user has to reach the folder of its data. */
export async function startPostgres(
  databaseDir: string,
  options: RunOptions = {},
): Promise<PostgresServer> {
  const { initdb, user } = options.binaries ?? postgresBinaries();
  mkdirSync(databaseDir, { mode: 0o700 });
  if (user) chownSync(databaseDir, user.uid, user.gid);
  const how = ['--username=postgres', '--auth=trust', '--encoding=UTF8', '--no-sync'];
  await promisify(execFile)(initdb, ['-D', databaseDir, ...how], optionsIn(databaseDir));
  return runPostgres(databaseDir, options);
}

export interface RunOptions {
  port?: number;
  settings?: string[];
  /** Default: those of the npm package. */
  binaries?: PostgresBinaries;
}

/** One whose data are there. */
export async function runPostgres(
  databaseDir: string,
  { port = 0, settings: given = [], binaries = postgresBinaries() }: RunOptions = {},
): Promise<PostgresServer> {
  port ||= await freePort();
  const options = optionsIn(databaseDir);
  const place = ['-D', databaseDir, '-h', '127.0.0.1', '-p', String(port), '-k', ''];
  const settings = [...SETTINGS, ...given].flatMap((setting) => ['-c', setting]);
  const server = spawn(binaries.postgres, [...place, ...settings], options);
  const exited = once(server, 'exit');
  // A run that ends in between takes its server along.
  const tied = { pid: server.pid as number, signal: 'SIGINT', patienceMs: STOP_MS } as const;
  server.once('exit', tie(tied));
  await ready(server);
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

/** PostgreSQL's user has to reach the folder. */
function optionsIn(databaseDir: string) {
  const { user } = postgresBinaries();
  return { cwd: databaseDir, ...user, env: { ...process.env, LC_ALL: 'C', TZ: 'UTC' } };
}

function ready(server: ChildProcessWithoutNullStreams): Promise<void> {
  let output = '';
  return new Promise((resolve, reject) => {
    server.stderr.on('data', (chunk: Buffer) => {
      if (READY.test(output)) return;
      output += chunk;
      if (READY.test(output)) resolve();
    });
    server.once('error', reject);
    server.once('exit', () => reject(new Error(`PostgreSQL ended:\n${output}`)));
  });
}

/** Free when it is asked for. */
export async function freePort(): Promise<number> {
  const server = createServer();
  const { promise, resolve } = Promise.withResolvers<void>();
  server.listen(0, '127.0.0.1', resolve);
  await promise;
  const { port } = server.address() as AddressInfo;
  await new Promise((done) => server.close(done));
  return port;
}
