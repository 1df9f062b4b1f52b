/**
 * The server and the database are killed while a provider sends events. Each accepted event is delivered
 * once, and the events of a record keep their order.
 */
import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { readConfig } from '../../src/config.ts';
import { openDatabase } from '../../src/database/database.ts';
import { createSigningSecret, sealSigningSecret } from '../../src/deliveries/signing-secret.ts';
import { createLog } from '../../src/log.ts';
import { testApp } from '../support/app.ts';
import { generateConnection } from '../support/fixtures/connections.ts';
import { CREATE_INSTALLATION, contentFor, integrate } from '../support/fixtures/integrations.ts';
import { ALL_EVENTS, createSandboxApp } from '../support/fixtures/subscriptions.ts';
import { findFreePort } from '../support/process/free-port.ts';
import { startReceiver } from '../support/receiver.ts';
import { ENCRYPTION_KEY, startGateway } from './fixtures/gateway.ts';
import { startOwnServer } from './fixtures/own-server.ts';
import { createRandom, planMoments } from './fixtures/random.ts';

/** FAULTS_SHORT=1 runs the short form. FAULT_SEED changes the moments of the kills. */
const SHORT = process.env.FAULTS_SHORT === '1';
const KILLS = Number(process.env.FAULT_KILLS ?? (SHORT ? 3 : 20));
const DATABASE_KILLS = SHORT ? 1 : 3;
const SEED = Number(process.env.FAULT_SEED ?? 1);
const SENDERS = 8;
/** Records of each sender. */
const RECORDS = SHORT ? 10 : 25;
const CHANGES = SHORT ? 10 : 50;
const EVENTS = SENDERS * RECORDS * CHANGES;
const REQUEST_EVENTS = 10;
const RETRY_MS = 50;
const SECRET = 'secret of the provider';
const PLACE = 'hook';
const DATABASE = 'events';
const WAITING = { timeout: 120_000, interval: 200 };

/** Creates a project that subscribes to contacts of the sandbox. The test sends the events in its place. */
async function prepare() {
  const server = await startOwnServer();
  onTestFinished(() => server.stop());
  await server.admin.query(`create database ${DATABASE}`);
  const DATABASE_URL = `${server.url}/${DATABASE}`;
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
  const kept = { ...database, [Symbol.asyncDispose]: async () => {} };
  await using app = await testApp({ env: { ENCRYPTION_KEY }, database: kept });
  const tenant = await app.tenant();
  const { projectId } = tenant;
  const { id: providerAppId } = await createSandboxApp(tenant, { webhookSecret: SECRET });
  await integrate(app, tenant, contentFor('crm', { subscribe: { objects: [ALL_EVENTS] } }));
  const place = await database.prisma.destination.findFirstOrThrow({ where: { projectId } });
  const sealed = sealSigningSecret(app.app.services.vault, place, createSigningSecret());
  await database.prisma.destination.updateMany({
    where: { id: place.id },
    data: { url: receiver.url(PLACE), ...sealed },
  });
  // The sandbox identifies an account by its connection.
  const { id: account } = await generateConnection(tenant, { apiKey: 'sandbox-key' });
  const input = { projectIdOrName: projectId, integrationIdOrName: 'crm', groupRef: 'acme' };
  await tenant.query(CREATE_INSTALLATION, { input });
  // Marks the subscription as active before the first event.
  await database.prisma.objectSubscription.updateMany({
    where: { projectId },
    data: { providerAppId, account, status: 'ACTIVE', dueTime: null },
  });
  return { server, database, receiver, env, providerAppId, account };
}

/** Yields requests with the changes of each of a sender's records, in order. */
function* createRequests(sender: number, account: string): Generator<object[]> {
  const startMs = Date.now();
  for (let change = 0; change < CHANGES; change += 1) {
    const events = Array.from({ length: RECORDS }, (_, record) => {
      const recordId = `${sender}-${record}`;
      const occurredAt = new Date(startMs + change * 10).toISOString();
      const about = { type: 'contacts.deleted', account, objectName: 'contacts' };
      return { id: `${recordId}-${change}`, recordId, occurredAt, ...about };
    });
    for (let index = 0; index < events.length; index += REQUEST_EVENTS) {
      yield events.slice(index, index + REQUEST_EVENTS);
    }
  }
}

