/** Two processes of each role are replaced one after another under load. Clients notice nothing. */
import { setTimeout as wait } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { createEventList } from '../../../src/domain/event/notification-event.ts';
import { encodeCursor } from '../../../src/domain/paging/list-cursor.ts';
import { testApp, testDatabase } from '../../support/app.ts';
import { recordNamedEvent, routeEvents } from '../../support/event-log.ts';
import { type Receiver, startReceiver } from '../../support/receiver.ts';
import { databaseUrl, ENCRYPTION_KEY, type Gateway, startGateway } from '../fixtures/gateway.ts';
import { overEventStream, overWebSocket, type Subscription } from '../fixtures/subscribers.ts';
import { hasBalancer, NOTICED_MS, startBalancer } from './balancer.ts';

const SHORT = process.env.FAULTS_SHORT === '1';
const ROUNDS = SHORT ? 1 : 5;
const CLIENTS = SHORT ? 8 : 24;
const FOLLOWERS = SHORT ? 6 : 30;
const EVENT_EVERY_MS = 20;
/** Longer than the load balancer needs to notice, even on a busy machine. */
const DRAIN_MS = NOTICED_MS + (SHORT ? 1_000 : 4_000);
/** Pause before a disconnected subscriber reconnects, as clients do. */
const AGAIN_MS = 100;
const POLL_MS = 20;

if (!hasBalancer)
  console.warn('The test of the rolling restart is skipped: haproxy is not installed.');

const CREATE_DESTINATION = `mutation ($input: CreateDestinationInput!) {
  createDestination(input: $input) { destination { id } }
}`;
const ROUTE = `mutation ($input: CreateTopicDestinationRouteInput!) {
  createTopicDestinationRoute(input: $input) { topicDestinationRoute { id } }
}`;
const CHANGE = `mutation ($input: CreateTopicInput!) { createTopic(input: $input) { topic { id } } }`;
const READ = '{ viewer { project { topics(first: 5) { nodes { id name } } } } }';

async function prepare() {
  const database = await testDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const receiver = await startReceiver();
  onTestFinished(() => receiver[Symbol.asyncDispose]());
  const kept = { ...database, [Symbol.asyncDispose]: async () => {} };
  const common = { ENCRYPTION_KEY, ALLOWED_PRIVATE_TARGETS: '127.0.0.1/32' };
  await using app = await testApp({ env: common, database: kept });
  const tenant = await app.tenant();
  const { projectId } = tenant;
  const { createdTopicId: topicId } = await routeEvents(database.prisma, projectId);
  const input = { projectIdOrName: projectId, name: 'all', type: 'WEBHOOK' };
  const { destination } = (
    await tenant.query(CREATE_DESTINATION, { input: { ...input, url: receiver.url('all') } })
  ).createDestination;
  const route = { projectIdOrName: projectId, topicId, destinationId: destination.id };
  await tenant.query(ROUTE, { input: route });
  const env = { ...common, DATABASE_URL: await databaseUrl(database), DRAIN_MS: `${DRAIN_MS}` };
  return { database, receiver, env, project: projectId, apiKey: tenant.apiKey };
}

type Fixture = Awaited<ReturnType<typeof prepare>>;

/** Sends requests until the signal aborts. Returns the number of responses, and the failures. */
async function sendRepeatedly({ project, apiKey }: Fixture, url: string, signal: AbortSignal) {
  const agent = new Agent({ connections: CLIENTS, keepAliveTimeout: 60_000 });
  onTestFinished(() => agent.destroy());
  const failures: string[] = [];
  let served = 0;
  const headers = { 'content-type': 'application/json', 'x-api-key': apiKey };
  const send = async (body: object) => {
    const options = { dispatcher: agent, method: 'POST', headers, body: JSON.stringify(body) };
    const response = await request(`${url}/graphql`, options as never);
    const text = await response.body.text();
    if (response.statusCode !== 200 || text.includes('"errors"'))
      throw new Error(text.slice(0, 200));
  };
  const client = async () => {
    while (!signal.aborted) {
      const isChange = served % 10 === 0;
      const variables = {
        input: {
          projectIdOrName: project,
          name: `topic-${served}-${crypto.randomUUID()}`.slice(0, 40),
        },
      };
      const operation = isChange ? { query: CHANGE, variables } : { query: READ };
      await send(operation).catch((error: unknown) => failures.push(String(error)));
      served += 1;
      await wait(POLL_MS);
    }
  };
  await Promise.all(Array.from({ length: CLIENTS }, client));
  return { served, failures };
}

