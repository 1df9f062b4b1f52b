/** Uses existing servers: one PostgreSQL, or the nodes of a Citus cluster, with its coordinator first. */
import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { splitDatabaseUrl } from '../src/settings/database-urls.ts';
import { KEY_TEXT, usingClient } from './database.ts';
import type { Postgres } from './postgres.ts';

const ROOT = join(import.meta.dirname, '..');

/** Uses the servers at `url`, which names no database. Databases that a run creates are not dropped. */
export function useExistingServers(url: string): Postgres {
  const servers = splitDatabaseUrl(url);
  return {
    urls: servers,
    toUrl: (database) => `${servers[0]}/${database}`,
    // The servers may be on other machines.
    readCpuMs: () => Number.NaN,
    distribute: (database) => distribute(servers, database),
    async [Symbol.asyncDispose]() {},
  };
}

/** Distributes a filled database over a Citus cluster, as an operator does when one server is too small. */
async function distribute(
  servers: readonly [string, ...string[]],
  database: string,
): Promise<void> {
  const [coordinator, ...workers] = servers;
  if (workers.length === 0) return;
  for (const worker of workers) {
    await usingClient(`${worker}/postgres`, (client) =>
      client.query(`create database ${database}`),
    );
  }
  for (const server of servers) {
    await usingClient(`${server}/${database}`, (client) => client.query('create extension citus'));
  }
  await usingClient(`${coordinator}/${database}`, async (client) => {
    await client.query('select citus_set_coordinator_host($1, $2)', parseAddress(coordinator));
    for (const worker of workers) {
      await client.query('select citus_add_node($1, $2)', parseAddress(worker));
    }
  });
  const { PATH } = process.env;
  await promisify(execFile)(process.execPath, [join(ROOT, 'src/commands/distribute.ts')], {
    cwd: ROOT,
    env: { PATH, DATABASE_URL: `${coordinator}/${database}`, ENCRYPTION_KEY: KEY_TEXT },
  });
}

function parseAddress(url: string): [host: string, port: number] {
  const { hostname, port } = new URL(url);
  return [hostname, Number(port || 5432)];
}
