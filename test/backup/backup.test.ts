/**
 * A backup is complete or absent. A restored gateway repeats nothing automatically, and a failed restore leaves
 * nothing behind.
 *
 * @module-tag all/process
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { onPostgres } from '../support/app.ts';
import {
  createEmbeddedDatabase,
  createEmptyDatabase,
  createFolder,
  type DatabaseEnv,
  GATEWAY_ENV,
  openAndReadRows,
  readRows,
  startGateway,
} from '../support/backup/copied-databases.ts';
import {
  connectGroup,
  createPendingDelivery,
  LIST_DELIVERIES,
  LIST_EVENTS,
  LIST_SEALED_VALUES,
  SEALED_TARGET,
} from '../support/backup/pending-delivery.ts';
import { createClient } from '../support/graphql-client.ts';
import { PROCESS_ENV } from '../support/process/process-env.ts';
import { runCommand, runCommandInProcess } from '../support/process/run-command.ts';
import { startReceiver } from '../support/receiver.ts';

const PASSPHRASE_ENV = { BACKUP_PASSPHRASE: 'correct horse battery' };
/** Each test opens a database several times. */
const TIMEOUT = { timeout: 240_000 };
const RETRY_DELIVERY = `mutation RetryDelivery($input: RetryDeliveryInput!) {
  retryDelivery(input: $input) { delivery { id status } }
}`;

test(
  'repeats no message after a restore, and loses no new event for subscribers',
  TIMEOUT,
  async () => {
    const receiver = await startReceiver();
    onTestFinished(() => receiver[Symbol.asyncDispose]());
    const original = await createEmptyDatabase();
    const app = await startGateway(original);
    const { tenant, destinationId } = await createPendingDelivery(app, receiver);
    const { projectId, apiKey } = tenant;
    const file = join(createFolder(), 'backup');
    const backupResult = await runCommand('backup', [file], { ...original, ...PASSPHRASE_ENV });
    expect(backupResult).toMatchObject({ code: 0 });
    expect(readFileSync(file).includes('signingSecret')).toBe(false);
    // The backup does not contain the event of this connection, which a subscriber receives.
    await connectGroup(tenant, 'second');
    const { project } = await tenant.query(LIST_EVENTS, { project: projectId });
    const { cursor } = project.notificationEvents.edges.at(-1);
    await app[Symbol.asyncDispose]();

    const restoredEnv = await createEmptyDatabase();
    const restoreResult = await runCommand('restore', [file], {
      ...restoredEnv,
      ...PASSPHRASE_ENV,
    });
    expect(restoreResult).toMatchObject({ code: 0 });
    expect(restoreResult.output).toContain('- Pending deliveries set to FAILED: 1.');
    const sentCount = receiver.listMessages(projectId).length;
    receiver.setBehavior(projectId, { status: 200 });
    const gateway = await startGateway(restoredEnv);
    const client = createClient(gateway.fetch, { 'x-api-key': apiKey });
    const targets = (await client.query(LIST_SEALED_VALUES, { project: projectId })).project;
    expect(targets.destinations.nodes).toContainEqual({ name: 'sealed', ...SEALED_TARGET });
    const { node } = await client.query(LIST_DELIVERIES, { id: destinationId });
    const [delivery] = node.deliveries.nodes;
    expect(delivery).toMatchObject({ status: 'FAILED' });
    expect(delivery.failureReason).toMatch(/^Restored from a backup: it may have been sent/);
    await connectGroup({ ...tenant, ...client }, 'third');
    const laterEvents = await client.query(LIST_EVENTS, { project: projectId, after: cursor });
    expect(laterEvents.project.notificationEvents.edges).toHaveLength(1);
    await client.query(RETRY_DELIVERY, {
      input: { projectIdOrName: projectId, deliveryId: delivery.id },
    });
    // Two messages arrive: for the third connection, and for the retried delivery.
    await receiver.waitForMessages(projectId, sentCount + 2);
    const messages = receiver.listMessages(projectId).slice(sentCount);
    expect(messages.map(({ id }) => id)).toContain(receiver.listMessages(projectId)[0]?.id);
    await gateway[Symbol.asyncDispose]();

    const repeatedResult = await runCommandInProcess('restore', [file], {
      ...restoredEnv,
      ...PASSPHRASE_ENV,
    });
    expect(repeatedResult).toMatchObject({ code: 1 });
    expect(repeatedResult.output).toMatch(/is not empty \(.*\): name another one/);
    const resendingEnv = await createEmptyDatabase();
    await runCommandInProcess('restore', [file, '--resend'], {
      ...resendingEnv,
      ...PASSPHRASE_ENV,
    });
    const { Delivery } = await openAndReadRows(resendingEnv);
    expect(Delivery?.map((row) => JSON.parse(row).status)).toEqual(['PENDING']);
  },
);