/** Sends a request, and repeats it until the gateway accepts it, as a provider does. */
async function post(url: string, events: object[]): Promise<void> {
  const body = JSON.stringify({ events });
  for (;;) {
    const seconds = Math.floor(Date.now() / 1_000);
    const digest = createHmac('sha256', SECRET).update(`${seconds}.${body}`).digest('hex');
    const headers = { 'x-sandbox-signature': `t=${seconds},v1=${digest}` };
    const response = await fetch(url, { method: 'POST', headers, body }).catch(() => null);
    if (response?.status === 204) return;
    await delay(RETRY_MS);
  }
}

interface Sent {
  taken: number;
}

interface Sender {
  number: number;
  account: string;
}

async function sendAll(url: string, { number, account }: Sender, sent: Sent): Promise<void> {
  for (const events of createRequests(number, account)) {
    await post(url, events);
    sent.taken += events.length;
    // Sends each request twice, as a provider that missed the response does.
    await post(url, events);
  }
}

test(`delivers each of ${EVENTS} repeated events once and in order over ${KILLS} SIGKILLs of the server and ${DATABASE_KILLS} of the database`, async () => {
  const { server, database, receiver, env, providerAppId, account } = await prepare();
  const { prisma } = database;
  let gateway = await startGateway(env);
  const url = `http://127.0.0.1:${env.PORT}/webhooks/sandbox/${providerAppId}`;
  const sent = { taken: 0 };
  const sending = Promise.all(
    Array.from({ length: SENDERS }, (_, number) => sendAll(url, { number, account }, sent)),
  );
  const count = KILLS + DATABASE_KILLS;
  const crashEach = Math.ceil(count / DATABASE_KILLS);
  let crashes = 0;
  for (const [index, moment] of planMoments(createRandom(SEED), {
    count,
    most: EVENTS,
  }).entries()) {
    await expect.poll(() => sent.taken, { ...WAITING, interval: 5 }).toBeGreaterThanOrEqual(moment);
    if (index % crashEach === crashEach - 1 || index === count - 1) {
      await server.crash(DATABASE);
      crashes += 1;
    } else {
      await gateway.kill();
      gateway = await startGateway(env);
    }
  }
  expect(crashes).toBe(DATABASE_KILLS);
  await sending;
  const waiting = () => prisma.providerEvent.count({ where: { doneTime: null } });
  await expect.poll(waiting, WAITING).toBe(0);
  expect(await prisma.providerEvent.count()).toBe(EVENTS);
  const pending = () => prisma.delivery.count({ where: { status: { not: 'SUCCEEDED' } } });
  await expect.poll(pending, WAITING).toBe(0);

  const owed = (await prisma.delivery.findMany()).flatMap(({ body }) => idsIn(body));
  expect(owed).toHaveLength(EVENTS);
  expect(new Set(owed).size).toBe(EVENTS);
  // A message that a kill interrupted is repeated. Its first position counts.
  const messages = new Map(receiver.received(PLACE).map(({ id, body }) => [id, idsIn(body)]));
  const byRecord = Map.groupBy([...messages.values()].flat(), (id) => id.replace(/-\d+$/, ''));
  for (const [recordId, ids] of byRecord) {
    expect(ids).toEqual(Array.from({ length: CHANGES }, (_, change) => `${recordId}-${change}`));
  }
  expect(byRecord.size).toBe(SENDERS * RECORDS);
});

function idsIn(body: string): string[] {
  const { result } = JSON.parse(body) as { result: { rawEvent: { id: string } }[] };
  return result.map(({ rawEvent }) => rawEvent.id);
}
