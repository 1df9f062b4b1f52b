/**
 * The server receives three times as many requests as it can process. It refuses excess requests, and recovers when the
 * overload ends.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { createTestApp, createTestDatabase } from '../support/app.ts';
import { insertRows } from '../support/database/insert-rows.ts';
import { type Gateway, getDatabaseUrl, startGateway } from './fixtures/gateway.ts';
import { IS_SHORT } from './fixtures/settings.ts';

const OVERLOAD_MS = IS_SHORT ? 6_000 : 60_000;
const CAPACITY_MS = IS_SHORT ? 1_500 : 3_000;
const OVERLOAD_FACTOR = 3;
const TICK_MS = 20;
/** The server's limit of concurrent requests, and the number of clients that measure its capacity. */
const LIMIT_REQUESTS = 64;
const CLIENT_COUNT = 16;
const OPERATION_COUNT = 200;
/** More than concurrent responses and queued requests need. */
const GROWTH_BYTES_MAX = 64 * 1024 * 1024;

const OPERATIONS_QUERY = `query Operations { viewer { project { operations(first: ${OPERATION_COUNT}) {
  edges { cursor node { id status result createTime metadata { objects } } } pageInfo { hasNextPage }
} } } }`;

interface LoadClient {
  /** Resolves with the status when the whole response has arrived. */
  send(): Promise<{ status: number; retryAfter: string | undefined }>;
}

function createClient({ url }: Gateway, apiKey: string): LoadClient {
  const agent = new Agent({ connections: 1_000, pipelining: 1 });
  onTestFinished(() => agent.destroy());
  const body = JSON.stringify({ query: OPERATIONS_QUERY });
  const headers = { 'content-type': 'application/json', 'x-api-key': apiKey };
  return {
    async send() {
      const options = { dispatcher: agent, method: 'POST', headers, body } as const;
      const response = await request(`${url}/graphql`, options);
      await response.body.dump({ limit: Number.MAX_SAFE_INTEGER });
      const retryAfter = response.headers['retry-after'] as string | undefined;
      return { status: response.statusCode, retryAfter };
    },
  };
}

/** Returns the requests per second if each client waits for its response. */
async function measureCapacity({ send }: LoadClient): Promise<number> {
  const endMs = performance.now() + CAPACITY_MS;
  let served = 0;
  const keepSending = async () => {
    while (performance.now() < endMs) {
      expect((await send()).status).toBe(200);
      served += 1;
    }
  };
  await Promise.all(Array.from({ length: CLIENT_COUNT }, keepSending));
  return served / (CAPACITY_MS / 1000);
}

/**
 * Sends requests at a fixed rate, without waiting for earlier responses. Returns the number of responses by
 * status.
 */
async function sendAtRate({ send }: LoadClient, perSecond: number): Promise<Map<number, number>> {
  const statuses = new Map<number, number>();
  const pendingRequests = new Set<Promise<void>>();
  const sendOnce = async () => {
    const { status, retryAfter } = await send();
    statuses.set(status, (statuses.get(status) ?? 0) + 1);
    if (status !== 200) expect(Number(retryAfter)).toBeGreaterThan(0);
  };
  const startMs = performance.now();
  let sentCount = 0;
  while (performance.now() - startMs < OVERLOAD_MS) {
    const dueCount = ((performance.now() - startMs) / 1000) * perSecond;
    for (; sentCount < dueCount; sentCount += 1) {
      const running = sendOnce().finally(() => pendingRequests.delete(running));
      pendingRequests.add(running);
    }
    await delay(TICK_MS);
  }
  await Promise.all(pendingRequests);
  return statuses;
}

async function startFixture() {
  const database = await createTestDatabase();
  const url = await getDatabaseUrl(database);
  const app = await createTestApp({ database });
  onTestFinished(() => app[Symbol.asyncDispose]());
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  await insertRows(app).operations(Array.from({ length: OPERATION_COUNT }, () => ({ projectId })));
  const gateway = await startGateway({
    DATABASE_URL: url,
    ROLES: 'api',
    LIMIT_REQUESTS: String(LIMIT_REQUESTS),
    RATE_LIMIT_PER_SECOND: '1000000',
    RATE_LIMIT_BURST: '1000000',
  });
  return { gateway, client: createClient(gateway, tenant.apiKey) };
}

test('refuses excess requests early, serves other requests, and keeps memory constant', async () => {
  const { gateway, client } = await startFixture();
  const perSecond = await measureCapacity(client);
  const usedBefore = await gateway.measureUsedBytes();

  const sending = sendAtRate(client, OVERLOAD_FACTOR * perSecond);
  const usedBytes: number[] = [];
  for (let sample = 0; sample < 4; sample += 1) {
    await delay(OVERLOAD_MS / 5);
    usedBytes.push(await gateway.measureUsedBytes());
  }
  const statuses = await sending;

  // One caller sends all requests, so it reaches the limit of a caller before the limit of the process.
  for (const status of statuses.keys()) expect([200, 429, 503]).toContain(status);
  // Refusals are cheap, so the server processes requests at its capacity during the overload.
  const [served, refused] = [statuses.get(200) ?? 0, statuses.get(429) ?? 0];
  expect(refused).toBeGreaterThan(0);
  console.log({ perSecond, served, refused, usedBefore, usedBytes });
  expect(served).toBeGreaterThan(0.2 * perSecond * (OVERLOAD_MS / 1000));
  expect(Math.max(...usedBytes) - usedBefore).toBeLessThan(GROWTH_BYTES_MAX);

  const laterResponses = await Promise.all(Array.from({ length: CLIENT_COUNT }, client.send));
  expect(laterResponses.map(({ status }) => status)).toEqual(Array(CLIENT_COUNT).fill(200));
});
