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
import { getDatabaseUrl } from './fixtures/gateway.ts';
import { countById } from './fixtures/interrupted-work.ts';
import { createRandom, planMoments } from './fixtures/random.ts';
import { KILL_COUNT, SEED } from './fixtures/settings.ts';

const MESSAGES_PER_KILL = 500;
const DESTINATION_COUNT = 10;
const ENDPOINT = 'hook';

async function createFixture() {
  const database = await createTestDatabase();
  const receiver = await startReceiver();
  onTestFinished(async () => {
    await receiver[Symbol.asyncDispose]();
    await database[Symbol.asyncDispose]();
  });
  const { createDestination, enqueue } = await createDeliveryProject(database);
  const secretByDelivery = new Map<string, string>();
  for (let count = 0; count < DESTINATION_COUNT; count += 1) {
    const { id, secret } = await createDestination(receiver.getUrl(ENDPOINT));
    const deliveryIds = await enqueue(id, (KILL_COUNT * MESSAGES_PER_KILL) / DESTINATION_COUNT);
    for (const deliveryId of deliveryIds) secretByDelivery.set(deliveryId, secret);
  }
  return { database, receiver, secretByDelivery, url: await getDatabaseUrl(database) };
}

/** Starts a delivery process. Resolves when it sends deliveries. */
async function startDeliveryProcess(url: string) {
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

async function endProcess(
  child: Awaited<ReturnType<typeof startDeliveryProcess>>,
  signal: NodeJS.Signals,
) {
  const exited = once(child, 'exit');
  child.kill(signal);
  const [code] = await exited;
  return code as number | null;
}

/** Returns the numbers of received messages at which a process is ended. */
const planEndings = (seed: number) =>
  planMoments(createRandom(seed), { count: KILL_COUNT, most: KILL_COUNT * MESSAGES_PER_KILL });

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

function verifyMessages(
  messages: readonly ReceivedMessage[],
  secretByDelivery: ReadonlyMap<string, string>,
): void {
  for (const message of messages) {
    const secret = secretByDelivery.get(message.id);
    if (secret === undefined) expect.unreachable(`${message.id} was never enqueued.`);
    else verifyMessage(message, secret);
  }
}

test(`delivers every message despite ${KILL_COUNT} SIGKILLs, and repeats only messages in flight`, async () => {
  const { database, receiver, secretByDelivery, url } = await createFixture();
  const abandonedCounts = new Map<string, number>();
  let verifiedCount = 0;
  for (const moment of planEndings(SEED)) {
    const child = await startDeliveryProcess(url);
    await receiver.waitForMessages(ENDPOINT, moment);
    await endProcess(child, 'SIGKILL');
    for (const id of await findAbandonedDeliveries(url)) {
      abandonedCounts.set(id, (abandonedCounts.get(id) ?? 0) + 1);
    }
    verifyMessages(receiver.listMessages(ENDPOINT).slice(verifiedCount), secretByDelivery);
    verifiedCount = receiver.listMessages(ENDPOINT).length;
  }
  const lastProcess = await startDeliveryProcess(url);
  const countUndelivered = () =>
    database.prisma.delivery.count({ where: { status: { not: 'SUCCEEDED' } } });
  await expect.poll(countUndelivered, { timeout: 120_000, interval: 200 }).toBe(0);
  expect(await endProcess(lastProcess, 'SIGTERM')).toBe(0);
  verifyMessages(receiver.listMessages(ENDPOINT).slice(verifiedCount), secretByDelivery);

  const counts = countById(receiver.listMessages(ENDPOINT));
  expect([...secretByDelivery.keys()].filter((id) => !counts.has(id))).toEqual([]);
  const unexpectedDuplicates = [...counts].filter(
    ([id, count]) => count > 1 + (abandonedCounts.get(id) ?? 0),
  );
  expect(unexpectedDuplicates).toEqual([]);
  const duplicates = receiver.listMessages(ENDPOINT).length - secretByDelivery.size;
  console.log(`${secretByDelivery.size} messages, ${KILL_COUNT} kills, ${duplicates} duplicates`);
});

test('delivers every message once despite SIGTERMs, and exits after each', async () => {
  const { database, receiver, secretByDelivery, url } = await createFixture();
  for (const moment of planEndings(SEED + 1).filter((_, index) => index % 4 === 0)) {
    const child = await startDeliveryProcess(url);
    await receiver.waitForMessages(ENDPOINT, moment);
    expect(await endProcess(child, 'SIGTERM')).toBe(0);
    expect(await findAbandonedDeliveries(url)).toEqual([]);
  }
  const lastProcess = await startDeliveryProcess(url);
  await receiver.waitForMessages(ENDPOINT, secretByDelivery.size);
  expect(await endProcess(lastProcess, 'SIGTERM')).toBe(0);
  const counts = countById(receiver.listMessages(ENDPOINT));
  expect([...counts.keys()].toSorted()).toEqual([...secretByDelivery.keys()].toSorted());
  expect([...counts.values()].filter((count) => count > 1)).toEqual([]);
  expect(await database.prisma.deliveryAttempt.count()).toBe(secretByDelivery.size);
});
