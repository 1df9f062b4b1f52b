/** Starts Citus clusters: a coordinator and two workers, with a migrated template database that tests copy. */
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { migrateTemplate, type Template } from '../postgres-template.ts';
import { createClusterFolder, startClusterServer } from './cluster-servers.ts';

const TEMPLATE = 'gateway_template';
/** Few shards make a copy fast. */
const SHARD_COUNT = 4;

/** Starts a cluster and creates the template. */
export async function createClusterTemplate(): Promise<Template> {
  const folder = createClusterFolder();
  const names = ['coordinator', 'first', 'second'];
  const servers = await Promise.all(names.map((name) => startClusterServer(join(folder, name))));
  const [serverUrl, ...workerUrls] = servers.map(({ url }) => url) as [string, ...string[]];
  const urls = [serverUrl, ...workerUrls];
  await createCluster(urls, TEMPLATE);
  await migrateTemplate(`${serverUrl}/${TEMPLATE}`);
  for (const url of urls) await closeConnections(url, TEMPLATE);
  return {
    serverUrl,
    port: parseAddress(serverUrl)[1],
    workerUrls,
    template: TEMPLATE,
    async stop() {
      await Promise.all(servers.map((server) => server.stop()));
      rmSync(folder, { recursive: true, force: true });
    },
  };
}

/**
 * Creates an empty database on each server and joins them to a cluster. The first server is the coordinator.
 */
export async function createCluster(servers: readonly string[], name: string): Promise<void> {
  await createDatabases(servers, name);
  await joinCluster(servers, name);
}

/** Creates a database of the same name on each server, without joining them. */
export async function createDatabases(servers: readonly string[], name: string): Promise<void> {
  for (const server of servers) {
    await withServer(`${server}/postgres`, (client) => client.query(`create database ${name}`));
  }
}

/** Joins the databases to one cluster. The first server is the coordinator. */
export async function joinCluster(servers: readonly string[], name: string): Promise<void> {
  for (const server of servers) {
    await withServer(`${server}/postgres`, (client) =>
      client.query(`alter database ${name} set citus.shard_count = ${SHARD_COUNT}`),
    );
    await withServer(`${server}/${name}`, (client) => client.query('create extension citus'));
  }
  const [coordinator = '', ...workers] = servers;
  await withServer(`${coordinator}/${name}`, async (client) => {
    await client.query('select citus_set_coordinator_host($1, $2)', parseAddress(coordinator));
    for (const worker of workers) {
      await client.query('select citus_add_node($1, $2)', parseAddress(worker));
    }
  });
}

/** Adds a server to the cluster, with an empty database that has no shards yet. */
export async function addWorker(
  [coordinator]: readonly string[],
  { url, name }: { url: string; name: string },
): Promise<void> {
  await createDatabases([url], name);
  await withServer(`${url}/${name}`, (client) => client.query('create extension citus'));
  await withServer(`${coordinator}/${name}`, (client) =>
    client.query('select citus_add_node($1, $2)', parseAddress(url)),
  );
}

/**
 * Closes all connections to the database, because PostgreSQL copies no database that has one. Citus itself
 * keeps one open.
 */
async function closeConnections(server: string, name: string): Promise<void> {
  await withServer(`${server}/postgres`, async (client) => {
    await client.query(`alter database ${name} with allow_connections false`);
    await client.query(
      'select pg_terminate_backend(pid, 5000) from pg_stat_activity where datname = $1',
      [name],
    );
  });
}

export async function withServer<T>(
  url: string,
  work: (client: pg.Client) => Promise<T>,
): Promise<T> {
  const client = new pg.Client({ connectionString: url });
  // If the server is killed, the pending query rejects. The event must not crash the process as well.
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function parseAddress(url: string): [host: string, port: number] {
  const { hostname, port } = new URL(url);
  return [hostname, Number(port || 5432)];
}
