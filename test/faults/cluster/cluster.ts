/**
 * Starts a separate Citus cluster for a test: a coordinator and two workers, which can be killed and
 * restarted.
 */
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import type pg from 'pg';
import { onTestFinished } from 'vitest';
import {
  createClusterFolder,
  runClusterServer,
  startClusterServer,
} from '../../support/database/cluster/cluster-servers.ts';
import {
  addWorker,
  createCluster,
  withServer,
} from '../../support/database/cluster/cluster-template.ts';
import { freeze } from '../fixtures/dedicated-server.ts';

const DATABASE_NAME = 'spread';

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
  const folder = createClusterFolder();
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const servers: ClusterServer[] = [];
  const startServer = async (name: string) => {
    const databaseDir = join(folder, name);
    let server = await startClusterServer(databaseDir, settings);
    const { port, url } = server;
    onTestFinished(() => server.kill());
    const clusterServer: ClusterServer = {
      url,
      port,
      kill: () => server.kill(),
      async start(backup) {
        server = await runClusterServer(backup?.databaseDir ?? databaseDir, port, [
          ...settings,
          ...(backup?.settings ?? []),
        ]);
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
