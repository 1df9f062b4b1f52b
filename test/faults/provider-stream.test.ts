/** A provider's stream while those who follow it are killed: another goes on, and each event is owed once. */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { testApp, testDatabase } from '../support/app.ts';
import { startReceiver } from '../support/receiver.ts';
import { installOnOrg, salesforceOrg } from '../support/scenes/salesforce-events.ts';
import { databaseUrl, ENCRYPTION_KEY, type Gateway, startGateway } from './scenes/gateway.ts';
import { moments, randomOf } from './scenes/random.ts';

const SHORT = process.env.FAULTS_SHORT === '1';
const KILLS = SHORT ? 2 : 10;
const EVENTS = SHORT ? 400 : 4_000;
/** Told together, as one transaction's are. */
const TOGETHER = 20;
const SEED = Number(process.env.FAULT_SEED ?? 1);
const PLACE = 'hook';
const WAITING = { timeout: 90_000, interval: 50 };

/** An installation on an org, whose messages go to a receiver; nobody follows its stream yet. */
async function prepare() {
  const org = await salesforceOrg();
  onTestFinished(() => org[Symbol.asyncDispose]());
  const database = await testDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const receiver = await startReceiver();
  onTestFinished(() => receiver[Symbol.asyncDispose]());
  const kept = { ...database, [Symbol.asyncDispose]: async () => {} };
  await using app = await testApp({ env: { ...org.env, ENCRYPTION_KEY }, database: kept });
  const tenant = await app.tenant();
  const installed = await installOnOrg(app, tenant, org);
  const { projectId } = tenant;
  await database.prisma.destination.updateMany({
    where: { projectId },
    data: { url: receiver.url(PLACE) },
  });
  const env = {
    ...org.env,
    DATABASE_URL: await databaseUrl(database),
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
    DELIVERY_RETRY_SECONDS: '1,1,1,1,1',
  };
  return { org, database, receiver, env, installationId: installed.id };
}

test(`of ${EVENTS} events of a stream all are owed once over ${KILLS} SIGKILLs of who follows it`, async () => {
  const { org, database, env, installationId } = await prepare();
  const { prisma } = database;
  const gateways: Gateway[] = await Promise.all([startGateway(env), startGateway(env)]);
  const status = async () =>
    (await prisma.objectSubscription.findFirst({ where: { installationId } }))?.status;
  await expect.poll(status, WAITING).toBe('ACTIVE');
  const isPlaced = async () => (await prisma.providerStream.findFirst())?.position ?? null;
  const first = idOf(0);
  org.stream.tell({ entityName: 'Contact', changeType: 'DELETE', recordIds: [first] });
  await expect.poll(isPlaced, WAITING).not.toBeNull();

  const sent = { count: 1 };
  const sending = tellAll(org, sent);
  const times = moments(randomOf(SEED), { count: KILLS, most: EVENTS });
  for (const [index, moment] of times.entries()) {
    await expect.poll(() => sent.count, { ...WAITING, interval: 5 }).toBeGreaterThanOrEqual(moment);
    await expect.poll(() => org.stream.subscribers.length, WAITING).toBe(1);
    // Who took over from the one before is the next.
    await gateways[index % 2]?.kill();
    gateways[index % 2] = await startGateway(env);
  }
  await sending;
  await expect.poll(() => prisma.providerEvent.count(), WAITING).toBe(EVENTS);
  await expect
    .poll(() => prisma.providerEvent.count({ where: { doneTime: null } }), WAITING)
    .toBe(0);
  const owed = (await prisma.delivery.findMany())
    .map(({ body }) => JSON.parse(body) as { action: string; result: { id: string }[] })
    .filter(({ action }) => action === 'subscribe')
    .flatMap(({ result }) => result.map(({ id }) => id));
  expect(owed.toSorted()).toEqual(Array.from({ length: EVENTS }, (_, n) => idOf(n)));
  // Only the first to be killed may have been the one that followed nothing.
  await expect.poll(() => org.stream.begun.length, WAITING).toBeGreaterThanOrEqual(KILLS);
  // It was taken up where it was: never from the tip of the stream, nor by a read.
  expect(org.stream.begun.filter(({ preset }) => preset === 'LATEST')).toHaveLength(1);
  expect(await prisma.readRun.count({ where: { readType: 'TRIGGERED' } })).toBe(0);
});

function idOf(n: number): string {
  return `003${String(n).padStart(12, '0')}AAA`;
}

async function tellAll(
  { stream }: Awaited<ReturnType<typeof salesforceOrg>>,
  sent: { count: number },
): Promise<void> {
  while (sent.count < EVENTS) {
    const count = Math.min(TOGETHER, EVENTS - sent.count);
    for (let some = 0; some < count; some += 1) {
      const recordIds = [idOf(sent.count + some)];
      stream.tell({ entityName: 'Contact', changeType: 'DELETE', recordIds });
    }
    sent.count += count;
    await delay(20);
  }
}
