/**
 * Kills processes that follow a provider's stream. Another process continues, and each event is delivered once.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { createTestApp, createTestDatabase, keepOpen } from '../support/app.ts';
import { installOnOrg, startSalesforceOrg } from '../support/fixtures/salesforce-events.ts';
import { ENCRYPTION_KEY } from '../support/process/encryption-key.ts';
import { startReceiver } from '../support/receiver.ts';
import { type Gateway, getDatabaseUrl, startGateway } from './fixtures/gateway.ts';
import { createRandom } from './fixtures/random.ts';
import { IS_SHORT, SEED } from './fixtures/settings.ts';

const KILL_COUNT = IS_SHORT ? 2 : 10;
const EVENTS_MIN = IS_SHORT ? 400 : 4_000;
/** Number of events that are published at the same time. */
const EVENTS_PER_TRANSACTION = 20;
const PUBLISH_EVERY_MS = 100;
/** Maximum time between a stored event and the next kill. */
const KILL_WITHIN_MS = 1_000;
const ENDPOINT = 'hook';
const POLLING = { timeout: 90_000, interval: 50 };

/** Installs an integration on an org, with a receiver for its messages. No process follows the stream yet. */
async function createFixture() {
  const org = await startSalesforceOrg();
  onTestFinished(() => org[Symbol.asyncDispose]());
  const database = await createTestDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const receiver = await startReceiver();
  onTestFinished(() => receiver[Symbol.asyncDispose]());
  await using app = await createTestApp({
    env: { ...org.env, ENCRYPTION_KEY },
    database: keepOpen(database),
  });
  const tenant = await app.createTenant();
  const installation = await installOnOrg(app, tenant, org);
  const { projectId } = tenant;
  await database.prisma.destination.updateMany({
    where: { projectId },
    data: { url: receiver.getUrl(ENDPOINT) },
  });
  const env = {
    ...org.env,
    DATABASE_URL: await getDatabaseUrl(database),
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
    DELIVERY_RETRY_SECONDS: '1,1,1,1,1',
  };
  return { org, database, receiver, env, installationId: installation.id };
}

test(`delivers each event of a stream once despite ${KILL_COUNT} SIGKILLs of its follower`, async () => {
  const { org, database, env, installationId } = await createFixture();
  const { prisma } = database;
  const gateways: Gateway[] = await Promise.all([startGateway(env), startGateway(env)]);
  const findStatus = async () =>
    (await prisma.objectSubscription.findFirst({ where: { installationId } }))?.status;
  await expect.poll(findStatus, POLLING).toBe('ACTIVE');
  const findPosition = async () => (await prisma.providerStream.findFirst())?.position ?? null;
  org.stream.publish({ entityName: 'Contact', changeType: 'DELETE', recordIds: [createId(0)] });
  await expect.poll(findPosition, POLLING).not.toBeNull();

  const killing = new AbortController();
  const publishing = publishEvents(org, killing.signal);
  const random = createRandom(SEED);
  for (let kill = 0; kill < KILL_COUNT; kill += 1) {
    const index = await findFollower(gateways);
    await delay(random() * KILL_WITHIN_MS);
    await gateways[index]?.kill();
    gateways[index] = await startGateway(env);
  }
  killing.abort();
  const events = await publishing;
  await expect.poll(() => prisma.providerEvent.count(), POLLING).toBe(events);
  await expect
    .poll(() => prisma.providerEvent.count({ where: { doneTime: null } }), POLLING)
    .toBe(0);
  const enqueuedIds = (await prisma.delivery.findMany())
    .map(({ body }) => JSON.parse(body) as { action: string; result: { id: string }[] })
    .filter(({ action }) => action === 'subscribe')
    .flatMap(({ result }) => result.map(({ id }) => id));
  expect(enqueuedIds.toSorted()).toEqual(
    Array.from({ length: events }, (_, index) => createId(index)),
  );
  expect(org.stream.subscriptions.length).toBeGreaterThan(KILL_COUNT);
  // Only the first subscription starts at the latest event. Later subscriptions resume at the stored position.
  expect(org.stream.subscriptions.filter(({ preset }) => preset === 'LATEST')).toHaveLength(1);
  expect(await prisma.readRun.count({ where: { readType: 'TRIGGERED' } })).toBe(0);
});

/** Returns the index of the gateway that stores new events. */
async function findFollower(gateways: readonly Gateway[]): Promise<number> {
  const countStored = ({ lines }: Gateway) =>
    lines.filter(({ msg }) => msg === 'provider_stream.events_stored').length;
  const countsBefore = gateways.map(countStored);
  const findIndex = () =>
    gateways.findIndex((gateway, index) => countStored(gateway) > (countsBefore[index] ?? 0));
  await expect.poll(findIndex, POLLING).toBeGreaterThanOrEqual(0);
  return findIndex();
}

function createId(number: number): string {
  return `003${String(number).padStart(12, '0')}AAA`;
}

/**
 * Publishes at least EVENTS_MIN events, and continues until the signal aborts. Returns their number,
 * including the first.
 */
async function publishEvents(
  { stream }: Awaited<ReturnType<typeof startSalesforceOrg>>,
  signal: AbortSignal,
): Promise<number> {
  let publishedCount = 1;
  while (publishedCount < EVENTS_MIN || !signal.aborted) {
    for (let index = 0; index < EVENTS_PER_TRANSACTION; index += 1) {
      stream.publish({
        entityName: 'Contact',
        changeType: 'DELETE',
        recordIds: [createId(publishedCount)],
      });
      publishedCount += 1;
    }
    await delay(PUBLISH_EVERY_MS);
  }
  return publishedCount;
}
