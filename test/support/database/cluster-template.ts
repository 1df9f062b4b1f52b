/** A Citus cluster that is there already, with a migrated database on each of its nodes, which those of the tests are copies of. */
import pg from 'pg';
import { databaseUrls } from '../../../src/database-urls.ts';
import { migrateTemplate, type Template } from './postgres-template.ts';

/** Few, so that a copy is made soon. */
const SHARDS = 4;

/** The servers of the URL are the coordinator and its workers, in this order; the URL names no database. */
export async function openCluster(url: string): Promise<Template> {
  const [serverUrl, ...workerUrls] = databaseUrls(url);
  const template = `gateway_template_${process.pid}`;
  const servers = [serverUrl, ...workerUrls];
  await createSpread(servers, template);
  await migrateTemplate(`${serverUrl}/${template}`);
  for (const server of servers) await leaveAlone(server, template);
  return {
    serverUrl,
    port: addressOf(serverUrl)[1],
    workerUrls,
    template,
    async stop() {
      for (const server of servers) {
        await withServer(`${server}/postgres`, (client) =>
          client.query(`drop database ${template} with (force)`),
        );
      }
    },
  };
}

/** An empty database on each of the servers, the first of which coordinates the others. */
export async function createSpread(servers: readonly string[], name: string): Promise<void> {
  await createApart(servers, name);
  await join(servers, name);
}

/** Databases of one name that know nothing of each other. */
export async function createApart(servers: readonly string[], name: string): Promise<void> {
  for (const server of servers) {
    await withServer(`${server}/postgres`, (client) => client.query(`create database ${name}`));
  }
}

/** Makes them nodes of one cluster. */
export async function join(servers: readonly string[], name: string): Promise<void> {
  for (const server of servers) {
    await withServer(`${server}/postgres`, (client) =>
      client.query(`alter database ${name} set citus.shard_count = ${SHARDS}`),
    );
    await withServer(`${server}/${name}`, (client) => client.query('create extension citus'));
  }
  const [coordinator = '', ...workers] = servers;
  await withServer(`${coordinator}/${name}`, async (client) => {
    await client.query('select citus_set_coordinator_host($1, $2)', addressOf(coordinator));
    for (const worker of workers) {
      await client.query('select citus_add_node($1, $2)', addressOf(worker));
    }
  });
}

/** One server more, with a database of that name that has no shards yet. */
export async function joinLater(
  [coordinator]: readonly string[],
  { url, name }: { url: string; name: string },
): Promise<void> {
  await createApart([url], name);
  await withServer(`${url}/${name}`, (client) => client.query('create extension citus'));
  await withServer(`${coordinator}/${name}`, (client) =>
    client.query('select citus_add_node($1, $2)', addressOf(url)),
  );
}

/** A database that is copied has no connections, and the extension has one of its own. */
async function leaveAlone(server: string, name: string): Promise<void> {
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
  // A server that is killed meanwhile fails what is asked.
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}

function addressOf(url: string): [host: string, port: number] {
  const { hostname, port } = new URL(url);
  return [hostname, Number(port || 5432)];
}
