/**
 * Reuses the PostgreSQL databases of a worker's apps. A database that an app closes is emptied and kept for a
 * later app.
 */
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { inject } from 'vitest';
import { emptyDatabase, tryToEmpty } from './empty-database.ts';

export interface PostgresDatabase extends AsyncDisposable {
  /** Environment variables that name the database for a server. */
  env: Record<string, string>;
}

/** Sessions that were just closed are still listed for a moment. */
const ATTEMPTS_MAX = 20;
const POLL_MS = 10;

/** SQLSTATE `object_in_use`. */
const OBJECT_IN_USE = '55006';

const pool: string[] = [];

/** Returns a migrated, empty database. Close all connections to it before you dispose it. */
export async function acquirePostgres(): Promise<PostgresDatabase> {
  const { serverUrl, workerUrls, poolerUrl } = inject('postgres');
  const name = pool.pop() ?? (await createDatabase());
  return {
    env: {
      DATABASE_URL: `${poolerUrl ?? serverUrl}/${name}`,
      ...(poolerUrl && { DATABASE_LISTEN_URL: `${serverUrl}/${name}` }),
    },
    async [Symbol.asyncDispose]() {
      // A pooler would keep sessions of the earlier test open.
      const wasEmptied =
        !poolerUrl && workerUrls.length === 0 && (await tryToEmpty(() => emptyIfUnused(name)));
      if (wasEmptied) pool.push(name);
      else await runOnServers((client) => dropDatabase(client, name));
    },
  };
}

/** Runs `work`, which acquires only databases that it created itself. */
export async function withOwnPostgres(work: () => Promise<void>): Promise<void> {
  const others = pool.splice(0);
  await work().finally(() => pool.push(...others));
}

/**
 * Retries, because `force` does not end the server's own sessions, such as those between the nodes of a
 * cluster. They end within a second.
 */
async function dropDatabase(client: pg.Client, name: string): Promise<void> {
  for (let attempt = 1; ; attempt += 1) {
    try {
      await client.query(`drop database if exists ${name} with (force)`);
      return;
    } catch (error) {
      if ((error as pg.DatabaseError).code !== OBJECT_IN_USE || attempt === ATTEMPTS_MAX)
        throw error;
      await wait(POLL_MS * attempt);
    }
  }
}

async function createDatabase(): Promise<string> {
  const name = `test_${crypto.randomUUID().replaceAll('-', '')}`;
  const { template } = inject('postgres');
  await runOnServers((client) => client.query(`create database ${name} template ${template}`));
  return name;
}

function emptyIfUnused(name: string): Promise<boolean> {
  return runOnServer(
    async (client) => (await waitUntilUnused(client)) && (await emptyDatabase(client)),
    name,
  );
}

/**
 * True if all other sessions have ended. Processes that a test left behind would change the database of a
 * later test.
 */
async function waitUntilUnused(client: pg.Client): Promise<boolean> {
  for (let attempt = 0; attempt < ATTEMPTS_MAX; attempt += 1) {
    const { rowCount } = await client.query(
      `select from pg_stat_activity where datname = current_database()
         and backend_type = 'client backend' and pid <> pg_backend_pid()`,
    );
    if (rowCount === 0) return true;
    await wait(POLL_MS);
  }
  return false;
}

/** Runs the work on each server that has a part of the databases. */
async function runOnServers(work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const { serverUrl, workerUrls } = inject('postgres');
  for (const url of [serverUrl, ...workerUrls]) await runOnServer(work, 'postgres', url);
}

async function runOnServer<T>(
  work: (client: pg.Client) => Promise<T>,
  database = 'postgres',
  url = inject('postgres').serverUrl,
): Promise<T> {
  const client = new pg.Client(`${url}/${database}`);
  // The session is ended if emptying takes too long. Without a listener, its error would crash the process.
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
