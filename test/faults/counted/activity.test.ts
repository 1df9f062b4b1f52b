/**
 * The server is killed during writes, reads, events and deliveries. The counts of activity, which are stored
 * separately from the work, must equal the rows.
 */
import { createHmac } from 'node:crypto';
import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { createSigningSecret, sealSigningSecret } from '../../../src/deliveries/signing-secret.ts';
import { testApp, testDatabase } from '../../support/app.ts';
import { generateConnection, keepEvents } from '../../support/fixtures/connections.ts';
import { CREATE_INSTALLATION, contentFor, integrate } from '../../support/fixtures/integrations.ts';
import { TRIGGER } from '../../support/fixtures/reads.ts';
import { ALL_EVENTS, createSandboxApp } from '../../support/fixtures/subscriptions.ts';
import { WRITE } from '../../support/fixtures/writes.ts';
import { createClient } from '../../support/graphql-client.ts';
import { findFreePort } from '../../support/process/free-port.ts';
import { startReceiver } from '../../support/receiver.ts';
import { databaseUrl, ENCRYPTION_KEY, startGateway } from '../fixtures/gateway.ts';
import { createRandom, planMoments } from '../fixtures/random.ts';

/** FAULTS_SHORT=1 runs the short form. FAULT_SEED changes the moments of the kills. */
const SHORT = process.env.FAULTS_SHORT === '1';
const KILLS = Number(process.env.FAULT_KILLS ?? (SHORT ? 3 : 20));
const SEED = Number(process.env.FAULT_SEED ?? 1);
/** Number of requests of all kinds until the last kill. */
const CALLS = 60 * KILLS;
const WRITERS = 4;
const READERS = 2;
const SENDERS = 2;
const EVENTS_AT_ONCE = 5;
const RETRY_MS = 20;
const SECRET = 'secret of the provider';
const WAITING = { timeout: 240_000, interval: 250 };

/**
 * Creates a project that reads, writes and subscribes to contacts of the sandbox, with a receiver for all
 * messages.
 */
async function prepare() {
  const database = await testDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const receiver = await startReceiver();
  onTestFinished(() => receiver[Symbol.asyncDispose]());
  const env = {
    DATABASE_URL: await databaseUrl(database),
    ENCRYPTION_KEY,
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
    DELIVERY_RETRY_SECONDS: '1,1,1,1,1',
    RATE_LIMIT_PER_SECOND: '100000',
    RATE_LIMIT_BURST: '100000',
    PORT: String(await findFreePort()),
  };
  const kept = { ...database, [Symbol.asyncDispose]: async () => {} };
  await using app = await testApp({ env: { ENCRYPTION_KEY }, database: kept });
  const tenant = await app.tenant();
  const { projectId, apiKey } = tenant;
  await keepEvents(app, tenant);
  const { id: providerAppId } = await createSandboxApp(tenant, { webhookSecret: SECRET });
  const content = {
    subscribe: { objects: [ALL_EVENTS] },
    write: { objects: [{ objectName: 'contacts' }] },
  };
  await integrate(app, tenant, contentFor('crm', content));
  for (const place of await database.prisma.destination.findMany({ where: { projectId } })) {
    const sealed = sealSigningSecret(app.app.services.vault, place, createSigningSecret());
    const data = { url: receiver.url('all'), ...sealed };
    await database.prisma.destination.updateMany({ where: { id: place.id }, data });
  }
  const { id: account } = await generateConnection(tenant, { apiKey: 'sandbox-key' });
  const ends = { projectIdOrName: projectId, integrationIdOrName: 'crm', groupRef: 'acme' };
  await tenant.query(CREATE_INSTALLATION, { input: ends });
  // Marks the subscription as active before the first event.
  await database.prisma.objectSubscription.updateMany({
    where: { projectId },
    data: { providerAppId, account, status: 'ACTIVE', dueTime: null },
  });
  const hook = `http://127.0.0.1:${env.PORT}/webhooks/sandbox/${providerAppId}`;
  const url = `http://127.0.0.1:${env.PORT}`;
  const client = createClient((path, init) => fetch(`${url}${path}`, init), {
    'x-api-key': apiKey,
  });
  return { database, env, projectId, ends, hook, account, client };
}

type Fixture = Awaited<ReturnType<typeof prepare>>;

function sendEvents({ hook, account }: Fixture, n: number): Promise<Response> {
  const events = Array.from({ length: EVENTS_AT_ONCE }, (_, one) => {
    const about = { type: 'contacts.deleted', account, objectName: 'contacts' };
    return { id: `${n}-${one}`, recordId: `${n}`, occurredAt: new Date().toISOString(), ...about };
  });
  const body = JSON.stringify({ events });
  const seconds = Math.floor(Date.now() / 1_000);
  const digest = createHmac('sha256', SECRET).update(`${seconds}.${body}`).digest('hex');
  const headers = { 'x-sandbox-signature': `t=${seconds},v1=${digest}` };
  return fetch(hook, { method: 'POST', headers, body });
}

/**
 * Sends requests of all kinds until enough have been accepted. A request that a kill interrupts may have
 * succeeded or not.
 */
