import { setTimeout as delay } from 'node:timers/promises';
import { isDeepStrictEqual } from 'node:util';
import { expect, onTestFinished, test } from 'vitest';
import { HOUR_MS } from '../../../src/work/durations.ts';
import {
  createTestApp,
  createTestDatabase,
  HIGH_RATE_LIMITS,
  keepOpen,
} from '../../support/app.ts';
import { queryRows, toQuery } from '../../support/database/query.ts';
import { recordEvents } from '../../support/fixtures/connections.ts';
import { TRIGGER_READ } from '../../support/fixtures/reads.ts';
import {
  createEventsBody,
  createSentEvent,
  installForSentEvents,
  signRequest,
} from '../../support/fixtures/signed-events.ts';
import { sendMessagesTo } from '../../support/fixtures/subscriptions.ts';
import { WRITE_RECORDS } from '../../support/fixtures/writes.ts';
import { createClient, fetchFrom } from '../../support/graphql-client.ts';
import { ENCRYPTION_KEY } from '../../support/process/encryption-key.ts';
import { findFreePort } from '../../support/process/free-port.ts';
import { startReceiver } from '../../support/receiver.ts';
import { getDatabaseUrl, startGateway } from '../fixtures/gateway.ts';
import { createRandom, planMoments } from '../fixtures/random.ts';
import { KILL_COUNT, SEED } from '../fixtures/settings.ts';

/** Number of requests of all kinds until the last kill. */
const CALLS_MIN = 60 * KILL_COUNT;
const WRITER_COUNT = 4;
const READER_COUNT = 2;
const SENDER_COUNT = 2;
const EVENTS_AT_ONCE = 5;
const RETRY_MS = 20;
const POLLING = { timeout: 240_000, interval: 250 };

/**
 * Creates a project that reads, writes and subscribes to contacts of the sandbox, with a receiver for all
 * messages.
 */
async function createFixture() {
  const database = await createTestDatabase();
  onTestFinished(() => database[Symbol.asyncDispose]());
  const receiver = await startReceiver();
  onTestFinished(() => receiver[Symbol.asyncDispose]());
  const env = {
    DATABASE_URL: await getDatabaseUrl(database),
    ENCRYPTION_KEY,
    ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8',
    DELIVERY_RETRY_SECONDS: '1,1,1,1,1',
    ...HIGH_RATE_LIMITS,
    PORT: String(await findFreePort()),
  };
  await using app = await createTestApp({ env: { ENCRYPTION_KEY }, database: keepOpen(database) });
  const tenant = await app.createTenant();
  const { projectId, apiKey } = tenant;
  await recordEvents(app, tenant);
  const content = { write: { objects: [{ objectName: 'contacts' }] } };
  const { providerAppId, account } = await installForSentEvents(app, tenant, { content });
  await sendMessagesTo(app, tenant, receiver.getUrl('all'));
  const parties = { projectIdOrName: projectId, integrationIdOrName: 'crm', groupRef: 'acme' };
  const url = `http://127.0.0.1:${env.PORT}`;
  const hookUrl = `${url}/webhooks/sandbox/${providerAppId}`;
  const client = createClient(fetchFrom(url), { 'x-api-key': apiKey });
  return { database, env, projectId, parties, hookUrl, account, client };
}

type Fixture = Awaited<ReturnType<typeof createFixture>>;

function sendEvents({ hookUrl, account }: Fixture, callNumber: number): Promise<Response> {
  const events = Array.from({ length: EVENTS_AT_ONCE }, (_, index) =>
    createSentEvent(account, { id: `${callNumber}-${index}`, recordId: `${callNumber}` }),
  );
  return fetch(hookUrl, signRequest(createEventsBody(...events)));
}

/**
 * Sends requests of all kinds until enough were accepted. A request that a kill interrupts may have succeeded.
 */
function startLoad(fixture: Fixture) {
  const { client, parties } = fixture;
  const accepted = { calls: 0, kinds: new Set<string>() };
  let callNumber = 0;
  const sendRepeatedly = async (kind: string, call: (callNumber: number) => Promise<boolean>) => {
    while (accepted.calls < CALLS_MIN) {
      callNumber += 1;
      const isAccepted = await call(callNumber).catch(() => false);
      if (isAccepted) {
        accepted.calls += 1;
        accepted.kinds.add(kind);
      } else {
        await delay(RETRY_MS);
      }
    }
  };
  const write = async (callNumber: number) => {
    const record =
      callNumber % 10 === 0 ? { unknownField: 'text' } : { email: `a${callNumber}@example.com` };
    const write = { objectName: 'contacts', type: 'CREATE', records: { record } };
    const mode = callNumber % 2 === 0 ? 'SYNCHRONOUS' : 'ASYNCHRONOUS';
    const { data } = await client.request(WRITE_RECORDS, { input: { ...parties, ...write, mode } });
    return data?.writeRecords != null;
  };
  const read = async () => {
    const { data } = await client.request(TRIGGER_READ, {
      input: { ...parties, objectName: 'contacts' },
    });
    return data?.triggerRead != null;
  };
  const sendEvent = async (callNumber: number) =>
    (await sendEvents(fixture, callNumber)).status === 204;
  const startSenders = (
    count: number,
    kind: string,
    call: (callNumber: number) => Promise<boolean>,
  ) => Array.from({ length: count }, () => sendRepeatedly(kind, call));
  const senders = [
    ...startSenders(WRITER_COUNT, 'write', write),
    ...startSenders(READER_COUNT, 'read', read),
    ...startSenders(SENDER_COUNT, 'event', sendEvent),
  ];
  return { accepted, done: Promise.all(senders) };
}

