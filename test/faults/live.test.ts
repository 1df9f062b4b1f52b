/**
 * Measures the time from an event's commit to its arrival at subscribers. It is reported and not asserted,
 * because machines differ.
 */
import { expect, onTestFinished, test } from 'vitest';
import { type Database, openEngine } from '../../src/database/database.ts';
import { createEventList } from '../../src/domain/event/notification-event.ts';
import { encodeCursor } from '../../src/domain/paging/list-cursor.ts';
import { createLog } from '../../src/log.ts';
import { type TestApp, testApp, testDatabase } from '../support/app.ts';
import { acquireEngine } from '../support/database/embedded/embedded-databases.ts';
import { createNames, recordNamedEvent, routeEvents } from '../support/event-log.ts';
import { openEventStream } from '../support/event-stream.ts';
import { openSocket } from '../support/socket.ts';
import { databaseUrl, ENCRYPTION_KEY, startGateway } from './fixtures/gateway.ts';

/** FAULTS_SHORT=1 runs the short form. */
const EVENTS = process.env.FAULTS_SHORT === '1' ? 50 : 200;

const QUERY = `subscription ($project: String!, $after: String) {
  notificationEvents(projectIdOrName: $project, after: $after) { node { data } }
}`;

interface Fixture {
  database: Database;
  url: string;
  apiKey: string;
  projectId: string;
}

interface Live {
  way: string;
  /** Returns the name of the next event. */
  next(): Promise<string>;
}

/** Subscribes from the start of the log. */
function subscriptionTo({ projectId: project }: Fixture) {
  return {
    query: QUERY,
    variables: { project, after: encodeCursor(createEventList(project), 0n) },
  };
}

async function overEventStream(fixture: Fixture): Promise<Live> {
  const { url, apiKey } = fixture;
  const stream = await openEventStream((path, init) => fetch(url + path, init), {
    ...subscriptionTo(fixture),
    headers: { 'x-api-key': apiKey },
  });
  onTestFinished(() => stream.close());
  const next = async () => (await stream.next())?.data.data.notificationEvents;
  return { way: 'SSE', next: async () => (await next()).node.data.connectionId };
}

async function overWebSocket(fixture: Fixture): Promise<Live> {
  const socket = await openSocket(fixture.url);
  onTestFinished(() => socket.socket.terminate());
  socket.send({ type: 'connection_init', payload: { 'x-api-key': fixture.apiKey } });
  expect(await socket.next()).toEqual({ type: 'connection_ack' });
  socket.send({ id: '1', type: 'subscribe', payload: subscriptionTo(fixture) });
  const next = async () => (await socket.next()).payload.data.notificationEvents;
  return { way: 'WebSocket', next: async () => (await next()).node.data.connectionId };
}

async function nextAt({ next }: Live): Promise<{ name: string; ms: number }> {
  const name = await next();
  return { name, ms: performance.now() };
}

/**
 * Records one event after another. Returns the times for each transport, from the start of the commit until
 * the client has read the event.
 */
async function measure(fixture: Fixture, lives: Live[]): Promise<number[][]> {
  const { database, projectId } = fixture;
  const times: number[][] = lives.map(() => []);
  for (const name of createNames('e', EVENTS)) {
    let committingMs = 0;
    const delay = async () => {
      committingMs = performance.now();
    };
    const arriving = Promise.all(lives.map(nextAt));
    await recordNamedEvent(database, { projectId, name, delay });
    for (const [index, arrived] of (await arriving).entries()) {
      expect(arrived.name).toBe(name);
      times[index]?.push(arrived.ms - committingMs);
    }
  }
  return times;
}

async function measureBoth(kind: string, fixture: Fixture): Promise<void> {
  const lives = [await overEventStream(fixture), await overWebSocket(fixture)];
  // When both have received the first event, both subscriptions are live.
  await recordNamedEvent(fixture.database, { projectId: fixture.projectId, name: 'first' });
  for (const { next } of lives) expect(await next()).toBe('first');
  const times = await measure(fixture, lives);
  for (const [index, { way }] of lives.entries()) {
    const sorted = times[index]?.toSorted((a, b) => a - b) ?? [];
    const [p50, p99] = [0.5, 0.99].map((share) => sorted[Math.floor(share * EVENTS)]?.toFixed(1));
    console.log(`${kind}, ${way}: commit to arrival p50 ${p50} ms, p99 ${p99} ms`);
  }
}

async function createRoutedTenant({ app, tenant }: TestApp) {
  const { projectId, apiKey } = await tenant();
  await routeEvents(app.services.database.prisma, projectId);
  return { projectId, apiKey };
}

test(`subscribers receive ${EVENTS} single events from a separate server on PostgreSQL`, async () => {
  const database = await testDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const kept = { ...database, [Symbol.asyncDispose]: async () => {} };
  await using host = await testApp({ env: { ENCRYPTION_KEY }, database: kept });
  const tenant = await createRoutedTenant(host);
  const { url } = await startGateway({ DATABASE_URL: await databaseUrl(database) });
  await measureBoth('PostgreSQL', { database, url, ...tenant });
});

test(`subscribers receive ${EVENTS} single events from a server on the embedded database`, async () => {
  const database = await openEngine(await acquireEngine(), createLog('silent'));
  const host = await testApp({ database });
  onTestFinished(() => host[Symbol.asyncDispose]());
  const tenant = await createRoutedTenant(host);
  const { url } = await host.app.start();
  await measureBoth('embedded', { database, url, ...tenant });
});
