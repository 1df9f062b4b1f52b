/** Replaces processes of each role one after another under load. Clients do not notice. */
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { encodeCursor } from '../../../src/domain/access/paging/list-cursor.ts';
import { createEventList } from '../../../src/domain/events/notification-event.ts';
import { createTestApp, createTestDatabase, keepOpen } from '../../support/app.ts';
import { recordNamedEvent } from '../../support/event-log.ts';
import { CREATE_TOPIC, createConnectionWebhook } from '../../support/fixtures/webhooks.ts';
import { ENCRYPTION_KEY } from '../../support/process/encryption-key.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { type Gateway, getDatabaseUrl, startGateway } from '../fixtures/gateway.ts';
import { IS_SHORT } from '../fixtures/settings.ts';
import {
  type Subscription,
  subscribeOverEventStream,
  subscribeOverWebSocket,
} from '../fixtures/subscribers.ts';
import { hasBalancer, NOTICED_MS, startBalancer } from './balancer.ts';

const ROUND_COUNT = IS_SHORT ? 1 : 5;
/** Positions of the replaced gateways. Two have the role `api` and two `worker`. The short form replaces one of each. */
const REPLACED = IS_SHORT ? [0, 2] : [0, 1, 2, 3];
const CLIENT_COUNT = IS_SHORT ? 8 : 24;
const FOLLOWER_COUNT = IS_SHORT ? 6 : 30;
const EVENT_EVERY_MS = IS_SHORT ? 50 : 20;
/** A subscriber that gets no event for this time has lost its connection. */
const SILENT_MS = 1_000;
/** Longer than the load balancer takes to detect a stopping gateway, even on a busy machine. */
const DRAIN_MS = NOTICED_MS + (IS_SHORT ? 1_000 : 4_000);
/** Pause before a disconnected subscriber reconnects, as clients do. */
const RECONNECT_MS = 100;
const REQUEST_EVERY_MS = IS_SHORT ? 50 : 20;
const ENDPOINT = 'hook';

if (!hasBalancer)
  console.warn('The test of the rolling restart is skipped: haproxy is not installed.');

const LIST_TOPICS =
  'query Topics { viewer { project { topics(first: 5) { nodes { id name } } } } }';

async function createFixture() {
  const database = await createTestDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const receiver = await startReceiver();
  onTestFinished(() => receiver[Symbol.asyncDispose]());
  const commonEnv = { ENCRYPTION_KEY, ALLOWED_PRIVATE_TARGETS: '127.0.0.1/32' };
  await using app = await createTestApp({ env: commonEnv, database: keepOpen(database) });
  const tenant = await app.createTenant();
  await createConnectionWebhook(tenant, { name: 'hook', url: receiver.getUrl(ENDPOINT) });
  const env = {
    ...commonEnv,
    DATABASE_URL: await getDatabaseUrl(database),
    DRAIN_MS: `${DRAIN_MS}`,
  };
  return { database, receiver, env, projectId: tenant.projectId, apiKey: tenant.apiKey };
}

type Fixture = Awaited<ReturnType<typeof createFixture>>;

/** Sends requests until the signal aborts. Returns the number of responses, and the failures. */
async function sendRepeatedly({ projectId, apiKey }: Fixture, url: string, signal: AbortSignal) {
  const agent = new Agent({ connections: CLIENT_COUNT, keepAliveTimeout: 60_000 });
  onTestFinished(() => agent.destroy());
  const failures: string[] = [];
  let served = 0;
  const headers = { 'content-type': 'application/json', 'x-api-key': apiKey };
  const send = async (body: object) => {
    const response = await request(`${url}/graphql`, {
      dispatcher: agent,
      method: 'POST',
      headers,
      body: JSON.stringify(body),
    });
    const text = await response.body.text();
    if (response.statusCode !== 200 || text.includes('"errors"'))
      throw new Error(text.slice(0, 200));
  };
  const sendUntilAborted = async () => {
    while (!signal.aborted) {
      const isChange = served % 10 === 0;
      const name = `topic-${served}-${crypto.randomUUID()}`.slice(0, 40);
      const variables = { input: { projectIdOrName: projectId, name } };
      const operation = isChange ? { query: CREATE_TOPIC, variables } : { query: LIST_TOPICS };
      await send(operation).catch((error: unknown) => failures.push(String(error)));
      served += 1;
      await delay(REQUEST_EVERY_MS);
    }
  };
  await Promise.all(Array.from({ length: CLIENT_COUNT }, sendUntilAborted));
  return { served, failures };
}

