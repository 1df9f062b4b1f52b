import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { openDatabase } from '../../src/database/open/open-database.ts';
import { createLog } from '../../src/kernel/log.ts';
import { readConfig } from '../../src/settings/config.ts';
import { createTestApp, keepOpen } from '../support/app.ts';
import {
  createEventsBody,
  createSentEvent,
  installForSentEvents,
  signRequest,
} from '../support/fixtures/signed-events.ts';
import { sendMessagesTo } from '../support/fixtures/subscriptions.ts';
import { ENCRYPTION_KEY } from '../support/process/encryption-key.ts';
import { findFreePort } from '../support/process/free-port.ts';
import { startReceiver } from '../support/receiver.ts';
import { startDedicatedServer } from './fixtures/dedicated-server.ts';
import { startGateway } from './fixtures/gateway.ts';
import { createRandom, planMoments } from './fixtures/random.ts';
import { IS_SHORT, KILL_COUNT, SEED } from './fixtures/settings.ts';

const DATABASE_KILLS = IS_SHORT ? 1 : 3;
const SENDER_COUNT = 8;
/** Records of each sender. */
const RECORDS_PER_SENDER = IS_SHORT ? 10 : 25;
const CHANGES_PER_RECORD = IS_SHORT ? 10 : 50;
const EVENT_COUNT = SENDER_COUNT * RECORDS_PER_SENDER * CHANGES_PER_RECORD;
const REQUEST_EVENTS = 10;
const RETRY_MS = 50;
const ENDPOINT = 'hook';
const DATABASE_NAME = 'events';
const POLLING = { timeout: 120_000, interval: 200 };

/** Creates a project that subscribes to contacts of the sandbox, with a receiver for its messages. */
async function createFixture() {
  const server = await startDedicatedServer();
  onTestFinished(() => server.stop());
  await server.admin.query(`create database ${DATABASE_NAME}`);
  const DATABASE_URL = `${server.url}/${DATABASE_NAME}`;
  const config = readConfig({ DATABASE_URL, ENCRYPTION_KEY });
  const database = await openDatabase(config, createLog('silent'));
  onTestFinished(() => database[Symbol.asyncDispose]());
  const receiver = await startReceiver();
  onTestFinished(() => receiver[Symbol.asyncDispose]());
  const env = {
    DATABASE_URL,
    ENCRYPTION_KEY,
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
    DELIVERY_RETRY_SECONDS: '1,1,1,1,1',
    PORT: String(await findFreePort()),
  };
  await using app = await createTestApp({ env: { ENCRYPTION_KEY }, database: keepOpen(database) });
  const tenant = await app.createTenant();
  const { providerAppId, account } = await installForSentEvents(app, tenant);
  await sendMessagesTo(app, tenant, receiver.getUrl(ENDPOINT));
  return { server, database, receiver, env, providerAppId, account };
}

/** Yields requests with the changes of a sender's records, in the order of the changes. */
function* createRequests(sender: number, account: string): Generator<object[]> {
  const startMs = Date.now();
  for (let change = 0; change < CHANGES_PER_RECORD; change += 1) {
    const events = Array.from({ length: RECORDS_PER_SENDER }, (_, record) => {
      const recordId = `${sender}-${record}`;
      const occurredAt = new Date(startMs + change * 10).toISOString();
      return createSentEvent(account, { id: `${recordId}-${change}`, recordId, occurredAt });
    });
    for (let index = 0; index < events.length; index += REQUEST_EVENTS) {
      yield events.slice(index, index + REQUEST_EVENTS);
    }
  }
}

/** Repeats a request until the gateway accepts it, as a provider does. */
async function sendUntilAccepted(url: string, events: object[]): Promise<void> {
  const body = createEventsBody(...events);
  for (;;) {
    const response = await fetch(url, signRequest(body)).catch(() => null);
    if (response?.status === 204) return;
    await delay(RETRY_MS);
  }
}

interface Sender {
  number: number;
  account: string;
}

async function sendAllRequests(
  url: string,
  { number, account }: Sender,
  counter: { accepted: number },
): Promise<void> {
  for (const events of createRequests(number, account)) {
    await sendUntilAccepted(url, events);
    counter.accepted += events.length;
    // Repeats the request, like a provider that missed the response.
    await sendUntilAccepted(url, events);
  }
}

test(`delivers each of ${EVENT_COUNT} repeated events once and in order despite ${KILL_COUNT} SIGKILLs of the server and ${DATABASE_KILLS} of the database`, async () => {
  const { server, database, receiver, env, providerAppId, account } = await createFixture();
  const { prisma } = database;
  let gateway = await startGateway(env);
  const url = `http://127.0.0.1:${env.PORT}/webhooks/sandbox/${providerAppId}`;
  const counter = { accepted: 0 };
  const sending = Promise.all(
    Array.from({ length: SENDER_COUNT }, (_, number) =>
      sendAllRequests(url, { number, account }, counter),
    ),
  );
  const count = KILL_COUNT + DATABASE_KILLS;
  const killsPerCrash = Math.ceil(count / DATABASE_KILLS);
  let crashes = 0;
  const moments = planMoments(createRandom(SEED), { count, most: EVENT_COUNT });
  for (const [index, moment] of moments.entries()) {
    await expect
      .poll(() => counter.accepted, { ...POLLING, interval: 5 })
      .toBeGreaterThanOrEqual(moment);
    if (index % killsPerCrash === killsPerCrash - 1 || index === count - 1) {
      await server.crash(DATABASE_NAME);
      crashes += 1;
    } else {
      await gateway.kill();
      gateway = await startGateway(env);
    }
  }
  expect(crashes).toBe(DATABASE_KILLS);
  await sending;
  const countWaiting = () => prisma.providerEvent.count({ where: { doneTime: null } });
  await expect.poll(countWaiting, POLLING).toBe(0);
  expect(await prisma.providerEvent.count()).toBe(EVENT_COUNT);
  const countPending = () => prisma.delivery.count({ where: { status: { not: 'SUCCEEDED' } } });
  await expect.poll(countPending, POLLING).toBe(0);

  const enqueuedIds = (await prisma.delivery.findMany()).flatMap(({ body }) => listEventIds(body));
  expect(enqueuedIds).toHaveLength(EVENT_COUNT);
  expect(new Set(enqueuedIds).size).toBe(EVENT_COUNT);
  // The map keeps a message that was repeated after a kill at its first position.
  const eventsByMessage = new Map(
    receiver.listMessages(ENDPOINT).map(({ id, body }) => [id, listEventIds(body)]),
  );
  const idsByRecord = Map.groupBy([...eventsByMessage.values()].flat(), (id) =>
    id.replace(/-\d+$/, ''),
  );
  for (const [recordId, ids] of idsByRecord) {
    expect(ids).toEqual(
      Array.from({ length: CHANGES_PER_RECORD }, (_, change) => `${recordId}-${change}`),
    );
  }
  expect(idsByRecord.size).toBe(SENDER_COUNT * RECORDS_PER_SENDER);
});

function listEventIds(body: string): string[] {
  const { result } = JSON.parse(body) as { result: { rawEvent: { id: string } }[] };
  return result.map(({ rawEvent }) => rawEvent.id);
}
