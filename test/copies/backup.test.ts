/** A backup is whole or not there; what is restored does not do again what may have been done since. */
import { spawn } from 'node:child_process';
import { existsSync, readdirSync, readFileSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { connect, DELIVERIES, EVENTS, owing } from '../support/copies/owing.ts';
import {
  contentAt,
  ENV,
  newFolder,
  newPlace,
  type Place,
  runCommand,
  startAt,
} from '../support/copies/places.ts';
import { createClient } from '../support/graphql-client.ts';
import { PROCESS_ENV } from '../support/process/process-env.ts';
import { startReceiver } from '../support/receiver.ts';

const SEALED = { BACKUP_PASSPHRASE: 'correct horse battery' };
/** A database is opened several times for it, mostly by processes of their own. */
const LIMIT = { timeout: 240_000 };
const RETRY = `mutation ($input: RetryDeliveryInput!) {
  retryDelivery(input: $input) { delivery { id status } }
}`;

test(
  'restored, it sends nothing again by itself, and subscribers miss nothing new',
  LIMIT,
  async () => {
    const receiver = await startReceiver();
    onTestFinished(() => receiver[Symbol.asyncDispose]());
    const original = await newPlace();
    const app = await startAt(original);
    const { tenant, destinationId } = await owing(app, receiver);
    const { projectId, apiKey } = tenant;
    const file = join(newFolder(), 'backup');
    const made = await runCommand('backup', [file], { ...original, ...SEALED });
    expect(made).toMatchObject({ code: 0 });
    expect(readFileSync(file).includes('signingSecret')).toBe(false);
    // What came after the backup: an event, and a subscriber that has seen it.
    await connect(tenant, 'second');
    const { project } = await tenant.query(EVENTS, { project: projectId });
    const { cursor } = project.notificationEvents.edges.at(-1);
    await app[Symbol.asyncDispose]();

    const place = await newPlace();
    const restored = await runCommand('restore', [file], { ...place, ...SEALED });
    expect(restored).toMatchObject({ code: 0 });
    expect(restored.output).toContain('- 1 deliveries waited: they are FAILED now');
    const sent = receiver.received(projectId).length;
    receiver.behave(projectId, { status: 200 });
    const there = await startAt(place);
    const client = createClient(there.fetch, { 'x-api-key': apiKey });
    const { node } = await client.query(DELIVERIES, { id: destinationId });
    const [delivery] = node.deliveries.nodes;
    expect(delivery).toMatchObject({ status: 'FAILED' });
    expect(delivery.failureReason).toMatch(/^Restored from a backup: it may have been sent/);
    await connect({ ...tenant, ...client }, 'third');
    const later = await client.query(EVENTS, { project: projectId, after: cursor });
    expect(later.project.notificationEvents.edges).toHaveLength(1);
    await client.query(RETRY, { input: { projectIdOrName: projectId, deliveryId: delivery.id } });
    // Of the third connection, and what was retried.
    await receiver.arrived(projectId, sent + 2);
    const ids = receiver.received(projectId).slice(sent);
    expect(ids.map(({ id }) => id)).toContain(receiver.received(projectId)[0]?.id);
    await there[Symbol.asyncDispose]();

    const refused = await runCommand('restore', [file], { ...place, ...SEALED });
    expect(refused).toMatchObject({ code: 1 });
    expect(refused.output).toMatch(/is not empty \(.*\): name another one/);
    const resending = await newPlace();
    await runCommand('restore', [file, '--resend'], { ...resending, ...SEALED });
    const { Delivery } = await contentAt(resending);
    expect(Delivery?.map((row) => JSON.parse(row).status)).toEqual(['PENDING']);
  },
);

test('the original may be killed meanwhile: the backup is whole, or not there', LIMIT, async () => {
  const place = await newPlace();
  const server = await startServer(place);
  const file = join(newFolder(), 'backup');
  const backingUp = runCommand('backup', [file], { ...place, ...SEALED });
  await expect.poll(() => hasBegun(place, file)).toBe(true);
  server.kill('SIGKILL');
  const { code, output } = await backingUp;
  expect({ output, isThere: existsSync(file) }).toEqual({ output, isThere: code === 0 });
  expect(existsSync(`${file}.unfinished`)).toBe(false);
  if (code !== 0) return;
  const other = await newPlace();
  expect(await runCommand('restore', [file], { ...other, ...SEALED })).toMatchObject({ code: 0 });
});

/** With the embedded database, the files are being copied; else rows are read. */
function hasBegun({ DATABASE_URL, DATA_DIR = '' }: Place, file: string): boolean {
  if (DATABASE_URL) return existsSync(`${file}.unfinished`);
  return readdirSync(DATA_DIR).some((name) => name.startsWith('snapshot-'));
}

async function startServer(place: Place) {
  const env = { ...PROCESS_ENV, ...ENV, ...place, PORT: '0' };
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

test(
  'a damaged file, or another passphrase, is refused, and nothing is filled',
  LIMIT,
  async () => {
    const original = await newPlace();
    const file = join(newFolder(), 'backup');
    const unsealed = await runCommand('backup', [file], original);
    expect(unsealed.output).toMatch(/^Set BACKUP_PASSPHRASE/);
    for (const BACKUP_PASSPHRASE of ['correct horse', 'aaaaaaaaaaaaaaaaaaaa']) {
      const weak = await runCommand('backup', [file], { ...original, BACKUP_PASSPHRASE });
      expect(weak).toMatchObject({ code: 1 });
      expect(weak.output).toMatch(/^BACKUP_PASSPHRASE must have at least 16 characters/);
    }
    const app = await startAt(original);
    await app.tenant();
    await app[Symbol.asyncDispose]();
    expect(await runCommand('backup', [file], { ...original, ...SEALED })).toMatchObject({
      code: 0,
    });
    const again = await runCommand('backup', [file], { ...original, ...SEALED });
    expect(again.output).toBe(`${file} is there already: name another file.\n`);

    const place = await newPlace();
    const restore = async (env: Record<string, string>) => {
      const { code, output } = await runCommand('restore', [file], { ...place, ...env });
      expect(code).toBe(1);
      return output;
    };
    expect(await restore({})).toContain('Set BACKUP_PASSPHRASE');
    expect(await restore({ BACKUP_PASSPHRASE: 'wrong' })).toContain('is not the one');
    const whole = readFileSync(file);
    truncateSync(file, whole.length - 20);
    expect(await restore(SEALED)).toMatch(/is not whole|is damaged/);
    // A failed restore leaves nothing, so the whole file can be restored to the same location.
    const folder = join(newFolder(), 'new');
    const other = place.DATABASE_URL ? await newPlace() : { DATA_DIR: folder };
    truncateSync(file, whole.length - 20);
    expect(await runCommand('restore', [file], { ...other, ...SEALED })).toMatchObject({ code: 1 });
    expect(existsSync(folder)).toBe(false);
    writeFileSync(file, whole);
    expect(await runCommand('restore', [file], { ...other, ...SEALED })).toMatchObject({ code: 0 });
    writeFileSync(file, 'something else');
    expect(await restore(SEALED)).toContain('is damaged');
    const { Org } = await contentAt(place);
    expect(Org).toEqual([]);
  },
);
