/**
 * Prepares an installation that writes to a sandbox which outlives the servers, and starts servers that will
 * be killed.
 */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { inject, onTestFinished } from 'vitest';
import { readConfig } from '../../../src/config.ts';
import { type Database, openDatabase } from '../../../src/database/database.ts';
import { createLog } from '../../../src/log.ts';
import { createSandboxProvider } from '../../../src/providers/sandbox/sandbox-provider.ts';
import { testApp, testDatabase } from '../../support/app.ts';
import { fillDataFolder } from '../../support/database/data-folder.ts';
import { createWriter } from '../../support/fixtures/writes.ts';
import { createClient, type GraphqlClient } from '../../support/graphql-client.ts';
import { PROCESS_ENV } from '../../support/process/process-env.ts';
import { startSandbox, type TestSandbox } from '../../support/providers/sandbox.ts';

export interface Scene {
  sandbox: TestSandbox;
  env: Record<string, string>;
  apiKey: string;
  projectIdOrName: string;
  /**
   * Returns variables that create a deal. Only an idempotency key prevents a second deal with the same name.
   */
  input(name: string, overrides?: object): { input: object };
}

export interface Server {
  client: GraphqlClient;
  child: ChildProcess;
  url: string;
  kill(): Promise<void>;
}

/** The contents of the integration and of the installation's config. */
interface Members {
  content: object;
  config: object;
}

const DEALS = [{ objectName: 'deals' }];
const WRITES_DEALS: Members = { content: { write: { objects: DEALS } }, config: { write: DEALS } };

/** On PostgreSQL, the test keeps the database open. An embedded database can be open in only one process. */
export async function prepareOnPostgres(
  members: Members = WRITES_DEALS,
): Promise<Scene & { database: Database }> {
  const database = await testDatabase();
  const [{ name }] = await database.prisma.$queryRaw<[{ name: string }]>`
    select current_database() as "name"`;
  const env = { DATABASE_URL: `${inject('postgres').serverUrl}/${name}` };
  const kept = { ...database, [Symbol.asyncDispose]: async () => {} };
  const scene = await prepare(env, members, async () => kept);
  onTestFinished(() => database[Symbol.asyncDispose]());
  return { ...scene, database };
}

export function prepareEmbedded(members: Members = WRITES_DEALS): Promise<Scene> {
  return prepare({}, members, (env) => {
    const config = readConfig(env);
    fillDataFolder(config.DATA_DIR);
    return openDatabase(config, createLog('silent'));
  });
}

async function prepare(
  overrides: Record<string, string>,
  members: Members,
  open: (env: Record<string, string>) => Promise<Database>,
): Promise<Scene> {
  const folder = mkdtempSync(join(tmpdir(), 'gateway-writes-'));
  const sandbox = await startSandbox();
  onTestFinished(async () => {
    await sandbox[Symbol.asyncDispose]();
    rmSync(folder, { recursive: true, force: true });
  });
  const env = {
    DATA_DIR: join(folder, 'data'),
    PORT: '0',
    DEMO: 'false',
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
    ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    SANDBOX_URL: sandbox.url,
    ...overrides,
  };
  const providers = [createSandboxProvider(() => sandbox.url)];
  await using app = await testApp({ env, providers, database: await open(env) });
  const writer = await createWriter(app, members);
  return {
    sandbox,
    env,
    apiKey: writer.apiKey,
    projectIdOrName: writer.projectId,
    input: (name, more) =>
      writer.input({ objectName: 'deals', record: { name }, mode: 'ASYNCHRONOUS', ...more }),
  };
}

/** Starts a server and waits until it is ready. */
export async function startServer({ env, apiKey }: Scene): Promise<Server> {
  const child = fork(join(import.meta.dirname, 'write-process.ts'), {
    env: { ...PROCESS_ENV, ...env },
    execArgv: [],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const exited = once(child, 'exit');
  const [url] = await Promise.race([once(child, 'message'), exited]);
  if (typeof url !== 'string') throw new Error(`The server exited before it was ready: ${url}`);
  const fetchHere = (path: string, init?: RequestInit) => fetch(url + path, init);
  return {
    child,
    url,
    client: createClient(fetchHere, { 'x-api-key': apiKey }),
    async kill() {
      child.kill('SIGKILL');
      await exited;
    },
  };
}
