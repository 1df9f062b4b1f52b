import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { inject, onTestFinished } from 'vitest';
import { Prisma } from '../../../src/database/generated/client.ts';
import type { Database } from '../../../src/database/open/database.ts';
import { openDatabase } from '../../../src/database/open/open-database.ts';
import { createLog } from '../../../src/kernel/log.ts';
import { readConfig } from '../../../src/settings/config.ts';
import { createTestApp, onPostgres, type TestApp } from '../app.ts';
import { fillDataFolder } from '../database/data-folder.ts';
import { asTestApp, asTestDatabase } from '../database/test-statements.ts';
import { ENCRYPTION_KEY } from '../process/encryption-key.ts';

export const GATEWAY_ENV = {
  ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
  DEMO: 'false',
  SANDBOX: 'true',
};

/** Environment variables that name a server's database. */
export type DatabaseEnv = Record<string, string>;

/** Returns an empty folder. It is removed when the test ends. */
export function createFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-copies-'));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

/** Creates an empty database on the run's PostgreSQL, and returns its URL. */
export async function createPostgresDatabase(): Promise<string> {
  const { serverUrl } = inject('postgres');
  const name = `copy_${crypto.randomUUID().replaceAll('-', '')}`;
  const runStatement = async (statement: string) => {
    const client = new pg.Client({ connectionString: `${serverUrl}/postgres` });
    await client.connect();
    await client.query(statement);
    await client.end();
  };
  await runStatement(`create database ${name}`);
  onTestFinished(() => runStatement(`drop database if exists ${name} with (force)`));
  return `${serverUrl}/${name}`;
}

/** Copies a migrated, empty embedded database to a folder. Migrating a new one takes much longer. */
export function createEmbeddedDatabase(): { DATA_DIR: string } {
  const DATA_DIR = createFolder();
  fillDataFolder(DATA_DIR);
  return { DATA_DIR };
}

/** Creates an empty database of the kind that this run tests. */
export async function createEmptyDatabase(): Promise<DatabaseEnv> {
  if (!onPostgres) return createEmbeddedDatabase();
  const DATA_DIR = createFolder();
  return { DATA_DIR, DATABASE_URL: await createPostgresDatabase(), ENCRYPTION_KEY };
}

/** Starts a gateway on the database, with its background work. */
export async function startGateway(
  databaseEnv: DatabaseEnv,
  env: Record<string, string> = {},
): Promise<TestApp> {
  const allEnv = { ...GATEWAY_ENV, ...databaseEnv, ...env };
  const database = await openDatabase(readConfig(allEnv), createLog('silent'));
  const app = await createTestApp({ env: allEnv, database });
  await app.app.start();
  return { ...app, app: asTestApp(app.app) };
}

/** Tables that copies omit, because they describe running servers or have short-lived rows. */
const SERVER_TABLES: Prisma.ModelName[] = [
  'ServerProcess',
  'SandboxLease',
  'CallerRate',
  'ConsoleSession',
];

/** Returns all rows of all copied tables as JSON texts. */
export async function readRows({ prisma }: Database): Promise<Record<string, string[]>> {
  const tables = Object.values(Prisma.ModelName).filter((name) => !SERVER_TABLES.includes(name));
  const content: Record<string, string[]> = {};
  for (const table of tables) {
    const rows = await prisma.$queryRawUnsafe<{ row: string }[]>(
      `select to_jsonb(t)::text as "row" from "${table}" t order by 1`,
    );
    content[table] = rows.map(({ row }) => row);
  }
  return content;
}

/** Returns all rows of a database on which no gateway runs, after `change`. */
export async function openAndReadRows(
  databaseEnv: DatabaseEnv,
  change: (database: Database) => Promise<void> = async () => {},
): Promise<Record<string, string[]>> {
  await using opened = await openDatabase(
    readConfig({ ...GATEWAY_ENV, ...databaseEnv }),
    createLog('silent'),
  );
  const database = asTestDatabase(opened);
  await change(database);
  return await readRows(database);
}
