/** The PostgreSQL databases of a worker's apps: what an app has closed is emptied and kept for a later one. */
import { setTimeout as wait } from 'node:timers/promises';
import pg from 'pg';
import { inject } from 'vitest';
import { emptyDatabase, isEmptied } from './emptying.ts';

export interface PostgresDatabase extends AsyncDisposable {
  /** What a server is told of it. */
  env: Record<string, string>;
}

/** Sessions that were closed a moment ago are still seen. */
const LOOKS = 20;
const POLL_MS = 10;

/** SQLSTATE. */
const OBJECT_IN_USE = '55006';

const kept: string[] = [];

/** Migrated and empty. Who disposes of it has closed what was open in it. */
export async function lendPostgres(): Promise<PostgresDatabase> {
  const { serverUrl, workerUrls, poolerUrl } = inject('postgres');
  const name = kept.pop() ?? (await make());
  return {
    env: {
      DATABASE_URL: `${poolerUrl ?? serverUrl}/${name}`,
      ...(poolerUrl && { DATABASE_LISTEN_URL: `${serverUrl}/${name}` }),
    },
    async [Symbol.asyncDispose]() {
      // A pooler would go on with sessions of those before.
      const isKept = !poolerUrl && workerUrls.length === 0 && (await isEmptied(() => empty(name)));
      if (isKept) kept.push(name);
      else await onServers((client) => drop(client, name));
    },
  };
}

/** What the server itself does there, as the nodes of a cluster do for each other, can't be ended: it ends soon. */
async function drop(client: pg.Client, name: string): Promise<void> {
  for (let looks = 1; ; looks += 1) {
    try {
      await client.query(`drop database if exists ${name} with (force)`);
      return;
    } catch (error) {
      if ((error as pg.DatabaseError).code !== OBJECT_IN_USE || looks === LOOKS) throw error;
      await wait(POLL_MS * looks);
    }
  }
}

async function make(): Promise<string> {
  const name = `test_${crypto.randomUUID().replaceAll('-', '')}`;
  const { template } = inject('postgres');
  await onServers((client) => client.query(`create database ${name} template ${template}`));
  return name;
}

function empty(name: string): Promise<boolean> {
  return onServer(async (client) => (await isLeft(client)) && (await emptyDatabase(client)), name);
}

/** By all others. Processes that a test leaves behind, or kills later, would work on in that of another test. */
async function isLeft(client: pg.Client): Promise<boolean> {
  for (let looks = 0; looks < LOOKS; looks += 1) {
    const { rowCount } = await client.query(
      `select from pg_stat_activity where datname = current_database()
         and backend_type = 'client backend' and pid <> pg_backend_pid()`,
    );
    if (rowCount === 0) return true;
    await wait(POLL_MS);
  }
  return false;
}

/** On all servers that have a part of each database. */
async function onServers(work: (client: pg.Client) => Promise<unknown>): Promise<void> {
  const { serverUrl, workerUrls } = inject('postgres');
  for (const url of [serverUrl, ...workerUrls]) await onServer(work, 'postgres', url);
}

async function onServer<T>(
  work: (client: pg.Client) => Promise<T>,
  database = 'postgres',
  url = inject('postgres').serverUrl,
): Promise<T> {
  const client = new pg.Client(`${url}/${database}`);
  // It is ended where emptying takes too long.
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
