/**
 * The first migration replaces those from before the first release. `support/backup/development-state` has the schema, a
 * data folder and a backup of the last commit before it, with the rows of a demo.
 *
 * @module-tag all/rows
 */
import { execFileSync } from 'node:child_process';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { constants, zstdCompressSync, zstdDecompressSync } from 'node:zlib';
import pg from 'pg';
import { expect, test } from 'vitest';
import { LAST_DEVELOPMENT_COMMIT } from '../../../src/database/migrate/development-history.ts';
import { findNotice, listMigrations } from '../../../src/database/migrate/migrate.ts';
import { openDatabase } from '../../../src/database/open/open-database.ts';
import { createLog } from '../../../src/kernel/log.ts';
import { readConfig } from '../../../src/settings/config.ts';
import { onPostgres, type TestApp } from '../../support/app.ts';
import {
  createEmptyDatabase,
  createFolder,
  createPostgresDatabase,
  type DatabaseEnv,
  GATEWAY_ENV,
  startGateway,
} from '../../support/backup/copied-databases.ts';
import { openUnmigratedPglite } from '../../support/database/embedded/embedded-databases.ts';
import { queryRows } from '../../support/database/query.ts';
import { dumpSchema } from '../../support/database/schema-dump.ts';
import { asTestDatabase } from '../../support/database/test-statements.ts';
import { createClient } from '../../support/graphql-client.ts';
import { runCommandInProcess } from '../../support/process/run-command.ts';

const STATE = join(import.meta.dirname, '../../support/backup/development-state');
const BACKUP = join(STATE, 'backup');
const PASSPHRASE_ENV = { BACKUP_PASSPHRASE: 'correct horse battery' };
/** A key of the project in the data folder and in the backup. It is valid nowhere else. */
const API_KEY = 'ik_gJItCQ6Qm7kAaRubeOeediEmIM4xuJJxPV3ldXaNTaY2ZOrbc';
const TIMEOUT = { timeout: 120_000 };

const [firstMigration] = listMigrations();
if (!firstMigration) throw new Error('There are no migrations.');
const { name, sql } = firstMigration;

function decompress(path: string): Buffer {
  const params = { [constants.ZSTD_d_windowLogMax]: 27 };
  return zstdDecompressSync(readFileSync(path), { params });
}

/** Opens a database without tables. */
async function openEmpty() {
  if (!onPostgres) {
    const pglite = await openUnmigratedPglite();
    return {
      query: (text: string, values?: unknown[]) => pglite.query(text, values),
      exec: (text: string) => pglite.exec(text),
      end: () => pglite.close(),
    };
  }
  const client = new pg.Client({ connectionString: await createPostgresDatabase() });
  await client.connect();
  const query = (text: string, values?: unknown[]) => client.query(text, values);
  return { query, exec: (text: string) => client.query(text), end: () => client.end() };
}

test('creates the schema that the replaced migrations created', async () => {
  const database = await openEmpty();
  await database.exec(sql);
  const lines = await dumpSchema((text) => database.query(text) as never);
  await database.end();
  expect(lines).toEqual(JSON.parse(decompress(join(STATE, 'schema.json.zst')).toString()));
});

test('estimates how long a migration of a filled table takes', async () => {
  const database = await openEmpty();
  await database.exec(sql);
  await database.exec(`insert into "Org" ("id", "label") values ('a', ''), ('b', ''); analyze`);
  const findSqlNotice = (text: string) => findNotice(database as never, text);
  expect(await findSqlNotice('CREATE INDEX "Org_label_idx" ON "Org"("label")')).toEqual({
    rows: 2,
    bytes: expect.any(Number),
    mayTakeSeconds: 1,
  });
  expect(await findSqlNotice('ALTER TABLE "Org" ADD COLUMN "note" TEXT')).toBeNull();
  await database.end();
});

