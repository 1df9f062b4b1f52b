import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import pg from 'pg';
import { expect, inject, onTestFinished, test } from 'vitest';
import { testDatabase } from '../support/app.ts';
import { createDeliveryProject } from '../support/fixtures/deliveries.ts';
import { PROCESS_ENV } from '../support/process/process-env.ts';
import {
  type ReceivedMessage,
  type Receiver,
  startReceiver,
  verifyMessage,
} from '../support/receiver.ts';
import { createRandom, planMoments } from './fixtures/random.ts';

/** FAULTS_SHORT=1 runs the short form. FAULT_SEED changes the moments of the kills. */
const SHORT = process.env.FAULTS_SHORT === '1';
const KILLS = Number(process.env.FAULT_KILLS ?? (SHORT ? 3 : 20));
const SEED = Number(process.env.FAULT_SEED ?? 1);
const MESSAGES_PER_KILL = 500;
const DESTINATIONS = 10;
const PLACE = 'hook';

async function prepare() {
  const database = await testDatabase();
  const receiver = await startReceiver();
  onTestFinished(async () => {
    await receiver[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });
  const { destination, enqueue } = await createDeliveryProject(database);
  const secrets = new Map<string, string>();
  for (let n = 0; n < DESTINATIONS; n += 1) {
    const { id, secret } = await destination(receiver.url(PLACE));
    const owed = await enqueue(id, (KILLS * MESSAGES_PER_KILL) / DESTINATIONS);
    for (const deliveryId of owed) secrets.set(deliveryId, secret);
  }
  const [{ name }] = await database.prisma.$queryRaw<[{ name: string }]>`
    select current_database() as "name"`;
  return { database, receiver, secrets, url: `${inject('postgres').serverUrl}/${name}` };
}

/** Starts a process, and resolves when it sends deliveries. */
async function startProcess(url: string) {
  const child = fork(join(import.meta.dirname, 'fixtures', 'delivery-process.ts'), {
    execArgv: [],
    env: {
      ...PROCESS_ENV,
      DATABASE_URL: url,
      ENCRYPTION_KEY: Buffer.alloc(32, 7).toString('base64'),
    },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  await once(child, 'message');
  return child;
}

async function endProcess(child: Awaited<ReturnType<typeof startProcess>>, signal: NodeJS.Signals) {
  const exited = once(child, 'exit');
  child.kill(signal);
  const [code] = await exited;
  return code as number | null;
}

/** Numbers of received messages at which a process is ended. */
const endings = (seed: number) =>
  planMoments(createRandom(seed), { count: KILLS, most: KILLS * MESSAGES_PER_KILL });

/**
 * Returns the deliveries that a killed process had leased. Waits until its connections are gone, so that none
 * of its statements is still running.
 */
async function heldByTheDead(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const others = `select 1 from pg_stat_activity where datname = current_database()
      and application_name = 'integration-gateway' and state <> 'idle'`;
    await expect.poll(async () => (await client.query(others)).rows.length).toBe(0);
    const { rows } = await client.query(
      'select "id" from "Delivery" where "leaseToken" is not null',
    );
    return rows.map(({ id }) => id);
  } finally {
    await client.end();
  }
}

function verifyAll(
  messages: readonly ReceivedMessage[],
  secrets: ReadonlyMap<string, string>,
): void {
  for (const message of messages) {
    const secret = secrets.get(message.id);
    if (secret === undefined) expect.unreachable(`${message.id} was never enqueued.`);
    else verifyMessage(message, secret);
  }
}

function timesById({ received }: Receiver): Map<string, number> {
  const times = new Map<string, number>();
  for (const { id } of received(PLACE)) times.set(id, (times.get(id) ?? 0) + 1);
  return times;
}

test(`delivers every message over ${KILLS} SIGKILLs, and only messages in flight twice`, async () => {
  const { database, receiver, secrets, url } = await prepare();
  const mayRepeat = new Map<string, number>();
  let checked = 0;
  for (const moment of endings(SEED)) {
    const child = await startProcess(url);
    await receiver.waitForMessages(PLACE, moment);
    await endProcess(child, 'SIGKILL');
    for (const id of await heldByTheDead(url)) mayRepeat.set(id, (mayRepeat.get(id) ?? 0) + 1);
    verifyAll(receiver.received(PLACE).slice(checked), secrets);
    checked = receiver.received(PLACE).length;
  }
  const last = await startProcess(url);
  const left = () => database.prisma.delivery.count({ where: { status: { not: 'SUCCEEDED' } } });
  await expect.poll(left, { timeout: 120_000, interval: 200 }).toBe(0);
  expect(await endProcess(last, 'SIGTERM')).toBe(0);
  verifyAll(receiver.received(PLACE).slice(checked), secrets);

  const times = timesById(receiver);
  expect([...secrets.keys()].filter((id) => !times.has(id))).toEqual([]);
  const tooOften = [...times].filter(([id, count]) => count > 1 + (mayRepeat.get(id) ?? 0));
  expect(tooOften).toEqual([]);
  const duplicates = receiver.received(PLACE).length - secrets.size;
  console.log(`${secrets.size} messages, ${KILLS} kills, ${duplicates} duplicates`);
});

test('delivers every message once over SIGTERMs, and each process exits', async () => {
  const { database, receiver, secrets, url } = await prepare();
  for (const moment of endings(SEED + 1).filter((_, index) => index % 4 === 0)) {
    const child = await startProcess(url);
    await receiver.waitForMessages(PLACE, moment);
    expect(await endProcess(child, 'SIGTERM')).toBe(0);
    expect(await heldByTheDead(url)).toEqual([]);
  }
  const last = await startProcess(url);
  await receiver.waitForMessages(PLACE, secrets.size);
  expect(await endProcess(last, 'SIGTERM')).toBe(0);
  const times = timesById(receiver);
  expect([...times.keys()].toSorted()).toEqual([...secrets.keys()].toSorted());
  expect([...times.values()].filter((count) => count > 1)).toEqual([]);
  expect(await database.prisma.deliveryAttempt.count()).toBe(secrets.size);
});
