import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import type { Database } from '../../src/database/open/database.ts';
import { encodeCursor } from '../../src/domain/access/paging/list-cursor.ts';
import { createEventList } from '../../src/domain/events/notification-event.ts';
import { createTestApp, createTestDatabase, keepOpen } from '../support/app.ts';
import { recordNamedEvents, routeEvents } from '../support/event-log.ts';
import { ENCRYPTION_KEY } from '../support/process/encryption-key.ts';
import { type Gateway, getDatabaseUrl, startGateway } from './fixtures/gateway.ts';
import { IS_SHORT } from './fixtures/settings.ts';
import {
  type Subscribe,
  type Subscriber,
  type Subscription,
  subscribeOverEventStream,
  subscribeOverWebSocket,
} from './fixtures/subscribers.ts';

const SUBSCRIBER_COUNT = IS_SHORT ? 60 : 1_000;
const STALLED_COUNT = SUBSCRIBER_COUNT / 10;
const EVENT_COUNT = IS_SHORT ? 1_000 : 2_000;
/** Number of events before some subscribers stop reading. */
const FIRST_EVENTS = 10;
const EVENTS_AT_ONCE = 25;
const PAYLOAD_BYTES = 2_000;
/** Stalled subscribers select so much data that their socket buffers, of some MiB each, are soon full. */
const STALLED_COPIES = 10;
/** Maximum number of events by which the writer is ahead of the slowest reader. */
const EVENTS_AHEAD = 200;
/** Number of subscribers that connect concurrently. */
const CONNECTING_MAX = 20;
/** Pause between two samples of the memory in use. Each sample collects all garbage, which takes CPU time. */
const SAMPLE_MS = 1_500;
/**
 * Allows for events in flight, which readers share, and 128 KiB for each connection. If the gateway kept the events of
 * a stalled subscriber, they would take at least 20 MiB.
 */
const USED_GROWTH_MAX_MIB = 64 + SUBSCRIBER_COUNT / 8;
const MIB = 2 ** 20;
const MINUTE_MS = 60_000;

interface Fixture {
  database: Database;
  gateway: Gateway;
  start: Subscription;
}

async function createFixture(): Promise<Fixture> {
  const database = await createTestDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  await using app = await createTestApp({ env: { ENCRYPTION_KEY }, database: keepOpen(database) });
  const { projectId, apiKey } = await app.createTenant();
  await routeEvents(database.prisma, projectId);
  const gateway = await startGateway({
    DATABASE_URL: await getDatabaseUrl(database),
    // With this limit, a subscriber can reconnect only after its old connection was closed.
    LIMIT_SUBSCRIPTIONS: String(SUBSCRIBER_COUNT),
  });
  const after = encodeCursor(createEventList(projectId), 0n);
  return {
    database,
    gateway,
    start: { url: gateway.url, apiKey, projectId, after, seen: 0, copies: 1 },
  };
}

async function recordEvents({ database, start }: Fixture, from: number, to: number): Promise<void> {
  const padding = 'x'.repeat(PAYLOAD_BYTES);
  const names = Array.from({ length: to - from + 1 }, (_, index) => `e${from + index}:${padding}`);
  await recordNamedEvents(database, start, names);
}

const countEventsOfSlowest = (readers: Subscriber[]) =>
  Math.min(...readers.map(({ progress }) => progress.seen));

async function waitUntilReached(readers: Subscriber[], count: number): Promise<void> {
  const polling = { timeout: 10 * MINUTE_MS };
  await expect.poll(() => countEventsOfSlowest(readers), polling).toBeGreaterThanOrEqual(count);
}

const chooseTransport = (index: number): Subscribe =>
  index % 2 === 0 ? subscribeOverWebSocket : subscribeOverEventStream;

/** Opens half of the subscriptions over each transport. */
async function subscribeAll({ start }: Fixture, count: number, copies: number) {
  const subscribers: (Subscriber | null)[] = [];
  while (subscribers.length < count) {
    const length = Math.min(CONNECTING_MAX, count - subscribers.length);
    const connecting = Array.from({ length }, (_, index) =>
      chooseTransport(index)({ ...start, copies }),
    );
    subscribers.push(...(await Promise.all(connecting)));
  }
  return subscribers.filter((subscriber) => subscriber !== null);
}

