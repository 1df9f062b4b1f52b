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
  createEmptyDatabase,
  createFolder,
  type DatabaseEnv,
  GATEWAY_ENV,
  openAndReadRows,
  startGateway,
} from '../support/copies/copied-databases.ts';
import {
  connectGroup,
  createPendingDelivery,
  LIST_DELIVERIES,
  LIST_EVENTS,
  LIST_SEALED_VALUES,
  SEALED_TARGET,
} from '../support/copies/pending-delivery.ts';
import { createClient } from '../support/graphql-client.ts';
import { PROCESS_ENV } from '../support/process/process-env.ts';
import { runCommand } from '../support/process/run-command.ts';
import { startReceiver } from '../support/receiver.ts';

const SEALED = { BACKUP_PASSPHRASE: 'correct horse battery' };
/** Each test opens a database several times, mostly in processes of their own. */
const LIMIT = { timeout: 240_000 };
const RETRY = `mutation RetryDelivery($input: RetryDeliveryInput!) {
  retryDelivery(input: $input) { delivery { id status } }
}`;

test(
  'repeats no message after a restore, and loses no new event for subscribers',
  LIMIT,
  async () => {
    const receiver = await startReceiver();
    onTestFinished(() => receiver[Symbol.asyncDispose]());
    const original = await createEmptyDatabase();
    const app = await startGateway(original);
    const { tenant, destinationId } = await createPendingDelivery(app, receiver);
    const { projectId, apiKey } = tenant;
    const file = join(createFolder(), 'backup');
    const created = await runCommand('backup', [file], { ...original, ...SEALED });
    expect(created).toMatchObject({ code: 0 });
    expect(readFileSync(file).includes('signingSecret')).toBe(false);
    // After the backup: an event, and a subscriber that has received it.
    await connectGroup(tenant, 'second');
    const { project } = await tenant.query(LIST_EVENTS, { project: projectId });
    const { cursor } = project.notificationEvents.edges.at(-1);
    await app[Symbol.asyncDispose]();

    const env = await createEmptyDatabase();
    const restored = await runCommand('restore', [file], { ...env, ...SEALED });
    expect(restored).toMatchObject({ code: 0 });
    expect(restored.output).toContain('- Pending deliveries set to FAILED: 1.');
    const sent = receiver.listMessages(projectId).length;
    receiver.setBehavior(projectId, { status: 200 });
    const gateway = await startGateway(env);
    const client = createClient(gateway.fetch, { 'x-api-key': apiKey });
    const targets = (await client.query(LIST_SEALED_VALUES, { project: projectId })).project;
    expect(targets.destinations.nodes).toContainEqual({ name: 'sealed', ...SEALED_TARGET });
    const { node } = await client.query(LIST_DELIVERIES, { id: destinationId });
    const [delivery] = node.deliveries.nodes;
    expect(delivery).toMatchObject({ status: 'FAILED' });
    expect(delivery.failureReason).toMatch(/^Restored from a backup: it may have been sent/);
    await connectGroup({ ...tenant, ...client }, 'third');
    const later = await client.query(LIST_EVENTS, { project: projectId, after: cursor });
    expect(later.project.notificationEvents.edges).toHaveLength(1);
    await client.query(RETRY, { input: { projectIdOrName: projectId, deliveryId: delivery.id } });
    // One message for the third connection, and the retried one.
    await receiver.waitForMessages(projectId, sent + 2);
    const ids = receiver.listMessages(projectId).slice(sent);
    expect(ids.map(({ id }) => id)).toContain(receiver.listMessages(projectId)[0]?.id);
    await gateway[Symbol.asyncDispose]();

    const refused = await runCommand('restore', [file], { ...env, ...SEALED });
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.output).toMatch(/is not empty \(.*\): name another one/);
    const resending = await createEmptyDatabase();
    await runCommand('restore', [file, '--resend'], { ...resending, ...SEALED });
    const { Delivery } = await openAndReadRows(resending);
    expect(Delivery?.map((row) => JSON.parse(row).status)).toEqual(['PENDING']);
  },
);

