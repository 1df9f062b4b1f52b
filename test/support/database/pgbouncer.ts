/** Starts PgBouncer in transaction mode in front of a PostgreSQL server. */
import { spawn, spawnSync } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import pg from 'pg';
import { endWithParent } from '../end-with-parent.ts';
import { findFreePort } from '../process/free-port.ts';
import { findPostgresBinaries } from './postgres-binaries.ts';

/** Returns the reason to skip tests that need PgBouncer, or null if it is installed. */
export function getPgbouncerSkipReason(): string | null {
  const isInstalled = spawnSync('pgbouncer', ['--version']).status === 0;
  return isInstalled ? null : 'PgBouncer is not installed (`apt-get install pgbouncer`)';
}

interface PgbouncerServer {
  /** URL of PgBouncer, without a database. */
  url: string;
  port: number;
  stop(): Promise<void>;
}

/** Few enough connections for each database that transactions of different clients must share them. */
const SERVER_CONNECTIONS = 3;
const START_TIMEOUT_MS = 10_000;

export async function startPgbouncer(
  serverPort: number,
  { port = 0 }: { port?: number } = {},
): Promise<PgbouncerServer> {
  port ||= await findFreePort();
  const folder = mkdtempSync(join(tmpdir(), 'gateway-pgbouncer-'));
  chmodSync(folder, 0o755);
  const path = join(folder, 'pgbouncer.ini');
  writeFileSync(path, formatSettings({ port, serverPort, users: join(folder, 'users.txt') }));
  writeFileSync(join(folder, 'users.txt'), '"postgres" "postgres"\n');
  // PgBouncer refuses to run as root, as PostgreSQL does.
  const { user } = findPostgresBinaries();
  const child = spawn('pgbouncer', ['--quiet', path], { ...user, cwd: folder, stdio: 'ignore' });
  const exited = once(child, 'exit');
  child.once(
    'exit',
    endWithParent({ pid: child.pid as number, signal: 'SIGINT', patienceMs: 1_000 }),
  );
  const server = {
    url: `postgresql://postgres:postgres@127.0.0.1:${port}`,
    port,
    async stop() {
      child.kill('SIGKILL');
      await exited;
      rmSync(folder, { recursive: true, force: true });
    },
  };
  const deadlineMs = performance.now() + START_TIMEOUT_MS;
  while (!(await canConnect(`${server.url}/postgres`))) {
    if (performance.now() > deadlineMs) throw new Error('PgBouncer did not start within 10 s.');
    await delay(20);
  }
  return server;
}

async function canConnect(connectionString: string): Promise<boolean> {
  const client = new pg.Client({ connectionString });
  client.on('error', () => {});
  try {
    await client.connect();
    await client.query('select 1');
    return true;
  } catch {
    return false;
  } finally {
    void client.end().catch(() => {});
  }
}

interface PgbouncerPaths {
  port: number;
  serverPort: number;
  users: string;
}

function formatSettings({ port, serverPort, users }: PgbouncerPaths): string {
  return `
[databases]
* = host=127.0.0.1 port=${serverPort}
[pgbouncer]
listen_addr = 127.0.0.1
listen_port = ${port}
unix_socket_dir =
auth_type = trust
auth_file = ${users}
pool_mode = transaction
default_pool_size = ${SERVER_CONNECTIONS}
max_client_conn = 2000
server_idle_timeout = 5
server_login_retry = 1
`;
}