/** Tests that the gateway answers with the rows of the development version, and stores its history as the first migration. */
async function expectRows(gateway: TestApp): Promise<void> {
  const client = createClient(gateway.fetch, { 'x-api-key': API_KEY });
  const { project } = await client.query(`{
    project {
      name
      integrations(first: 10) { nodes { name } }
      installations(first: 10) { nodes { group { groupRef } } }
      groups(first: 10, search: "glob") { nodes { groupRef } }
    }
  }`);
  expect(project).toEqual({
    name: 'demo',
    integrations: { nodes: [{ name: 'crm-sync' }, { name: 'desk-sync' }] },
    installations: {
      nodes: ['acme', 'globex', 'initech'].map((groupRef) => ({ group: { groupRef } })),
    },
    groups: { nodes: [{ groupRef: 'globex' }] },
  });
  const { database } = gateway.app.services;
  const history = await queryRows(database, 'select migration_name from "_prisma_migrations"', []);
  expect(history[0]).toEqual({ migration_name: name });
  expect(history).toHaveLength(listMigrations().length);
}

test.skipIf(onPostgres)(
  'starts with a data folder of the last development version',
  TIMEOUT,
  async () => {
    const DATA_DIR = createFolder();
    const input = decompress(join(STATE, 'data-folder.tar.zst'));
    execFileSync('tar', ['-xf', '-', '-C', DATA_DIR], { input });
    await using gateway = await startGateway({ DATA_DIR });
    await expectRows(gateway);
  },
);

test('restores a backup of the last development version', TIMEOUT, async () => {
  // An empty embedded database of the tests already has all tables.
  const env = onPostgres ? await createEmptyDatabase() : { DATA_DIR: createFolder() };
  const result = await runCommandInProcess('restore', [BACKUP], { ...env, ...PASSPHRASE_ENV });
  expect(result).toMatchObject({ code: 0 });
  // With PostgreSQL, the server reads the key from the environment.
  const key = readFileSync(join(env.DATA_DIR ?? '', 'encryption-keys'), 'utf8').trim();
  await using gateway = await startGateway({ ...env, ...(onPostgres && { ENCRYPTION_KEY: key }) });
  await expectRows(gateway);
});

const OLDER_MIGRATION = '20261128230820_custom_providers';

test('refuses an older database, and names the commit to start first', TIMEOUT, async () => {
  const env = await createEmptyDatabase();
  const open = (databaseEnv: DatabaseEnv) =>
    openDatabase(readConfig({ ...GATEWAY_ENV, ...databaseEnv }), createLog('silent'));
  {
    await using opened = await open(env);
    const update = `update "_prisma_migrations" set "migration_name" = '${OLDER_MIGRATION}'`;
    await queryRows(asTestDatabase(opened), update, []);
  }
  await expect(open(env)).rejects.toThrow(LAST_DEVELOPMENT_COMMIT);
});

test('refuses to restore an older backup into a database with newer tables', TIMEOUT, async () => {
  const env = await createEmptyDatabase();
  const config = readConfig({ ...GATEWAY_ENV, ...env });
  await (await openDatabase(config, createLog('silent')))[Symbol.asyncDispose]();
  const { code, output } = await runCommandInProcess('restore', [BACKUP], {
    ...env,
    ...PASSPHRASE_ENV,
  });
  expect(code).toBe(1);
  expect(output).toContain('Name a database in which no gateway has run.');
});

test('refuses an older backup, and names the commit to start first', TIMEOUT, async () => {
  const [head = '', ...rows] = decompress(BACKUP).toString().split('\n');
  const file = join(createFolder(), 'backup');
  const olderHead = JSON.stringify({ ...JSON.parse(head), migrations: [OLDER_MIGRATION] });
  writeFileSync(file, zstdCompressSync([olderHead, ...rows].join('\n')));
  const env = await createEmptyDatabase();
  const { code, output } = await runCommandInProcess('restore', [file], {
    ...env,
    ...PASSPHRASE_ENV,
  });
  expect(code).toBe(1);
  expect(output).toContain(LAST_DEVELOPMENT_COMMIT);
});