test('leaves a complete backup or none when the server is killed during it', LIMIT, async () => {
  const env = await createEmptyDatabase();
  const server = await startServer(env);
  const file = join(createFolder(), 'backup');
  const backingUp = runCommand('backup', [file], { ...env, ...SEALED });
  await expect.poll(() => hasStarted(env, file)).toBe(true);
  server.kill('SIGKILL');
  const { code, output } = await backingUp;
  expect({ output, exists: existsSync(file) }).toEqual({ output, exists: code === 0 });
  expect(existsSync(`${file}.unfinished`)).toBe(false);
  if (code !== 0) return;
  const other = await createEmptyDatabase();
  expect(await runCommand('restore', [file], { ...other, ...SEALED })).toMatchObject({ code: 0 });
});

/** The embedded database copies its files first. From PostgreSQL the backup reads rows. */
function hasStarted({ DATABASE_URL, DATA_DIR = '' }: DatabaseEnv, file: string): boolean {
  if (DATABASE_URL) return existsSync(`${file}.unfinished`);
  return readdirSync(DATA_DIR).some((name) => name.startsWith('snapshot-'));
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
const onEmbedded = test.skipIf(onPostgres);

onEmbedded('refuses an existing file and a missing or weak passphrase', LIMIT, async () => {
  const { file } = await backUpOrg();
  const original = await createEmptyDatabase();
  const unsealed = await runCommand('backup', [file], original);
  expect(unsealed.output).toMatch(/^Set BACKUP_PASSPHRASE/);
  for (const BACKUP_PASSPHRASE of ['correct horse', 'aaaaaaaaaaaaaaaaaaaa']) {
    const weak = await runCommand('backup', [file], { ...original, BACKUP_PASSPHRASE });
    expect(weak).toMatchObject({ code: 1 });
    expect(weak.output).toMatch(/^BACKUP_PASSPHRASE must have at least 16 characters/);
  }
  const repeated = await runCommand('backup', [file], { ...original, ...SEALED });
  expect(repeated.output).toBe(`${file} already exists: name another file.\n`);
});

onEmbedded(
  'refuses a damaged file and a wrong passphrase, and restores no row',
  LIMIT,
  async () => {
    const { file } = await backUpOrg();
    const env = await createEmptyDatabase();
    const restore = async (passphrase: Record<string, string>) => {
      const { code, output } = await runCommand('restore', [file], { ...env, ...passphrase });
      expect(code).toBe(1);
      return output;
    };
    expect(await restore({})).toContain('Set BACKUP_PASSPHRASE');
    expect(await restore({ BACKUP_PASSPHRASE: 'wrong' })).toContain('is not the one');
    const archive = readFileSync(file);
    truncateSync(file, archive.length - 20);
    expect(await restore(SEALED)).toMatch(/is incomplete|is damaged/);
    writeFileSync(file, 'something else');
    expect(await restore(SEALED)).toContain('is damaged');
    const { Org } = await openAndReadRows(env);
    expect(Org).toEqual([]);
  },
);

interface OrgBackup {
  bytes: Buffer;
  orgs: string[] | undefined;
}

let orgBackup: Promise<OrgBackup> | undefined;

/** Returns a file of the test with a backup of an org, which the tests share. */
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
  await app.tenant();
  await app[Symbol.asyncDispose]();
  const file = join(createFolder(), 'backup');
  const created = await runCommand('backup', [file], { ...original, ...SEALED });
  expect(created).toMatchObject({ code: 0 });
  const { Org } = await openAndReadRows(original);
  return { bytes: readFileSync(file), orgs: Org };
}

/** A location in which no gateway ever started: its DATA_DIR is an empty folder, or does not exist yet. */
async function createEmptyLocation(
  folder: 'empty' | 'missing',
): Promise<DatabaseEnv & { DATA_DIR: string }> {
  const DATA_DIR = folder === 'empty' ? createFolder() : join(createFolder(), 'new');
  return onPostgres ? { ...(await createEmptyDatabase()), DATA_DIR } : { DATA_DIR };
}

/**
 * Tables, functions and types of the location, and files of its DATA_DIR, or null if the folder does not
 * exist.
 */