/** The server copies the files of an embedded database, but takes no part in a backup of PostgreSQL. */
const onEmbedded = test.skipIf(onPostgres);

onEmbedded(
  'leaves a complete backup or none if the server is killed during the backup',
  TIMEOUT,
  async () => {
    const env = createEmbeddedDatabase();
    const server = await startServer(env);
    const file = join(createFolder(), 'backup');
    const pendingBackup = runCommandInProcess('backup', [file], { ...env, ...PASSPHRASE_ENV });
    await expect.poll(() => hasSnapshot(env.DATA_DIR), { interval: 5 }).toBe(true);
    server.kill('SIGKILL');
    const { code, output } = await pendingBackup;
    expect({ output, exists: existsSync(file) }).toEqual({ output, exists: code === 0 });
    expect(existsSync(`${file}.unfinished`)).toBe(false);
    if (code !== 0) return;
    const restoredEnv = createEmbeddedDatabase();
    expect(
      await runCommandInProcess('restore', [file], { ...restoredEnv, ...PASSPHRASE_ENV }),
    ).toMatchObject({ code: 0 });
  },
);

/** True if the server has begun to copy its files for the backup. */
function hasSnapshot(dataDir: string): boolean {
  return readdirSync(dataDir).some((name) => name.startsWith('snapshot-'));
}

async function startServer(databaseEnv: DatabaseEnv) {
  const env = { ...PROCESS_ENV, ...GATEWAY_ENV, ...databaseEnv, PORT: '0' };
  const server = spawn(process.execPath, ['src/main.ts'], {
    env,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => void server.kill('SIGKILL'));
  for await (const chunk of server.stdout) {
    if (String(chunk).includes('server.ready')) return server;
  }
  throw new Error('The server ended before it was ready.');
}

// The command checks the file and the passphrase in the same way for each kind of database.
onEmbedded('refuses an existing file and a missing or weak passphrase', TIMEOUT, async () => {
  const { file } = await backUpOrg();
  const original = createEmbeddedDatabase();
  const resultWithoutPassphrase = await runCommandInProcess('backup', [file], original);
  expect(resultWithoutPassphrase.output).toMatch(/^Set BACKUP_PASSPHRASE/);
  for (const BACKUP_PASSPHRASE of ['correct horse', 'aaaaaaaaaaaaaaaaaaaa']) {
    const weakResult = await runCommandInProcess('backup', [file], {
      ...original,
      BACKUP_PASSPHRASE,
    });
    expect(weakResult).toMatchObject({ code: 1 });
    expect(weakResult.output).toMatch(/^BACKUP_PASSPHRASE must have at least 16 characters/);
  }
  const repeatedResult = await runCommandInProcess('backup', [file], {
    ...original,
    ...PASSPHRASE_ENV,
  });
  expect(repeatedResult.output).toBe(`${file} already exists: name another file.\n`);
});

onEmbedded(
  'refuses a damaged file and a wrong passphrase, and restores no row',
  TIMEOUT,
  async () => {
    const { file } = await backUpOrg();
    const env = createEmbeddedDatabase();
    const restore = async (passphrase: Record<string, string>) => {
      const { code, output } = await runCommandInProcess('restore', [file], {
        ...env,
        ...passphrase,
      });
      expect(code).toBe(1);
      return output;
    };
    expect(await restore({})).toContain('Set BACKUP_PASSPHRASE');
    expect(await restore({ BACKUP_PASSPHRASE: 'wrong' })).toContain('is not the one');
    const archive = readFileSync(file);
    truncateSync(file, archive.length - 20);
    expect(await restore(PASSPHRASE_ENV)).toMatch(/is incomplete|is damaged/);
    writeFileSync(file, 'something else');
    expect(await restore(PASSPHRASE_ENV)).toContain('is damaged');
    const { Org } = await openAndReadRows(env);
    expect(Org).toEqual([]);
  },
);

interface OrgBackup {
  bytes: Buffer;
  orgs: string[] | undefined;
}

let orgBackup: Promise<OrgBackup> | undefined;

/** Writes the backup of an org, which the tests share, to a new file. Returns the file. */
async function backUpOrg() {
  orgBackup ??= createOrgBackup();
  const { bytes, orgs } = await orgBackup;
  const file = join(createFolder(), 'backup');
  writeFileSync(file, bytes);
  return { file, orgs };
}

async function createOrgBackup(): Promise<OrgBackup> {
  const original = await createEmptyDatabase();
  const app = await startGateway(original);
  await app.createTenant();
  const { Org } = await readRows(app.app.services.database);
  await app[Symbol.asyncDispose]();
  const file = join(createFolder(), 'backup');
  const backupResult = await runCommandInProcess('backup', [file], {
    ...original,
    ...PASSPHRASE_ENV,
  });
  expect(backupResult).toMatchObject({ code: 0 });
  return { bytes: readFileSync(file), orgs: Org };
}

/** Creates a location in which no gateway has started. Its DATA_DIR is empty, or does not exist yet. */
async function createEmptyLocation(
  folder: 'empty' | 'missing',
): Promise<DatabaseEnv & { DATA_DIR: string }> {
  const DATA_DIR = folder === 'empty' ? createFolder() : join(createFolder(), 'new');
  return onPostgres ? { ...(await createEmptyDatabase()), DATA_DIR } : { DATA_DIR };
}

/**
 * Returns the tables, functions and types of the location, and the files of its DATA_DIR, or null if the
 * folder does not exist.
 */
async function listContents({
  DATABASE_URL,
  DATA_DIR,
}: Awaited<ReturnType<typeof createEmptyLocation>>) {
  const files = existsSync(DATA_DIR) ? readdirSync(DATA_DIR) : null;
  return {
    files,
    objects: DATABASE_URL ? await queryPostgres(DATABASE_URL, LIST_DATABASE_OBJECTS) : [],
  };
}

const LIST_DATABASE_OBJECTS = `
  select relname as "name" from pg_class where relnamespace = 'public'::regnamespace union all
  select proname from pg_proc where pronamespace = 'public'::regnamespace union all
  select typname from pg_type where typnamespace = 'public'::regnamespace`;

async function queryPostgres<T extends pg.QueryResultRow>(url: string, text: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<T>(text)).rows;
  } finally {
    await client.end();
  }
}