const GET_ACTIVITY = `query Activity($project: String!, $from: DateTime!, $bucket: ActivityBucket!) {
  project(idOrName: $project) { activity(from: $from, bucket: $bucket) {
    operations { actionType status count }
    deliveries { destination { id } attempts failedAttempts }
    records { read written receivedEvents }
  } }
}`;

type Counts = Record<string, number>;

async function sumActivity(
  { client, projectId: project }: Fixture,
  bucket: string,
): Promise<Counts> {
  const from = new Date(Date.now() - 12 * HOUR_MS);
  const { activity } = (await client.query(GET_ACTIVITY, { project, from, bucket })).project;
  const counts: Counts = {};
  const addCount = (name: string, count: number) => {
    if (count !== 0) counts[name] = (counts[name] ?? 0) + count;
  };
  for (const { actionType, status, count } of activity.operations) {
    addCount(`${actionType} ${status}`, count);
  }
  for (const { destination, attempts, failedAttempts } of activity.deliveries) {
    addCount(`attempts to ${destination.id}`, attempts);
    addCount(`failed attempts to ${destination.id}`, failedAttempts);
  }
  for (const record of activity.records) {
    for (const name of ['read', 'written', 'receivedEvents']) addCount(name, record[name]);
  }
  return counts;
}

const COUNT_ROWS = `
  select "actionType" || ' ' || case "status" when 'SUCCESS' then 'SUCCEEDED' when 'FAILURE' then 'FAILED'
      else "status"::text end as "name", count(*)::int from "Operation" group by 1
  union all
  select 'attempts to ' || d."destinationId", count(*)::int
  from "DeliveryAttempt" a join "Delivery" d on d."id" = a."deliveryId" group by 1
  union all
  select 'failed attempts to ' || d."destinationId", count(a."error")::int
  from "DeliveryAttempt" a join "Delivery" d on d."id" = a."deliveryId" group by 1
  union all
  select 'read', coalesce(sum(("metadata"->'progress'->>'recordsProcessed')::int), 0)::int from "Operation"
  union all
  select 'written', coalesce(sum(jsonb_array_length("metadata"->'successfulRecordIds')), 0)::int from "Operation"
  union all
  select 'receivedEvents', count(*)::int from "ProviderEvent"`;

async function countRows({ database }: Fixture): Promise<Counts> {
  const rows = await queryRows<{ name: string; count: number }>(database, COUNT_ROWS, []);
  return Object.fromEntries(
    rows.filter(({ count }) => count > 0).map(({ name, count }) => [name, count]),
  );
}

/**
 * Returns the row counts and the activity in each bucket. The sandbox sends events after a write, so this counts again
 * until no row was added between two counts.
 */
async function countAtRest(
  fixture: Fixture,
): Promise<{ rowCounts: Counts; activity: [string, Counts][] }> {
  for (;;) {
    const rowCounts = await countRows(fixture);
    const activity: [string, Counts][] = [];
    for (const bucket of ['MINUTE', 'HOUR', 'DAY']) {
      activity.push([bucket, await sumActivity(fixture, bucket)]);
    }
    if (isDeepStrictEqual(await countRows(fixture), rowCounts)) return { rowCounts, activity };
  }
}

test(`counts activity and computes health from every row, despite ${KILL_COUNT} SIGKILLs under load`, async () => {
  const fixture = await createFixture();
  const { prisma } = fixture.database;
  const query = toQuery(fixture.database);
  let gateway = await startGateway(fixture.env);
  const { accepted, done } = startLoad(fixture);
  for (const moment of planMoments(createRandom(SEED), { count: KILL_COUNT, most: CALLS_MIN })) {
    await expect
      .poll(() => accepted.calls, { ...POLLING, interval: 5 })
      .toBeGreaterThanOrEqual(moment);
    await gateway.kill();
    gateway = await startGateway(fixture.env);
  }
  await done;
  expect([...accepted.kinds].sort()).toEqual(['event', 'read', 'write']);
  const countPending = async () => [
    await prisma.operation.count({ where: { status: 'IN_PROGRESS' } }),
    await prisma.providerEvent.count({ where: { doneTime: null } }),
    await prisma.delivery.count({ where: { status: 'PENDING' } }),
  ];
  await expect.poll(countPending, POLLING).toEqual([0, 0, 0]);

  const { rowCounts, activity } = await countAtRest(fixture);
  for (const name of ['WRITE SUCCEEDED', 'READ SUCCEEDED', 'read', 'written', 'receivedEvents']) {
    expect(rowCounts[name], name).toBeGreaterThan(0);
  }
  for (const [bucket, counts] of activity) expect(counts, bucket).toEqual(rowCounts);
  const [health] = await query<{ stored: string | null; computed: string | null }>(
    `select "healthReason" as "stored", health_reason("projectId", "id") as "computed" from "Installation"`,
    [],
  );
  expect(health?.stored).toBe(health?.computed);
});
