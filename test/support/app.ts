/**
 * Starts the real app on its own database, for one test or for all tests of a file. The app opens a port with
 * its first request.
 */

import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, vi } from 'vitest';
import { type App, createApp, type Overrides } from '../../src/app.ts';
import type { Database } from '../../src/database/open/database.ts';
import { openDatabase } from '../../src/database/open/open-database.ts';
import { openEngine } from '../../src/database/open/open-embedded.ts';
import { createLog, type Log } from '../../src/kernel/log.ts';
import { type Meters, NO_METERS } from '../../src/kernel/meters.ts';
import { readConfig } from '../../src/settings/config.ts';
import { acquireEngine, borrowDatabase } from './database/embedded/embedded-databases.ts';
import { acquirePostgres } from './database/postgres-databases.ts';
import { Releasable } from './database/releasable.ts';
import { asTestApp, asTestDatabase } from './database/test-statements.ts';
import { createTenant, type Tenant } from './fixtures/tenant.ts';
import { createClient, type GraphqlClient, type GraphqlResponse } from './graphql-client.ts';
import { registerOpenApp, unregisterApp } from './open-apps.ts';
import { ENCRYPTION_KEY } from './process/encryption-key.ts';
import { testLog } from './process/test-log.ts';
import { type Served, serve } from './wire/serve.ts';

export type { GraphqlResponse, Tenant };

export interface TestApp extends AsyncDisposable {
  app: App;
  /** Creates an org with a builder, and a project with an API key that has every scope. */
  createTenant(name?: string): Promise<Tenant>;
  /** Returns a GraphQL client that sends these headers with each request. Default of the path: `/graphql`. */
  createClient(headers?: Record<string, string>, path?: string): GraphqlClient;
  fetch(path: string, init?: RequestInit): Promise<Response>;
}

interface TestOptions extends Overrides {
  /** Environment variables, in addition to the defaults of tests. Undefined unsets a default. */
  env?: Record<string, string | undefined>;
}

/** Rate limits that the tests of a file do not reach. */
export const HIGH_RATE_LIMITS = { RATE_LIMIT_PER_SECOND: '100000', RATE_LIMIT_BURST: '100000' };

/** Requests of a slow machine wait and run for many seconds. */
const PATIENT_LIMITS = { LIMIT_TURN_MS: '60000', LIMIT_QUERY_MS: '60000' };

export const onCitus = process.env.TEST_DATABASE === 'citus';
export const onPostgres = process.env.TEST_DATABASE === 'postgres' || onCitus;

export function createTestApp(options?: TestOptions): Promise<TestApp> {
  return openTestApp(options);
}

async function openTestApp(
  { env = {}, ...overrides }: TestOptions = {},
  releasable?: Releasable,
): Promise<TestApp> {
  const dataDir = mkdtempSync(join(tmpdir(), 'gateway-test-'));
  const log = overrides.log ?? testLog;
  const config = readConfig({
    DATA_DIR: dataDir,
    PORT: '0',
    DEMO: 'false',
    SANDBOX: 'true',
    ...PATIENT_LIMITS,
    ...env,
  });
  const database = overrides.database ?? (await openAppDatabase(overrides.log));
  const createdApp = await createApp(config, { ...overrides, log, database });
  // Statements on a database that the test opened itself are not checked for the project.
  const app = overrides.database ? createdApp : asTestApp(createdApp, releasable);
  let listening: Promise<Served> | undefined;
  const fetch = async (path: string, init?: RequestInit) => {
    listening ??= serve(app.handler);
    const { url } = await listening;
    return globalThis.fetch(`${url}${path}`, { redirect: 'manual', ...init });
  };
  const host = {
    app,
    createClient: (headers: Record<string, string> = {}, path?: string) =>
      createClient(fetch, headers, path),
  };
  registerOpenApp(app);
  return {
    ...host,
    fetch,
    createTenant: (name) => createTenant(host, name),
    async [Symbol.asyncDispose]() {
      unregisterApp(app);
      await (await listening)?.stop();
      listening = undefined;
      await app[Symbol.asyncDispose]();
      rmSync(dataDir, { recursive: true, force: true });
    },
  };
}

/**
 * Returns one app for all tests of a file. Each test creates its own tenants, which cannot see each other's
 * rows. The app can't be used after the file.
 */
export async function getSharedApp(options?: TestOptions): Promise<TestApp> {
  const releasable = new Releasable();
  const app = await openTestApp(options, releasable);
  afterAll(async () => {
    await app[Symbol.asyncDispose]();
    // Vitest would restore spies on the app later.
    vi.restoreAllMocks();
    releasable.release();
  });
  return app;
}

/** Returns a database that stays open when an app on it ends. */
export function keepOpen(database: Database): Database {
  return { ...database, [Symbol.asyncDispose]: async () => {} };
}

/** Opens a migrated, empty database of the kind that this run tests. */
export async function createTestDatabase(
  log: Log = createLog('silent'),
  meters: Meters = NO_METERS,
): Promise<Database> {
  return asTestDatabase(await openTestDatabase(log, meters));
}

function openAppDatabase(log?: Log): Promise<Database> {
  if (onPostgres || log) return openTestDatabase(log ?? testLog, NO_METERS);
  return borrowDatabase();
}

function openTestDatabase(log: Log, meters: Meters): Promise<Database> {
  return onPostgres ? openPostgresDatabase(log, meters) : openEmbeddedDatabase(log, meters);
}

async function openEmbeddedDatabase(log: Log, meters: Meters): Promise<Database> {
  return openEngine(await acquireEngine(), log, meters);
}

async function openPostgresDatabase(log: Log, meters: Meters): Promise<Database> {
  const acquired = await acquirePostgres();
  const config = readConfig({
    ...acquired.env,
    DATABASE_POOL_SIZE: '8',
    ENCRYPTION_KEY,
  });
  const database = await openDatabase(config, log, meters);
  return {
    ...database,
    async [Symbol.asyncDispose]() {
      await database[Symbol.asyncDispose]();
      await acquired[Symbol.asyncDispose]();
    },
  };
}