test(
  'leaves a missing folder and an empty database unchanged if the restore fails',
  TIMEOUT,
  async () => {
    const { file } = await backUpOrg();
    const archive = readFileSync(file);
    const env = await createEmptyLocation('missing');
    const contentsBefore = await listContents(env);
    const restore = (passphrase: Record<string, string>) =>
      runCommandInProcess('restore', [file], { ...env, ...passphrase });
    for (const [bytes, passphrase, problem] of [
      [
        archive.subarray(0, archive.length - 20),
        PASSPHRASE_ENV.BACKUP_PASSPHRASE,
        /not whole|damaged/,
      ],
      [archive, 'another passphrase', /is not the one/],
    ] as const) {
      writeFileSync(file, bytes);
      const { code, output } = await restore({ BACKUP_PASSPHRASE: passphrase });
      expect([code, output]).toEqual([1, expect.stringMatching(problem)]);
      expect(await listContents(env)).toEqual(contentsBefore);
    }
  },
);

test('keeps other tables and files if the restore fails', TIMEOUT, async () => {
  const { file } = await backUpOrg();
  truncateSync(file, readFileSync(file).length - 20);
  const env = await createEmptyLocation('empty');
  writeFileSync(join(env.DATA_DIR, 'issuer-key.json'), '{}');
  if (env.DATABASE_URL) await queryPostgres(env.DATABASE_URL, 'create table "mine" ("id" text)');
  const contentsBefore = await listContents(env);
  expect(await runCommandInProcess('restore', [file], { ...env, ...PASSPHRASE_ENV })).toMatchObject(
    { code: 1 },
  );
  expect(await listContents(env)).toEqual(contentsBefore);
});

test('repeats a restore that was killed midway', TIMEOUT, async () => {
  const { file, orgs } = await backUpOrg();
  const env = await createEmptyLocation('missing');
  const restore = spawn(process.execPath, ['src/commands/restore.ts', file], {
    env: { ...PROCESS_ENV, ...GATEWAY_ENV, ...env, ...PASSPHRASE_ENV },
    stdio: 'ignore',
  });
  onTestFinished(() => void restore.kill('SIGKILL'));
  const exited = once(restore, 'exit');
  await expect.poll(() => hasRestoreStarted(env), { timeout: 60_000, interval: 5 }).toBe(true);
  restore.kill('SIGKILL');
  expect(await exited).toEqual([null, 'SIGKILL']);
  const repeatedResult = await runCommandInProcess('restore', [file], {
    ...env,
    ...PASSPHRASE_ENV,
  });
  expect(repeatedResult).toMatchObject({ code: 0 });
  expect((await openAndReadRows(env)).Org).toEqual(orgs);
});

/** True if the restore has created the first tables on PostgreSQL, or the keys of an embedded database. */
async function hasRestoreStarted({ DATABASE_URL, DATA_DIR = '' }: DatabaseEnv): Promise<boolean> {
  if (!DATABASE_URL) return existsSync(join(DATA_DIR, 'encryption-keys'));
  const sql = `select to_regclass('"Project"') is not null as "exists"`;
  const [row] = await queryPostgres<{ exists: boolean }>(DATABASE_URL, sql);
  return row?.exists === true;
}
