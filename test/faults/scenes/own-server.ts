/** Starts a separate PostgreSQL server for a test, which the test may freeze, fill up and stop. */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { onTestFinished } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { openDatabase } from '../../../src/database/database.ts';
import { createLog } from '../../../src/log.ts';
import { testApp } from '../../support/app.ts';
import { startPostgres } from '../../support/database/postgres.ts';
import { routeEvents } from '../../support/event-log.ts';
import { startTcpProxy, type TcpProxy } from '../../support/tcp-proxy.ts';
import { ENCRYPTION_KEY } from './gateway.ts';

export interface OwnServer {
  /** URL without a database. */
  url: string;
  admin: pg.Client;
  /** Returns the IDs of the processes that serve connections to the database. */
  backends(database: string): Promise<number[]>;
  /**
   * Kills one of its processes. The server then ends all others and recovers from its WAL. `admin` is
   * disconnected too.
   */
  crash(database: string): Promise<void>;
  stop(): Promise<void>;
}

export async function startOwnServer(): Promise<OwnServer> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-server-'));
  chmodSync(folder, 0o755);
  const server = await startPostgres(join(folder, 'data'));
  const admin = new pg.Client({ connectionString: `${server.url}/postgres` });
  admin.on('error', () => {});
  await admin.connect();
  return {
    url: server.url,
    admin,
    backends: (database) => listBackends(admin, database),
    async crash(database) {
      const client = new pg.Client({ connectionString: `${server.url}/postgres` });
      client.on('error', () => {});
      await client.connect();
      const [pid] = await listBackends(client, database);
      if (pid === undefined) throw new Error(`No session is connected to ${database}.`);
      process.kill(pid, 'SIGKILL');
      await client.end().catch(() => {});
    },
    async stop() {
      await admin.end().catch(() => {});
      await server.stop();
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

async function listBackends(client: pg.Client, database: string): Promise<number[]> {
  const { rows } = await client.query<{ pid: number }>(
    'select pid from pg_stat_activity where datname = $1',
    [database],
  );
  return rows.map(({ pid }) => pid);
}

/** Stops the processes with SIGSTOP until `thaw` is called or the test ends. */
export function freeze(pids: number[]): { thaw(): void } {
  for (const pid of pids) process.kill(pid, 'SIGSTOP');
  const thaw = () => {
    for (const pid of pids) goOn(pid);
  };
  onTestFinished(thaw);
  return { thaw };
}

/** A process that has ended needs no signal. */
function goOn(pid: number): void {
  try {
    process.kill(pid, 'SIGCONT');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
  }
}

export interface OwnTenant {
  apiKey: string;
  projectId: string;
  projectName: string;
}

export interface OwnDatabase {
  name: string;
  /** URL of the proxy. */
  url: string;
  /** URL of the server, without the proxy. */
  direct: string;
  proxy: TcpProxy;
  tenant: OwnTenant;
}

/**
 * Creates a migrated database with a tenant behind a proxy, and a role with the database's name that owns it.
 * `clause` is appended to CREATE DATABASE.
 */
export async function createOwnDatabase(
  { url, admin }: OwnServer,
  clause = '',
): Promise<OwnDatabase> {
  const name = `own_${crypto.randomUUID().replaceAll('-', '')}`;
  await admin.query(`create role ${name} login password 'own'`);
  await admin.query(`create database ${name} owner ${name} ${clause}`);
  const direct = `${url}/${name}`.replace('postgres:postgres@', `${name}:own@`);
  const env = { DATABASE_URL: direct, ENCRYPTION_KEY };
  const database = await openDatabase(readConfig(env), createLog('silent'));
  await using app = await testApp({ env: { ENCRYPTION_KEY }, database });
  const { apiKey, projectId, projectName } = await app.tenant();
  await routeEvents(database.prisma, projectId);
  const { hostname: host, port } = new URL(url);
  const proxy = await startTcpProxy({ host, port: Number(port) });
  onTestFinished(() => proxy[Symbol.asyncDispose]());
  const proxied = new URL(direct);
  proxied.port = String(proxy.port);
  const tenant = { apiKey, projectId, projectName };
  return { name, url: proxied.href, direct, proxy, tenant };
}