/** Follows the events to the last one, over as many connections as needed. */
async function follow(first: Subscription, index: number, isOver: (seen: number) => boolean) {
  const subscribe = index % 2 === 0 ? overWebSocket : overEventStream;
  const problems: string[] = [];
  let [at, connections] = [first, 0];
  while (!isOver(at.seen)) {
    const subscriber = await subscribe(at).catch(() => null);
    if (!subscriber) {
      await wait(AGAIN_MS);
      continue;
    }
    connections += 1;
    const { progress } = subscriber;
    // A connection without an event for this long is lost.
    let last = -1;
    while (!isOver(progress.seen) && progress.seen !== last) {
      last = progress.seen;
      await wait(EVENT_EVERY_MS * 50);
    }
    subscriber.leave();
    if (progress.problem) problems.push(progress.problem);
    at = { ...at, after: progress.cursor, seen: progress.seen };
  }
  return { problems, connections };
}

/** Records one event after another until the signal aborts. Returns their number. */
async function recordAgainAndAgain({ database, project }: Fixture, signal: AbortSignal) {
  let count = 0;
  while (!signal.aborted) {
    count += 1;
    await recordNamedEvent(database, { projectId: project, name: `e${count}:` });
    await wait(EVENT_EVERY_MS);
  }
  return count;
}

const PORT_OF = (url: string) => new URL(url).port;

/** Stops each gateway and starts another in its place, as an orchestrator does. */
async function replaceAll({ env }: Fixture, gateways: Gateway[], ready: () => Promise<void>) {
  for (const [index, gateway] of gateways.entries()) {
    expect(await gateway.stop()).toBe(0);
    const ROLES = index < 2 ? 'api' : 'worker';
    gateways[index] = await startGateway({ ...env, ROLES, PORT: PORT_OF(gateway.url) });
    await ready();
  }
}

async function waitForAll(receiver: Receiver, count: number) {
  const ids = () => receiver.received('all').map(({ id }) => id);
  await expect.poll(() => new Set(ids()).size, { timeout: 60_000 }).toBe(count);
  return { messages: ids().length };
}

test.skipIf(!hasBalancer)(
  'a rolling restart fails no request and loses or duplicates no event',
  async () => {
    const fixture = await prepare();
    const { env, project, apiKey, receiver } = fixture;
    const gateways = await Promise.all(
      ['api', 'api', 'worker', 'worker'].map((ROLES) => startGateway({ ...env, ROLES })),
    );
    const apis = gateways.slice(0, 2).map(({ url }) => url);
    const balancer = await startBalancer(apis);
    await balancer.sendsToAll();
    const ending = new AbortController();
    const sending = sendRepeatedly(fixture, balancer.url, ending.signal);
    let recorded = Number.POSITIVE_INFINITY;
    const recording = recordAgainAndAgain(fixture, ending.signal);
    const after = encodeCursor(createEventList(project), 0n);
    const start = { url: balancer.url, apiKey, project, after, seen: 0, copies: 1 };
    const following = Promise.all(
      Array.from({ length: FOLLOWERS }, (_, index) =>
        follow(start, index, (seen) => seen >= recorded),
      ),
    );
    for (let round = 0; round < ROUNDS; round += 1) {
      await replaceAll(fixture, gateways, balancer.sendsToAll);
    }
    ending.abort();
    recorded = await recording;
    const { served, failures } = await sending;
    const followers = await following;
    const { messages } = await waitForAll(receiver, recorded);
    const connections = followers.reduce((sum, one) => sum + one.connections, 0);
    console.log({ served, recorded, messages, connections, replaced: ROUNDS * gateways.length });
    expect(failures).toEqual([]);
    expect(followers.flatMap(({ problems }) => problems)).toEqual([]);
    expect(messages).toBe(recorded);
    expect(connections).toBeGreaterThan(FOLLOWERS);
    for (const gateway of gateways) expect(await gateway.stop()).toBe(0);
  },
);
