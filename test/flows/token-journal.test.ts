import { existsSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, expect, onTestFinished, test } from 'vitest';
import type { Database } from '../../src/database/open/database.ts';
import { STORE_TOKENS } from '../../src/database/statements/hot/store-tokens.ts';
import { createLog, type Log } from '../../src/kernel/log.ts';
import { createSandboxProvider } from '../../src/providers/sandbox/sandbox-provider.ts';
import { createTestApp, getSharedApp, keepOpen } from '../support/app.ts';
import { generateConnection, recordEvents } from '../support/fixtures/connections.ts';
import {
  callSandbox,
  connectWithTokens,
  getConnection,
  readStoredCredentials,
} from '../support/providers/oauth.ts';

const ENCRYPTION_KEY = Buffer.alloc(32, 9).toString('base64');
const app = await getSharedApp({ env: { ENCRYPTION_KEY } });
const { database } = app.app.services;
const { sandbox } = app.app;

const dataDir = mkdtempSync(join(tmpdir(), 'gateway-journal-'));
const journalFolder = join(dataDir, 'token-journal');
afterAll(() => rmSync(dataDir, { recursive: true, force: true }));

/** Starts a server with the same database, sandbox and data folder. */
function startServer(database: Database, log?: Log) {
  return createTestApp({
    log,
    env: { ENCRYPTION_KEY, DATA_DIR: dataDir, ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
    database: keepOpen(database),
    providers: [createSandboxProvider(() => sandbox.url)],
  });
}

/** Returns a database that never stores a refresh, so that the refresh lasts until the process ends. */
function hangTokenStorage({ runShared, ...rest }: Database): Database {
  const run: Database['runShared'] = (change, item) =>
    change.text === STORE_TOKENS.text ? new Promise(() => {}) : runShared(change, item);
  return { ...rest, runShared: run };
}

/** Refreshes the connection's token on a server that ends before it has stored the token. */
async function crashBeforeCommit(connection: Parameters<typeof callSandbox>[1]) {
  const crashingServer = await startServer(hangTokenStorage(database));
  void callSandbox(crashingServer, connection);
  await expect.poll(() => readdirSync(journalFolder)).toEqual([`${connection.id}.json`]);
  await crashingServer[Symbol.asyncDispose]();
}

/** Returns a database that refuses new tokens while `isAway` returns true. */
function failTokenStorage(
  { runShared, ...rest }: Database,
  isUnavailable: () => boolean,
): Database {
  const run: Database['runShared'] = async (change, item) => {
    if (change.text === STORE_TOKENS.text && isUnavailable())
      throw new Error('The database is not available.');
    return runShared(change, item);
  };
  return { ...rest, runShared: run };
}

test('stores a token when the database recovers, before any process uses the old token', async () => {
  const connection = await connectWithTokens(app, await app.createTenant());
  const counts = { ...sandbox.oauth.counts };
  let isUnavailable = true;
  await using waitingServer = await startServer(
    failTokenStorage(database, () => isUnavailable),
    createLog('silent'),
  );
  await expect(callSandbox(waitingServer, connection)).rejects.toThrow(
    'The database is not available.',
  );
  expect(readdirSync(journalFolder)).toEqual([`${connection.id}.json`]);
  // This app has another data folder, so it cannot read the journal.
  const pendingCall = callSandbox(app, connection);
  isUnavailable = false;
  expect((await pendingCall).status).toBe(200);
  expect(readdirSync(journalFolder)).toEqual([]);
  expect(sandbox.oauth.counts).toMatchObject({
    refreshed: counts.refreshed + 1,
    reuseRefused: counts.reuseRefused,
  });
});

test('stores at the next start a token that was received before a crash', async () => {
  const tenant = await app.createTenant();
  const connection = await connectWithTokens(app, tenant);
  const credentialsBefore = await readStoredCredentials(app, connection);
  const counts = { ...sandbox.oauth.counts };
  await crashBeforeCommit(connection);
  expect(await readStoredCredentials(app, connection)).toEqual(credentialsBefore);
  expect(readFileSync(join(journalFolder, `${connection.id}.json`), 'utf8')).not.toContain('sbx_');

  const listEvents = await recordEvents(app, tenant);
  await using restarted = await startServer(database);
  expect(readdirSync(journalFolder)).toEqual([]);
  expect(await getConnection(app, connection.id)).toMatchObject({
    status: 'CREATED',
    refreshLeaseToken: null,
  });
  expect(await listEvents()).toMatchObject([{ eventType: 'CONNECTION_REFRESHED' }]);
  expect((await callSandbox(restarted, connection)).status).toBe(200);
  expect(sandbox.oauth.counts).toMatchObject({
    refreshed: counts.refreshed + 1,
    reuseRefused: counts.reuseRefused,
  });
});

test('replaces no newer credentials with a token from the journal', async () => {
  const tenant = await app.createTenant();
  const connection = await connectWithTokens(app, tenant);
  await crashBeforeCommit(connection);
  await generateConnection(tenant, { apiKey: 'sandbox-key' });
  await using _restarted = await startServer(database);
  expect(readdirSync(journalFolder)).toEqual([]);
  expect(await readStoredCredentials(app, connection)).toMatchObject({ apiKey: 'sandbox-key' });
});

test('removes a token of a deleted connection from the journal', async () => {
  const connection = await connectWithTokens(app, await app.createTenant());
  await crashBeforeCommit(connection);
  await database.prisma.connection.deleteMany({ where: { id: connection.id } });
  await using _restarted = await startServer(database);
  expect(readdirSync(journalFolder)).toEqual([]);
});

test('keeps an unreadable file in the journal, and starts', async () => {
  const connection = await connectWithTokens(app, await app.createTenant());
  await crashBeforeCommit(connection);
  const path = join(journalFolder, `${connection.id}.json`);
  onTestFinished(() => rmSync(path));
  writeFileSync(path, readFileSync(path, 'utf8').slice(0, 40));
  await using _restarted = await startServer(database, createLog('silent'));
  expect(existsSync(path)).toBe(true);
});