/** Samples the gateway's memory in use and its RSS. Returns a function that stops, and returns the maximum of each. */
function watchMemory(gateway: Gateway) {
  const maximum = { usedMib: 0, rssMib: 0 };
  const controller = new AbortController();
  const watching = (async () => {
    while (!controller.signal.aborted) {
      maximum.usedMib = Math.max(
        maximum.usedMib,
        Math.round((await gateway.measureUsedBytes()) / MIB),
      );
      maximum.rssMib = Math.max(maximum.rssMib, Math.round(gateway.readRssBytes() / MIB));
      await delay(SAMPLE_MS, undefined, { signal: controller.signal }).catch(() => {});
    }
  })();
  return async () => {
    controller.abort();
    await watching;
    return maximum;
  };
}

async function recordAndRead(fixture: Fixture, readers: Subscriber[]): Promise<void> {
  for (let from = FIRST_EVENTS + 1; from <= EVENT_COUNT; from += EVENTS_AT_ONCE) {
    await recordEvents(fixture, from, Math.min(from + EVENTS_AT_ONCE - 1, EVENT_COUNT));
    await waitUntilReached(readers, from - EVENTS_AHEAD);
  }
  await waitUntilReached(readers, EVENT_COUNT);
}

/** Reconnects stalled subscribers with their cursors. Retries until a subscription is free. */
async function reconnect({ start }: Fixture, stalled: Subscriber[]): Promise<Subscriber[]> {
  const reconnected: Subscriber[] = [];
  for (const [index, { progress }] of stalled.entries()) {
    const subscription = { ...start, after: progress.cursor, seen: progress.seen };
    const tryToSubscribe = async () => {
      const subscriber = await chooseTransport(index)(subscription);
      if (subscriber) reconnected.push(subscriber);
      return subscriber !== null;
    };
    await expect.poll(tryToSubscribe, { timeout: 2 * MINUTE_MS, interval: 500 }).toBe(true);
  }
  return reconnected;
}

/** Connects all subscribers. When each has a cursor, some stop reading. */
async function connectSubscribers(fixture: Fixture) {
  await recordEvents(fixture, 1, FIRST_EVENTS);
  const stalled = await subscribeAll(fixture, STALLED_COUNT, STALLED_COPIES);
  const readers = await subscribeAll(fixture, SUBSCRIBER_COUNT - STALLED_COUNT, 1);
  expect(stalled.length + readers.length).toBe(SUBSCRIBER_COUNT);
  await waitUntilReached([...stalled, ...readers], FIRST_EVENTS);
  for (const subscriber of stalled) subscriber.stall();
  return { stalled, readers };
}

function report(readers: Subscriber[], seconds: number): void {
  const perSecond = Math.round((readers.length * (EVENT_COUNT - FIRST_EVENTS)) / seconds);
  const time = `${seconds.toFixed(1)} s, ${perSecond}/s`;
  console.log(`${EVENT_COUNT} events to ${readers.length} readers in ${time}`);
}

test(`delays no reader and keeps memory constant if ${STALLED_COUNT} of ${SUBSCRIBER_COUNT} subscribers stop reading`, async () => {
  const fixture = await createFixture();
  const { gateway } = fixture;
  const { stalled, readers } = await connectSubscribers(fixture);
  const usedBeforeMib = Math.round((await gateway.measureUsedBytes()) / MIB);
  const stopWatching = watchMemory(gateway);

  const startMs = performance.now();
  await recordAndRead(fixture, readers);
  report(readers, (performance.now() - startMs) / 1_000);
  for (const { progress } of stalled) expect(progress.seen).toBeLessThan(EVENT_COUNT);
  const reconnected = await reconnect(fixture, stalled);
  await waitUntilReached(reconnected, EVENT_COUNT);
  const { usedMib, rssMib } = await stopWatching();
  console.log(`MiB in use: ${usedBeforeMib} before, at most ${usedMib}; RSS at most ${rssMib}`);

  const subscribers = [...stalled, ...readers, ...reconnected];
  expect(subscribers.flatMap(({ progress }) => progress.problem ?? [])).toEqual([]);
  expect(
    [...readers, ...reconnected].filter(({ progress }) => progress.seen !== EVENT_COUNT),
  ).toEqual([]);
  expect(usedMib - usedBeforeMib).toBeLessThan(USED_GROWTH_MAX_MIB);
  for (const subscriber of subscribers) subscriber.leave();
  expect(await gateway.stop()).toBe(0);
});
