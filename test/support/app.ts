/** The real app on a database of its own, behind a port that is opened with its first request. */
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll } from 'vitest';
import { type App, createApp, type Overrides } from '../../src/app.ts';
import { readConfig } from '../../src/config.ts';
import { type Database, openDatabase, openEngine } from '../../src/database/database.ts';
import { createLog, type Log } from '../../src/log.ts';
import { type Meters, NO_METERS } from '../../src/meters.ts';
import { lendEngine } from './database/embedded/embedded-databases.ts';
import { lendPostgres } from './database/postgres-databases.ts';
import { heldByTests, ofTests } from './database/tests-own.ts';
import { type Answer, createClient, type GraphqlClient } from './graphql-client.ts';
import { noteClosed, noteOpen } from './open-apps.ts';
import { createTenant, type Tenant } from './scenes/tenant.ts';
import { type Served, serve } from './wire/serve.ts';

export type { Answer, Tenant };

export interface TestApp extends AsyncDisposable {
  app: App;
  /** A new org with a builder and a project with an API key of every scope. */
  tenant(name?: string): Promise<Tenant>;
  /** GraphQL with these headers. */
  client(headers?: Record<string, string>): GraphqlClient;
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

export interface TestOptions extends Overrides {
  /** Environment variables beside the defaults of tests. */
  env?: Record<string, string>;
}

export const onCitus = process.env.TEST_DATABASE === 'citus';
export const onPostgres = process.env.TEST_DATABASE === 'postgres' || onCitus;

export async function testApp({ env = {}, ...overrides }: TestOptions = {}): Promise<TestApp> {
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-test-'));
  const log = overrides.log ?? createLog('error');
  const config = readConfig({ DATA_DIR: dataDir, PORT: '0', DEMO: 'false', ...env });
  const database = overrides.database ?? (await openTestDatabase(log, NO_METERS));
  const made = await createApp(config, { ...overrides, log, database });
  // A database that a test has made is its own as it is.
  const app = overrides.database ? made : heldByTests(made);
  let listening: Promise<Served> | undefined;
  const fetch = async (path: string, init?: RequestInit) => {
    listening ??= serve(app.handler);
    const { url } = await listening;
    return globalThis.fetch(`${url}${path}`, { redirect: 'manual', ...init });
  };
  const client = (headers: Record<string, string> = {}) => createClient(fetch, headers);
  noteOpen(app);
  return {
    app,
    fetch,
    client,
    tenant: (name) => createTenant({ app, client }, name),
    async [Symbol.asyncDispose]() {
      noteClosed(app);
      await (await listening)?.stop();
      await app[Symbol.asyncDispose]();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/** One app for all tests of a file: each test makes tenants of its own, which see nothing of each other. */
export async function sharedApp(options?: TestOptions): Promise<TestApp> {
  const app = await testApp(options);
  afterAll(() => app[Symbol.asyncDispose]());
  return app;
}

/** A migrated, empty database of the kind that this run tests. */
export async function testDatabase(
  log: Log = createLog('silent'),
  meters: Meters = NO_METERS,
): Promise<Database> {
  return ofTests(await openTestDatabase(log, meters));
}

function openTestDatabase(log: Log, meters: Meters): Promise<Database> {
  return onPostgres ? postgresDatabase(log, meters) : embeddedDatabase(log, meters);
}

async function embeddedDatabase(log: Log, meters: Meters): Promise<Database> {
  return openEngine(await lendEngine(), log, meters);
}

async function postgresDatabase(log: Log, meters: Meters): Promise<Database> {
  const lent = await lendPostgres();
  const config = readConfig({
    ...lent.env,
    DATABASE_POOL_SIZE: '8',
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
  });
  const database = await openDatabase(config, log, meters);
  return {
    ...database,
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]();
      await lent[Symbol.asyncDispose]();
    },
  };
}