/** Follows the events to the last event, and reconnects when a connection is lost. */
async function follow(
  firstSubscription: Subscription,
  index: number,
  isOver: (seen: number) => boolean,
) {
  const subscribe = index % 2 === 0 ? subscribeOverWebSocket : subscribeOverEventStream;
  const problems: string[] = [];
  let [subscription, connections] = [firstSubscription, 0];
  while (!isOver(subscription.seen)) {
    const subscriber = await subscribe(subscription).catch(() => null);
    if (!subscriber) {
      await delay(RECONNECT_MS);
      continue;
    }
    connections += 1;
    const { progress } = subscriber;
    let lastSeen = -1;
    while (!isOver(progress.seen) && progress.seen !== lastSeen) {
      lastSeen = progress.seen;
      await delay(SILENT_MS);
    }
    subscriber.leave();
    if (progress.problem) problems.push(progress.problem);
    subscription = { ...subscription, after: progress.cursor, seen: progress.seen };
  }
  return { problems, connections };
}

/** Records one event after another until the signal aborts. Returns their number. */
async function recordRepeatedly({ database, projectId }: Fixture, signal: AbortSignal) {
  let count = 0;
  while (!signal.aborted) {
    count += 1;
    await recordNamedEvent(database, { projectId, name: `e${count}:` });
    await delay(EVENT_EVERY_MS);
  }
  return count;
}

/** Stops gateways and starts another in the place of each, as an orchestrator does. */
async function replace({ env }: Fixture, gateways: Gateway[], waitUntilReady: () => Promise<void>) {
  for (const index of REPLACED) {
    const gateway = gateways[index] as Gateway;
    expect(await gateway.stop()).toBe(0);
    const ROLES = index < 2 ? 'api' : 'worker';
    gateways[index] = await startGateway({ ...env, ROLES, PORT: new URL(gateway.url).port });
    await waitUntilReady();
  }
}

/** Waits for `count` different messages. Returns the number of messages, including repetitions. */
async function waitForMessages({ listMessages }: Receiver, count: number): Promise<number> {
  const countDistinct = () => new Set(listMessages(ENDPOINT).map(({ id }) => id)).size;
  await expect.poll(countDistinct, { timeout: 60_000 }).toBe(count);
  return listMessages(ENDPOINT).length;
}

test.skipIf(!hasBalancer)(
  'fails no request, and neither loses nor duplicates an event, during a rolling restart',
  async () => {
    const fixture = await createFixture();
    const { env, projectId, apiKey, receiver } = fixture;
    const gateways = await Promise.all(
      ['api', 'api', 'worker', 'worker'].map((ROLES) => startGateway({ ...env, ROLES })),
    );
    const apiUrls = gateways.slice(0, 2).map(({ url }) => url);
    const balancer = await startBalancer(apiUrls);
    await balancer.waitUntilAllReady();
    const controller = new AbortController();
    const sending = sendRepeatedly(fixture, balancer.url, controller.signal);
    let recordedCount = Number.POSITIVE_INFINITY;
    const recording = recordRepeatedly(fixture, controller.signal);
    const after = encodeCursor(createEventList(projectId), 0n);
    const start = { url: balancer.url, apiKey, projectId, after, seen: 0, copies: 1 };
    const following = Promise.all(
      Array.from({ length: FOLLOWER_COUNT }, (_, index) =>
        follow(start, index, (seen) => seen >= recordedCount),
      ),
    );
    for (let round = 0; round < ROUND_COUNT; round += 1) {
      await replace(fixture, gateways, balancer.waitUntilAllReady);
    }
    controller.abort();
    recordedCount = await recording;
    const { served, failures } = await sending;
    const followers = await following;
    const messages = await waitForMessages(receiver, recordedCount);
    const connections = followers.reduce((sum, follower) => sum + follower.connections, 0);
    console.log({
      served,
      recordedCount,
      messages,
      connections,
      replaced: ROUND_COUNT * REPLACED.length,
    });
    expect(failures).toEqual([]);
    expect(followers.flatMap(({ problems }) => problems)).toEqual([]);
    expect(messages).toBe(recordedCount);
    expect(connections).toBeGreaterThan(FOLLOWER_COUNT);
    for (const gateway of gateways) expect(await gateway.stop()).toBe(0);
  },
);
