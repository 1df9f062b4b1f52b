/** Creates databases with the project's own migrations. A filled database is kept for runs with the same sizes and seed. */
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { openDatabase } from '../src/database/open/open-database.ts';
import {
  createKeyValue,
  getKeyPrefix,
  hashKey,
} from '../src/domain/access/viewer/key/api-key-value.ts';
import { newId } from '../src/kernel/ids.ts';
import { createLog } from '../src/kernel/log.ts';
import { readConfig } from '../src/settings/config.ts';
import { ENCRYPTION_KEY, fillDatabase, PROJECT_NAME, type Sizes } from './fill.ts';
import type { Postgres } from './postgres.ts';
import { waitUntil } from './wait-until.ts';

export interface FilledDatabase {
  url: string;
  projectId: string;
  /** An API key with every scope, for the measured project. */
  apiKey: string;
}

export const KEY_TEXT = ENCRYPTION_KEY.toString('base64');

/** Returns the database for these sizes and this seed. Creates it if no earlier run did. */
export async function createFilledDatabase(
  servers: Postgres,
  sizes: Sizes,
  seed: number,
): Promise<FilledDatabase> {
  const { operations, connections, events } = sizes;
  const { length: serverCount } = servers.urls;
  const prefix = `bench_on_${serverCount}_${operations}_${connections}_${events}_${seed}_`;
  const name = `${prefix}${hashMigrations()}`;
  const url = servers.toUrl(name);
  await using admin = await connect(servers.toUrl('postgres'));
  if (!(await hasDatabase(admin.client, name))) {
    console.error(`Filling ${operations} operations and ${connections} connections …`);
    // Drops databases with other migrations, and databases that an earlier run did not finish.
    for (const server of servers.urls) await dropDatabases(server, prefix);
    const unfinishedName = `${name}_unfinished`;
    const unfinishedUrl = servers.toUrl(unfinishedName);
    await createMigratedDatabase(servers, unfinishedName);
    await usingClient(unfinishedUrl, (clientA) =>
      usingClient(unfinishedUrl, (clientB) => fillDatabase([clientA, clientB], sizes, seed)),
    );
    await admin.client.query(`alter database ${unfinishedName} rename to ${name}`);
    await servers.distribute(name);
  }
  return { url, ...(await addApiKey(url)) };
}

async function hasDatabase(admin: pg.Client, name: string): Promise<boolean> {
  const { rowCount } = await admin.query('select 1 from pg_database where datname = $1', [name]);
  return rowCount === 1;
}

/** Drops all databases whose names begin with the prefix. */
async function dropDatabases(server: string, prefix: string): Promise<void> {
  await usingClient(`${server}/postgres`, async (admin) => {
    const { rows } = await admin.query<{ datname: string }>(
      'select datname from pg_database where starts_with(datname, $1)',
      [prefix],
    );
    for (const { datname } of rows) await admin.query(`drop database ${datname} with (force)`);
  });
}

const MIGRATIONS = join(import.meta.dirname, '..', 'migrations');

/** Returns a hash of the migrations. A kept database is reused only with the same migrations. */
function hashMigrations(): string {
  const hash = createHash('sha256');
  for (const name of readdirSync(MIGRATIONS, { recursive: true, encoding: 'utf8' }).sort()) {
    if (name.endsWith('.sql')) hash.update(name).update(readFileSync(join(MIGRATIONS, name)));
  }
  return hash.digest('hex').slice(0, 8);
}

/** Creates a migrated, empty database. First drops the databases whose names begin with `name`. */
export async function createEmptyDatabase(servers: Postgres, name: string): Promise<string> {
  for (const server of servers.urls) await dropDatabases(server, name);
  await createMigratedDatabase(servers, name);
  await servers.distribute(name);
  return servers.toUrl(name);
}

const TEMPLATE_PREFIX = 'bench_template_';

/** Creates a migrated, empty database as a copy of a template, which takes less time than migrating it. */
async function createMigratedDatabase(servers: Postgres, name: string): Promise<void> {
  const template = `${TEMPLATE_PREFIX}${hashMigrations()}`;
  await using admin = await connect(servers.toUrl('postgres'));
  if (!(await hasDatabase(admin.client, template))) {
    await dropDatabases(servers.urls[0], TEMPLATE_PREFIX);
    await admin.client.query(`create database ${template}`);
  }
  // Completes the migrations if an earlier run did not finish.
  await migrate(servers.toUrl(template));
  await admin.client.query(`create database ${name} template ${template}`);
}

async function migrate(url: string): Promise<void> {
  const config = readConfig({ DATABASE_URL: url, ENCRYPTION_KEY: KEY_TEXT });
  await using _database = await openDatabase(config, createLog('error'));
}

async function addApiKey(url: string): Promise<Pick<FilledDatabase, 'projectId' | 'apiKey'>> {
  return usingClient(url, async (client) => {
    const { apiKey, statements } = createApiKey();
    for (const { text, values } of statements) await client.query(text, values);
    const { rows } = await client.query<{ id: string }>(FIND_PROJECT, [PROJECT_NAME]);
    return { projectId: rows[0]!.id, apiKey };
  });
}

const FIND_PROJECT = 'select id from "Project" where name = $1';

/**
 * Returns a key and the statements that store it. The statements delete other keys, so that every run starts with the
 * same rows.
 */
export function createApiKey() {
  const apiKey = createKeyValue();
  const text = `insert into "ApiKey" (id, "projectId", label, scopes, prefix, hash)
    select $1, id, 'bench', array['full'], $3, $4 from "Project" where name = $2`;
  const values = [newId('key'), PROJECT_NAME, getKeyPrefix(apiKey), hashKey(apiKey)];
  return {
    apiKey,
    statements: [
      { text: 'truncate "ApiKey"', values: [] },
      { text, values },
    ],
  };
}

/** The maximum time that a run waits for its pending deliveries. */
const DELIVERIES_TIMEOUT_MS = 120_000;

/** Waits until the pending deliveries are sent. */
export function waitForDeliveries(client: pg.Client): Promise<void> {
  return waitUntil(
    async () => {
      const { rows } = await client.query(
        `select 1 from "Delivery" where "nextAttemptTime" is not null limit 1`,
      );
      return rows.length === 0;
    },
    { pollMs: 20, timeoutMs: DELIVERIES_TIMEOUT_MS, subject: 'Pending deliveries' },
  );
}

/** Delays every commit of the server, as a slow disk or a synchronous standby does. */
export async function delayCommits(client: pg.Client, ms: number): Promise<void> {
  await client.query(`alter system set commit_delay = ${ms * 1_000}`);
  await client.query('alter system set commit_siblings = 0');
  await client.query('select pg_reload_conf()');
}

export async function usingClient<T>(url: string, use: (client: pg.Client) => Promise<T>) {
  await using connection = await connect(url);
  return await use(connection.client);
}

async function connect(url: string): Promise<{ client: pg.Client } & AsyncDisposable> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  return { client, [Symbol.asyncDispose]: () => client.end() };
}
