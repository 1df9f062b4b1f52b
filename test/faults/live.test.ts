/**
 * Reports the time from an event's commit to its arrival at subscribers. The time is not asserted, because machines
 * differ.
 */
import { expect, onTestFinished, test } from 'vitest';
import type { Database } from '../../src/database/open/database.ts';
import { openEngine } from '../../src/database/open/open-embedded.ts';
import { encodeCursor } from '../../src/domain/access/paging/list-cursor.ts';
import { createEventList } from '../../src/domain/events/notification-event.ts';
import { createLog } from '../../src/kernel/log.ts';
import { createTestApp, createTestDatabase, keepOpen, type TestApp } from '../support/app.ts';
import { acquireEngine } from '../support/database/embedded/embedded-databases.ts';
import { createNames, recordNamedEvent, routeEvents } from '../support/event-log.ts';
import { openEventStream } from '../support/event-stream.ts';
import { fetchFrom } from '../support/graphql-client.ts';
import { ENCRYPTION_KEY } from '../support/process/encryption-key.ts';
import { openSocket } from '../support/socket.ts';
import { getDatabaseUrl, startGateway } from './fixtures/gateway.ts';
import { computePercentile } from './fixtures/percentile.ts';
import { IS_SHORT } from './fixtures/settings.ts';

const EVENT_COUNT = IS_SHORT ? 50 : 200;

const SUBSCRIBE_TO_EVENTS = `subscription Events($project: String!, $after: String) {
  notificationEvents(projectIdOrName: $project, after: $after) { node { data } }
}`;

interface Fixture {
  database: Database;
  url: string;
  apiKey: string;
  projectId: string;
}

interface Subscriber {
  transport: string;
  /** Returns the name of the next event. */
  next(): Promise<string>;
}

/** Subscribes from the start of the log. */
function createSubscription({ projectId: project }: Fixture) {
  return {
    query: SUBSCRIBE_TO_EVENTS,
    variables: { project, after: encodeCursor(createEventList(project), 0n) },
  };
}

async function subscribeOverEventStream(fixture: Fixture): Promise<Subscriber> {
  const { url, apiKey } = fixture;
  const stream = await openEventStream(fetchFrom(url), {
    ...createSubscription(fixture),
    headers: { 'x-api-key': apiKey },
  });
  onTestFinished(() => stream.close());
  const readNextEvent = async () => (await stream.next())?.data.data.notificationEvents;
  return { transport: 'SSE', next: async () => (await readNextEvent()).node.data.connectionId };
}

async function subscribeOverWebSocket(fixture: Fixture): Promise<Subscriber> {
  const socket = await openSocket(fixture.url);
  onTestFinished(() => socket.socket.terminate());
  socket.send({ type: 'connection_init', payload: { 'x-api-key': fixture.apiKey } });
  expect(await socket.next()).toEqual({ type: 'connection_ack' });
  socket.send({ id: '1', type: 'subscribe', payload: createSubscription(fixture) });
  const readNextEvent = async () => (await socket.next()).payload.data.notificationEvents;
  return {
    transport: 'WebSocket',
    next: async () => (await readNextEvent()).node.data.connectionId,
  };
}

async function readNextTimed({ next }: Subscriber): Promise<{ name: string; ms: number }> {
  const name = await next();
  return { name, ms: performance.now() };
}

/**
 * Records one event after another. Returns the durations for each transport, from the start of the commit until the
 * client has read the event.
 */
async function measure(fixture: Fixture, subscribers: Subscriber[]): Promise<number[][]> {
  const { database, projectId } = fixture;
  const durations: number[][] = subscribers.map(() => []);
  for (const name of createNames('e', EVENT_COUNT)) {
    let committingMs = 0;
    const delay = async () => {
      committingMs = performance.now();
    };
    const arrivals = Promise.all(subscribers.map(readNextTimed));
    await recordNamedEvent(database, { projectId, name, delay });
    for (const [index, arrived] of (await arrivals).entries()) {
      expect(arrived.name).toBe(name);
      durations[index]?.push(arrived.ms - committingMs);
    }
  }
  return durations;
}

async function measureTransports(kind: string, fixture: Fixture): Promise<void> {
  const subscribers = [
    await subscribeOverEventStream(fixture),
    await subscribeOverWebSocket(fixture),
  ];
  // A subscription is live when it has received an event.
  await recordNamedEvent(fixture.database, { projectId: fixture.projectId, name: 'first' });
  for (const { next } of subscribers) expect(await next()).toBe('first');
  const durations = await measure(fixture, subscribers);
  for (const [index, { transport }] of subscribers.entries()) {
    const [p50, p99] = [0.5, 0.99].map((share) =>
      computePercentile(durations[index] ?? [], share).toFixed(1),
    );
    console.log(`${kind}, ${transport}: commit to arrival p50 ${p50} ms, p99 ${p99} ms`);
  }
}

async function createRoutedTenant({ app, createTenant }: TestApp) {
  const { projectId, apiKey } = await createTenant();
  await routeEvents(app.services.database.prisma, projectId);
  return { projectId, apiKey };
}

test(`delivers ${EVENT_COUNT} single events to subscribers of a separate server on PostgreSQL`, async () => {
  const database = await createTestDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  await using app = await createTestApp({ env: { ENCRYPTION_KEY }, database: keepOpen(database) });
  const tenant = await createRoutedTenant(app);
  const { url } = await startGateway({ DATABASE_URL: await getDatabaseUrl(database) });
  await measureTransports('PostgreSQL', { database, url, ...tenant });
});

test(`delivers ${EVENT_COUNT} single events to subscribers of a server on the embedded database`, async () => {
  const database = await openEngine(await acquireEngine(), createLog('silent'));
  const app = await createTestApp({ database });
  onTestFinished(() => app[Symbol.asyncDispose]());
  const tenant = await createRoutedTenant(app);
  const { url } = await app.app.start();
  await measureTransports('embedded', { database, url, ...tenant });
});
