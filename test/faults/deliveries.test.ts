import { fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import pg from 'pg';
import { expect, onTestFinished, test } from 'vitest';
import { createTestDatabase } from '../support/app.ts';
import { createDeliveryProject } from '../support/fixtures/deliveries.ts';
import { ENCRYPTION_KEY } from '../support/process/encryption-key.ts';
import { PROCESS_ENV } from '../support/process/process-env.ts';
import { type ReceivedMessage, startReceiver, verifyMessage } from '../support/receiver.ts';
import { databaseUrl } from './fixtures/gateway.ts';
import { countById } from './fixtures/interrupted-work.ts';
import { createRandom, planMoments } from './fixtures/random.ts';
import { KILLS, SEED } from './fixtures/settings.ts';

const MESSAGES_PER_KILL = 500;
const DESTINATIONS = 10;
const ENDPOINT = 'hook';

async function prepare() {
  const database = await createTestDatabase();
  const receiver = await startReceiver();
  onTestFinished(async () => {
    await receiver[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });
  const { createDestination, enqueue } = await createDeliveryProject(database);
  const secrets = new Map<string, string>();
  for (let n = 0; n < DESTINATIONS; n += 1) {
    const { id, secret } = await createDestination(receiver.getUrl(ENDPOINT));
    const deliveryIds = await enqueue(id, (KILLS * MESSAGES_PER_KILL) / DESTINATIONS);
    for (const deliveryId of deliveryIds) secrets.set(deliveryId, secret);
  }
  return { database, receiver, secrets, url: await databaseUrl(database) };
}

/** Starts a process, and resolves when it sends deliveries. */
async function startProcess(url: string) {
  const child = fork(join(import.meta.dirname, 'fixtures', 'delivery-process.ts'), {
    execArgv: [],
    env: {
      ...PROCESS_ENV,
      DATABASE_URL: url,
      ENCRYPTION_KEY,
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

/** Returns the numbers of received messages at which a process is ended. */
const planEndings = (seed: number) =>
  planMoments(createRandom(seed), { count: KILLS, most: KILLS * MESSAGES_PER_KILL });

/**
 * Returns the deliveries that an ended process had leased. Waits until its connections are gone, so that none
 * of its statements is still running.
 */
async function findAbandonedDeliveries(url: string): Promise<string[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    const busySessions = `select 1 from pg_stat_activity where datname = current_database()
      and application_name = 'integration-gateway' and state <> 'idle'`;
    await expect.poll(async () => (await client.query(busySessions)).rows.length).toBe(0);
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

test(`delivers every message over ${KILLS} SIGKILLs, and only messages in flight twice`, async () => {
  const { database, receiver, secrets, url } = await prepare();
  const abandonedCounts = new Map<string, number>();
  let verifiedCount = 0;
  for (const moment of planEndings(SEED)) {
    const child = await startProcess(url);
    await receiver.waitForMessages(ENDPOINT, moment);
    await endProcess(child, 'SIGKILL');
    for (const id of await findAbandonedDeliveries(url)) {
      abandonedCounts.set(id, (abandonedCounts.get(id) ?? 0) + 1);
    }
    verifyAll(receiver.listMessages(ENDPOINT).slice(verifiedCount), secrets);
    verifiedCount = receiver.listMessages(ENDPOINT).length;
  }
  const last = await startProcess(url);
  const countLeft = () =>
    database.prisma.delivery.count({ where: { status: { not: 'SUCCEEDED' } } });
  await expect.poll(countLeft, { timeout: 120_000, interval: 200 }).toBe(0);
  expect(await endProcess(last, 'SIGTERM')).toBe(0);
  verifyAll(receiver.listMessages(ENDPOINT).slice(verifiedCount), secrets);

  const counts = countById(receiver.listMessages(ENDPOINT));
  expect([...secrets.keys()].filter((id) => !counts.has(id))).toEqual([]);
  const tooOften = [...counts].filter(([id, count]) => count > 1 + (abandonedCounts.get(id) ?? 0));
  expect(tooOften).toEqual([]);
  const duplicates = receiver.listMessages(ENDPOINT).length - secrets.size;
  console.log(`${secrets.size} messages, ${KILLS} kills, ${duplicates} duplicates`);
});

test('delivers every message once over SIGTERMs, and each process exits', async () => {
  const { database, receiver, secrets, url } = await prepare();
  for (const moment of planEndings(SEED + 1).filter((_, index) => index % 4 === 0)) {
    const child = await startProcess(url);
    await receiver.waitForMessages(ENDPOINT, moment);
    expect(await endProcess(child, 'SIGTERM')).toBe(0);
    expect(await findAbandonedDeliveries(url)).toEqual([]);
  }
  const last = await startProcess(url);
  await receiver.waitForMessages(ENDPOINT, secrets.size);
  expect(await endProcess(last, 'SIGTERM')).toBe(0);
  const counts = countById(receiver.listMessages(ENDPOINT));
  expect([...counts.keys()].toSorted()).toEqual([...secrets.keys()].toSorted());
  expect([...counts.values()].filter((count) => count > 1)).toEqual([]);
  expect(await database.prisma.deliveryAttempt.count()).toBe(secrets.size);
});
