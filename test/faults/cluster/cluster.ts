/**
 * Starts a separate Citus cluster for a test: a coordinator and two workers, which can be killed and
 * restarted.
 */
import { chmodSync, existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type pg from 'pg';
import { onTestFinished } from 'vitest';
import { addWorker, createCluster, withServer } from '../../support/database/cluster-template.ts';
import {
  type PostgresServer,
  runPostgres,
  startPostgres,
} from '../../support/database/postgres.ts';
import { findSystemBinaries } from '../../support/database/postgres-binaries.ts';
import { freeze } from '../fixtures/dedicated-server.ts';

/** The folder with the programs of a PostgreSQL installation that has Citus. */
const { TEST_CITUS_BIN = '' } = process.env;
const DATABASE_NAME = 'spread';
const SETTINGS = [
  'shared_preload_libraries=citus',
  'wal_level=logical',
  'max_prepared_transactions=200',
  'shared_buffers=64MB',
  'citus.node_conninfo=sslmode=disable',
];

/** Returns the reason to skip tests of a cluster, or null if they can run. */
export function getClusterSkipReason(): string | null {
  if (!TEST_CITUS_BIN)
    return 'TEST_CITUS_BIN names no folder with the programs of a PostgreSQL that has Citus';
  return existsSync(join(TEST_CITUS_BIN, 'postgres')) ? null : `${TEST_CITUS_BIN} has no postgres`;
}

export interface ClusterServer {
  url: string;
  port: number;
  /** Kills the server, which has the effect of a crash. */
  kill(): Promise<void>;
  /** Restarts the server on the same port. `backup` replaces its data folder, and adds settings. */
  start(backup?: { databaseDir: string; settings: string[] }): Promise<void>;
  /** Freezes the server: connections stay open, and it does not respond. */
  hang(): Fault;
  /** Makes every commit wait for a standby that does not exist. Reads still work. */
  holdCommits(): Promise<Fault>;
}

export interface Fault {
  end(): void | Promise<void>;
}

export interface Cluster {
  /** URL of the database at the coordinator. */
  url: string;
  /** URLs of the servers, without a database. */
  serverUrls: string[];
  coordinator: ClusterServer;
  workers: ClusterServer[];
  /** Adds a worker, which has no shards yet. */
  addWorker(): Promise<void>;
  /** Queries the coordinator. */
  query<R extends pg.QueryResultRow>(text: string, values?: unknown[]): Promise<R[]>;
}

/**
 * Starts a cluster with an empty database, which stops when the test ends. Each server also has these settings.
 */
export async function startCluster(settings: string[] = []): Promise<Cluster> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-cluster-'));
  chmodSync(folder, 0o755);
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const options = {
    settings: [...SETTINGS, ...settings],
    binaries: findSystemBinaries(TEST_CITUS_BIN),
  };
  const servers: ClusterServer[] = [];
  const startServer = async (name: string) => {
    const databaseDir = join(folder, name);
    let server: PostgresServer = await startPostgres(databaseDir, options);
    const { port, url } = server;
    onTestFinished(() => server.kill());
    const clusterServer: ClusterServer = {
      url,
      port,
      kill: () => server.kill(),
      async start(backup) {
        const settings = [...options.settings, ...(backup?.settings ?? [])];
        server = await runPostgres(backup?.databaseDir ?? databaseDir, {
          ...options,
          settings,
          port,
        });
      },
      hang: () => freeze(listProcesses(databaseDir)),
      async holdCommits() {
        await reconfigure(url, `set synchronous_standby_names = 'missing'`);
        return { end: () => reconfigure(url, 'reset synchronous_standby_names') };
      },
    };
    return clusterServer;
  };
  for (const name of ['coordinator', 'first', 'second']) {
    servers.push(await startServer(name));
  }
  const urls = servers.map(({ url }) => url);
  await createCluster(urls, DATABASE_NAME);
  const [coordinator, ...workers] = servers as [ClusterServer, ...ClusterServer[]];
  const url = `${urls[0]}/${DATABASE_NAME}`;
  return {
    url,
    serverUrls: urls,
    coordinator,
    workers,
    async addWorker() {
      const newWorker = await startServer('third');
      await addWorker(urls, { url: newWorker.url, name: DATABASE_NAME });
      workers.push(newWorker);
    },
    query: (text, values = []) =>
      withServer(url, async (client) => (await client.query(text, values)).rows),
  };
}

/** Changes a setting of the whole server, without a restart. */
async function reconfigure(url: string, change: string): Promise<void> {
  await withServer(`${url}/postgres`, async (client) => {
    await client.query(`alter system ${change}`);
    await client.query('select pg_reload_conf()');
  });
}

/** Returns the IDs of the server's main process and its children. */
function listProcesses(databaseDir: string): number[] {
  const [pid = ''] = readFileSync(join(databaseDir, 'postmaster.pid'), 'utf8').split('\n');
  const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8');
  return [pid, ...children.trim().split(' ')].map(Number);
}
