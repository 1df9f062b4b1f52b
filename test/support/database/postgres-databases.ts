/** The PostgreSQL databases of a worker's apps: what an app has closed is emptied and kept for a later one. */
import pg from 'pg';
import { inject } from 'vitest';
import { emptyDatabase, isEmptied } from './emptying.ts';

export interface PostgresDatabase extends AsyncDisposable {
  /** What a server is told of it. */
  env: Record<string, string>;
}

const kept: string[] = [];

/** Migrated and empty. Who disposes of it has closed what was open in it. */
export async function lendPostgres(): Promise<PostgresDatabase> {
  const { serverUrl, poolerUrl } = inject('postgres');
  const name = kept.pop() ?? (await make());
  return {
    env: {
      DATABASE_URL: `${poolerUrl ?? serverUrl}/${name}`,
      ...(poolerUrl && { DATABASE_LISTEN_URL: `${serverUrl}/${name}` }),
    },
    async [Symbol.asyncDispose]() {
      // A pooler would go on with sessions of those before.
      if (!poolerUrl && (await isEmptied(() => empty(name)))) kept.push(name);
      else await onServer((client) => client.query(`drop database if exists ${name} with (force)`));
    },
  };
}

async function make(): Promise<string> {
  const name = `test_${crypto.randomUUID().replaceAll('-', '')}`;
  const { template } = inject('postgres');
  await onServer((client) => client.query(`create database ${name} template ${template}`));
  return name;
}

function empty(name: string): Promise<boolean> {
  return onServer(async (client) => {
    // Of processes that a test has killed, which hold locks for a while.
    await client.query(
      `select pg_terminate_backend(pid) from pg_stat_activity
       where datname = current_database() and pid <> pg_backend_pid()`,
    );
    return await emptyDatabase(client);
  }, name);
}

async function onServer<T>(
  work: (client: pg.Client) => Promise<T>,
  database = 'postgres',
): Promise<T> {
  const client = new pg.Client(`${inject('postgres').serverUrl}/${database}`);
  // It is ended where emptying takes too long.
  client.on('error', () => {});
  await client.connect();
  try {
    return await work(client);
  } finally {
    await client.end();
  }
}
