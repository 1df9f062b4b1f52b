/**
 * The processes that follow a provider's stream are killed. Another one takes over, and each event is
 * delivered once.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { testApp, testDatabase } from '../support/app.ts';
import { installOnOrg, startSalesforceOrg } from '../support/fixtures/salesforce-events.ts';
import { startReceiver } from '../support/receiver.ts';
import { databaseUrl, ENCRYPTION_KEY, type Gateway, startGateway } from './fixtures/gateway.ts';
import { createRandom } from './fixtures/random.ts';

const SHORT = process.env.FAULTS_SHORT === '1';
const KILLS = SHORT ? 2 : 10;
const EVENTS_LEAST = SHORT ? 400 : 4_000;
/** Number of events that are published together, as in one transaction. */
const TOGETHER = 20;
const TELL_EVERY_MS = 100;
/** Maximum time between a stored event and the next kill. */
const KILL_WITHIN_MS = 1_000;
const SEED = Number(process.env.FAULT_SEED ?? 1);
const PLACE = 'hook';
const WAITING = { timeout: 90_000, interval: 50 };

/** Installs an integration on an org, with a receiver for its messages. No process follows the stream yet. */
async function prepare() {
  const org = await startSalesforceOrg();
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

test(`delivers each event of a stream once over ${KILLS} SIGKILLs of its follower`, async () => {
  const { org, database, env, installationId } = await prepare();
  const { prisma } = database;
  const gateways: Gateway[] = await Promise.all([startGateway(env), startGateway(env)]);
  const status = async () =>
    (await prisma.objectSubscription.findFirst({ where: { installationId } }))?.status;
  await expect.poll(status, WAITING).toBe('ACTIVE');
  const isPlaced = async () => (await prisma.providerStream.findFirst())?.position ?? null;
  const first = createId(0);
  org.stream.publish({ entityName: 'Contact', changeType: 'DELETE', recordIds: [first] });
  await expect.poll(isPlaced, WAITING).not.toBeNull();

  const killing = new AbortController();
  const telling = tellAll(org, killing.signal);
  const random = createRandom(SEED);
  for (let kill = 0; kill < KILLS; kill += 1) {
    const index = await findFollower(gateways);
    await delay(random() * KILL_WITHIN_MS);
    await gateways[index]?.kill();
    gateways[index] = await startGateway(env);
  }
  killing.abort();
  const events = await telling;
  await expect.poll(() => prisma.providerEvent.count(), WAITING).toBe(events);
  await expect
    .poll(() => prisma.providerEvent.count({ where: { doneTime: null } }), WAITING)
    .toBe(0);
  const owed = (await prisma.delivery.findMany())
    .map(({ body }) => JSON.parse(body) as { action: string; result: { id: string }[] })
    .filter(({ action }) => action === 'subscribe')
    .flatMap(({ result }) => result.map(({ id }) => id));
  expect(owed.toSorted()).toEqual(Array.from({ length: events }, (_, n) => createId(n)));
  expect(org.stream.subscriptions.length).toBeGreaterThan(KILLS);
  // The stream was resumed at its position: never at its latest event, and never replaced by a read.
  expect(org.stream.subscriptions.filter(({ preset }) => preset === 'LATEST')).toHaveLength(1);
  expect(await prisma.readRun.count({ where: { readType: 'TRIGGERED' } })).toBe(0);
});

/** Returns the index of the gateway that stores new events. */
async function findFollower(gateways: readonly Gateway[]): Promise<number> {
  const storedBy = ({ lines }: Gateway) =>
    lines.filter(({ msg }) => msg === 'provider_stream.stored').length;
  const before = gateways.map(storedBy);
  const follower = () =>
    gateways.findIndex((gateway, index) => storedBy(gateway) > (before[index] ?? 0));
  await expect.poll(follower, WAITING).toBeGreaterThanOrEqual(0);
  return follower();
}

function createId(n: number): string {
  return `003${String(n).padStart(12, '0')}AAA`;
}

/**
 * Publishes at least EVENTS_LEAST events, and continues until the signal aborts. Returns their number,
 * including the first.
 */
async function tellAll(
  { stream }: Awaited<ReturnType<typeof startSalesforceOrg>>,
  signal: AbortSignal,
): Promise<number> {
  let told = 1;
  while (told < EVENTS_LEAST || !signal.aborted) {
    for (let some = 0; some < TOGETHER; some += 1) {
      stream.publish({ entityName: 'Contact', changeType: 'DELETE', recordIds: [createId(told)] });
      told += 1;
    }
    await delay(TELL_EVERY_MS);
  }
  return told;
}