function load({ client, ends, ...fixture }: Fixture) {
  const taken = { calls: 0, kinds: new Set<string>() };
  let number = 0;
  const repeat = async (kind: string, call: (n: number) => Promise<boolean>) => {
    while (taken.calls < CALLS) {
      number += 1;
      const isTaken = await call(number).catch(() => false);
      if (isTaken) {
        taken.calls += 1;
        taken.kinds.add(kind);
      } else {
        await delay(RETRY_MS);
      }
    }
  };
  const write = async (n: number) => {
    const record = n % 10 === 0 ? { nothing: 'of the object' } : { email: `a${n}@example.com` };
    const of = { objectName: 'contacts', type: 'CREATE', records: { record } };
    const mode = n % 2 === 0 ? 'SYNCHRONOUS' : 'ASYNCHRONOUS';
    const { data } = await client.request(WRITE, { input: { ...ends, ...of, mode } });
    return data?.writeRecords != null;
  };
  const read = async () => {
    const { data } = await client.request(TRIGGER, { input: { ...ends, objectName: 'contacts' } });
    return data?.triggerRead != null;
  };
  const event = async (n: number) =>
    (await sendEvents({ client, ends, ...fixture }, n)).status === 204;
  const some = (count: number, kind: string, call: (n: number) => Promise<boolean>) =>
    Array.from({ length: count }, () => repeat(kind, call));
  const loops = [
    ...some(WRITERS, 'write', write),
    ...some(READERS, 'read', read),
    ...some(SENDERS, 'event', event),
  ];
  return { taken, done: Promise.all(loops) };
}

const ACTIVITY = `query ($p: String!, $from: DateTime!, $bucket: ActivityBucket!) {
  project(idOrName: $p) { activity(from: $from, bucket: $bucket) {
    operations { actionType status count }
    deliveries { destination { id } attempts failedAttempts }
    records { read written receivedEvents }
  } }
}`;

type Sums = Record<string, number>;

async function sumsOfActivity({ client, projectId: p }: Fixture, bucket: string): Promise<Sums> {
  const from = new Date(Date.now() - 86_400_000 / 2);
  const { activity } = (await client.query(ACTIVITY, { p, from, bucket })).project;
  const sums: Sums = {};
  const add = (name: string, count: number) => {
    if (count !== 0) sums[name] = (sums[name] ?? 0) + count;
  };
  for (const { actionType, status, count } of activity.operations) {
    add(`${actionType} ${status}`, count);
  }
  for (const { destination, attempts, failedAttempts } of activity.deliveries) {
    add(`attempts to ${destination.id}`, attempts);
    add(`failed to ${destination.id}`, failedAttempts);
  }
  for (const record of activity.records) {
    for (const name of ['read', 'written', 'receivedEvents']) add(name, record[name]);
  }
  return sums;
}

const COUNTS = `
  select "actionType" || ' ' || case "status" when 'SUCCESS' then 'SUCCEEDED' when 'FAILURE' then 'FAILED'
      else "status"::text end as "name", count(*)::int from "Operation" group by 1
  union all
  select 'attempts to ' || d."destinationId", count(*)::int
  from "DeliveryAttempt" a join "Delivery" d on d."id" = a."deliveryId" group by 1
  union all
  select 'failed to ' || d."destinationId", count(a."error")::int
  from "DeliveryAttempt" a join "Delivery" d on d."id" = a."deliveryId" group by 1
  union all
  select 'read', coalesce(sum(("metadata"->'progress'->>'recordsProcessed')::int), 0)::int from "Operation"
  union all
  select 'written', coalesce(sum(jsonb_array_length("metadata"->'successfulRecordIds')), 0)::int from "Operation"
  union all
  select 'receivedEvents', count(*)::int from "ProviderEvent"`;

async function counts({ database }: Fixture): Promise<Sums> {
  const rows = await database.rows.query<{ name: string; count: number }>(COUNTS, []);
  return Object.fromEntries(
    rows.filter(({ count }) => count > 0).map(({ name, count }) => [name, count]),
  );
}

/**
 * Returns the rows and the activity of each bucket, taken while no row was added. The sandbox sends events
 * about writes at its own pace.
 */
async function countedInQuiet(
  fixture: Fixture,
): Promise<{ wanted: Sums; counted: [string, Sums][] }> {
  for (;;) {
    const wanted = await counts(fixture);
    const counted: [string, Sums][] = [];
    for (const bucket of ['MINUTE', 'HOUR', 'DAY']) {
      counted.push([bucket, await sumsOfActivity(fixture, bucket)]);
    }
    if (isDeepStrictEqual(await counts(fixture), wanted)) return { wanted, counted };
  }
}

test(`activity and health equal the rows after ${KILLS} SIGKILLs under load`, async () => {
  const fixture = await prepare();
  const { prisma, rows } = fixture.database;
  let gateway = await startGateway(fixture.env);
  const { taken, done } = load(fixture);
  for (const moment of planMoments(createRandom(SEED), { count: KILLS, most: CALLS })) {
    await expect
      .poll(() => taken.calls, { ...WAITING, interval: 5 })
      .toBeGreaterThanOrEqual(moment);
    await gateway.kill();
    gateway = await startGateway(fixture.env);
  }
  await done;
  expect([...taken.kinds].sort()).toEqual(['event', 'read', 'write']);
  const waiting = async () => [
    await prisma.operation.count({ where: { status: 'IN_PROGRESS' } }),
    await prisma.providerEvent.count({ where: { doneTime: null } }),
    await prisma.delivery.count({ where: { status: 'PENDING' } }),
  ];
  await expect.poll(waiting, WAITING).toEqual([0, 0, 0]);

  const { wanted, counted } = await countedInQuiet(fixture);
  for (const name of ['WRITE SUCCEEDED', 'READ SUCCEEDED', 'read', 'written', 'receivedEvents']) {
    expect(wanted[name], name).toBeGreaterThan(0);
  }
  for (const [bucket, sums] of counted) expect(sums, bucket).toEqual(wanted);
  const [health] = await rows.query<{ stored: string | null; right: string | null }>(
    `select "healthReason" as "stored", health_reason("projectId", "id") as "right" from "Installation"`,
    [],
  );
  expect(health?.stored).toBe(health?.right);
});