async function listLeftovers({
  DATABASE_URL,
  DATA_DIR,
}: Awaited<ReturnType<typeof createEmptyLocation>>) {
  const files = existsSync(DATA_DIR) ? readdirSync(DATA_DIR) : null;
  return { files, objects: DATABASE_URL ? await inPostgres(DATABASE_URL, OBJECTS) : [] };
}

const OBJECTS = `
  select relname as "name" from pg_class where relnamespace = 'public'::regnamespace union all
  select proname from pg_proc where pronamespace = 'public'::regnamespace union all
  select typname from pg_type where typnamespace = 'public'::regnamespace`;

async function inPostgres<T extends pg.QueryResultRow>(url: string, text: string): Promise<T[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query<T>(text)).rows;
  } finally {
    await client.end();
  }
}

test('leaves an empty location unchanged if the restore fails', LIMIT, async () => {
  const { file, orgs } = await backUpOrg();
  const archive = readFileSync(file);
  // On PostgreSQL, the next test has an empty folder.
  for (const folder of onPostgres ? (['missing'] as const) : (['empty', 'missing'] as const)) {
    const env = await createEmptyLocation(folder);
    const untouched = await listLeftovers(env);
    const restore = (passphrase: Record<string, string>) =>
      runCommand('restore', [file], { ...env, ...passphrase });
    for (const [bytes, passphrase, problem] of [
      [archive.subarray(0, archive.length - 20), SEALED.BACKUP_PASSPHRASE, /not whole|damaged/],
      [archive, 'another passphrase', /is not the one/],
    ] as const) {
      writeFileSync(file, bytes);
      const { code, output } = await restore({ BACKUP_PASSPHRASE: passphrase });
      expect([code, output]).toEqual([1, expect.stringMatching(problem)]);
      expect(await listLeftovers(env)).toEqual(untouched);
    }
    // The test of a killed restore fills a missing folder.
    if (!onPostgres && folder === 'missing') continue;
    expect(await restore(SEALED)).toMatchObject({ code: 0 });
    expect((await openAndReadRows(env)).Org).toEqual(orgs);
  }
});

test('keeps other tables and files if the restore fails', LIMIT, async () => {
  const { file } = await backUpOrg();
  truncateSync(file, readFileSync(file).length - 20);
  const env = await createEmptyLocation('empty');
  writeFileSync(join(env.DATA_DIR, 'issuer-key.json'), '{}');
  if (env.DATABASE_URL) await inPostgres(env.DATABASE_URL, 'create table "mine" ("id" text)');
  const untouched = await listLeftovers(env);
  expect(await runCommand('restore', [file], { ...env, ...SEALED })).toMatchObject({ code: 1 });
  expect(await listLeftovers(env)).toEqual(untouched);
});

test('repeats a restore that was killed midway', LIMIT, async () => {
  const { file, orgs } = await backUpOrg();
  const env = await createEmptyLocation('missing');
  const restoring = spawn(process.execPath, ['src/commands/restore.ts', file], {
    env: { ...PROCESS_ENV, ...GATEWAY_ENV, ...env, ...SEALED },
    stdio: 'ignore',
  });
  onTestFinished(() => void restoring.kill('SIGKILL'));
  const exited = once(restoring, 'exit');
  await expect.poll(() => hasStartedFilling(env), { timeout: 60_000, interval: 5 }).toBe(true);
  restoring.kill('SIGKILL');
  expect(await exited).toEqual([null, 'SIGKILL']);
  const repeated = await runCommand('restore', [file], { ...env, ...SEALED });
  expect(repeated).toMatchObject({ code: 0 });
  expect((await openAndReadRows(env)).Org).toEqual(orgs);
});

/** True if the restore has created the first tables on PostgreSQL, or the keys of an embedded database. */
async function hasStartedFilling({ DATABASE_URL, DATA_DIR = '' }: DatabaseEnv): Promise<boolean> {
  if (!DATABASE_URL) return existsSync(join(DATA_DIR, 'encryption-keys'));
  const sql = `select to_regclass('"Project"') is not null as "exists"`;
  const [row] = await inPostgres<{ exists: boolean }>(DATABASE_URL, sql);
  return row?.exists === true;
}
