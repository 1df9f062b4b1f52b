/**
 * Measures requests of a quiet tenant in alternating windows: alone, and during an attack at ten times the attacker's
 * share. All requests must succeed. Reports the ratio of the two p99, in wall time and in CPU time of the gateway,
 * which other processes do not influence.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { createTestApp, createTestDatabase } from '../support/app.ts';
import { insertRows } from '../support/database/insert-rows.ts';
import { createSessionToken } from '../support/fixtures/end-users.ts';
import { createContact, createWriter, WRITE_RECORDS } from '../support/fixtures/writes.ts';
import { ENCRYPTION_KEY } from '../support/process/encryption-key.ts';
import { type Gateway, getDatabaseUrl, startGateway } from './fixtures/gateway.ts';
import { computePercentile } from './fixtures/percentile.ts';
import { startFlood } from './fixtures/request-flood.ts';
import { IS_SHORT } from './fixtures/settings.ts';

const WINDOW_MS = IS_SHORT ? 1_000 : 10_000;
/** Number of windows without an attack, and during each attack. More windows give more precise ratios. */
const WINDOW_COUNT = IS_SHORT ? 1 : 4;
const WARM_UP_MS = IS_SHORT ? 500 : 1_000;
const QUIET_SENDERS = 4;
const PAUSE_MS = 5;
const OPERATION_COUNT = 1_000;
/** Mean pause of a sender after a refusal, so that all senders stay within the rate limit of one caller. */
const REFUSAL_PAUSE_MS = 3_000;

const LIGHT_QUERY = `query Light { viewer { project { operations(first: 50) { edges { node { id status } } } } } }`;
const HEAVY_QUERY = `query Heavy { ${Array.from(
  { length: 8 },
  (_, index) =>
    `a${index}: viewer { project { operations(first: 1000) { edges { cursor node { id status result createTime } } } } }`,
).join(' ')} }`;
const GET_OBJECT_METADATA = `query Metadata($project: String!) {
  objectMetadata(projectIdOrName: $project, provider: "sandbox", objectName: "companies", groupRef: "acme") { name }
}`;

type Send = (query: string, variables?: object) => Promise<number>;

interface QuietTenant {
  gateway: Gateway;
  send: Send;
}

function createSender(url: string, headers: Record<string, string>): Send {
  const agent = new Agent({ connections: 2_000, pipelining: 1, headersTimeout: 0 });
  onTestFinished(() => agent.destroy());
  return async (query, variables) => {
    const body = JSON.stringify({ query, variables });
    const response = await request(`${url}/graphql`, {
      dispatcher: agent,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
    await response.body.dump({ limit: Number.MAX_SAFE_INTEGER });
    return response.statusCode;
  };
}

/** Duration of a request, and the gateway's CPU time during it. */
interface Duration {
  wallMs: number;
  workMs: number;
}

/** Sends requests one after another, from several senders. */
async function measureWindow({
  gateway,
  send,
}: QuietTenant): Promise<{ statuses: Set<number>; durations: Duration[] }> {
  const statuses = new Set<number>();
  const durations: Duration[] = [];
  const end = performance.now() + WINDOW_MS;
  const sender = async () => {
    while (performance.now() < end) {
      const [startMs, threadStartMs] = [performance.now(), gateway.readMainThreadMs()];
      statuses.add(await send(LIGHT_QUERY));
      const workMs = gateway.readMainThreadMs() - threadStartMs;
      durations.push({ wallMs: performance.now() - startMs, workMs });
      await delay(PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: QUIET_SENDERS }, sender));
  return { statuses, durations };
}

/** Formats the p99 alone and during the attack, in milliseconds, and their ratio. */
function compareP99(
  alone: readonly Duration[],
  attacked: readonly Duration[],
  name: keyof Duration,
): string {
  const [aloneMs = 0, attackedMs = 0] = [alone, attacked].map((durations) =>
    computePercentile(
      durations.map((duration) => duration[name]),
      0.99,
    ),
  );
  const ratio = attackedMs / aloneMs;
  return `${aloneMs.toFixed(1)} ms, ${attackedMs.toFixed(1)} ms: ${ratio.toFixed(1)}`;
}

async function startFixture() {
  const database = await createTestDatabase();
  const url = await getDatabaseUrl(database);
  const app = await createTestApp({ database, env: { ENCRYPTION_KEY } });
  onTestFinished(() => app[Symbol.asyncDispose]());
  const [attacker, quiet] = [await createWriter(app), await app.createTenant('quiet')];
  for (const { projectId } of [attacker, quiet]) {
    const rows = Array.from({ length: OPERATION_COUNT }, () => ({ projectId }));
    await insertRows(app).operations(rows);
  }
  const { token } = await createSessionToken(attacker);
  await app.app.start();
  app.app.sandbox.faults.set({
    pathPrefix: '/objects/companies',
    delayMs: 60_000,
    times: 1_000_000,
  });
  const gateway = await startGateway({ DATABASE_URL: url, ROLES: 'api' });
  const createFlood = (headers: Record<string, string>, senders: number, query: string) => {
    const url = `${gateway.url}/graphql`;
    return (variables: object = {}) =>
      startFlood({
        ...{ url, headers, senders, refusalPauseMs: REFUSAL_PAUSE_MS },
        body: JSON.stringify({ query, variables }),
      });
  };
  const authorization = `Bearer ${token}`;
  const key = { 'x-api-key': attacker.apiKey };
  const floodMetadata = createFlood({ authorization }, 1_600, GET_OBJECT_METADATA);
  const floodWrites = createFlood(key, 1_500, WRITE_RECORDS);
  const company = { objectName: 'companies', record: createContact() };
  const attacks: Record<string, () => ReturnType<typeof startFlood>> = {
    'metadata of a provider that does not respond': () =>
      floodMetadata({ project: attacker.projectId }),
    'synchronous writes': () => floodWrites(attacker.createVariables(company)),
    'heavy queries': createFlood(key, 64, HEAVY_QUERY),
  };
  const send = createSender(gateway.url, { 'x-api-key': quiet.apiKey });
  return { attacks, quiet: { gateway, send } };
}

test('serves all requests of a quiet tenant during an attack by another tenant', async () => {
  const { attacks, quiet } = await startFixture();
  await measureWindow(quiet);
  for (const [name, startAttack] of Object.entries(attacks)) {
    const [alone, attacked]: [Duration[], Duration[]] = [[], []];
    const attackStatuses: object[] = [];
    for (let index = 0; index < WINDOW_COUNT; index += 1) {
      const aloneWindow = await measureWindow(quiet);
      alone.push(...aloneWindow.durations);
      const attack = await startAttack();
      await delay(WARM_UP_MS);
      const attackedWindow = await measureWindow(quiet);
      attackStatuses.push(await attack.stop());
      attacked.push(...attackedWindow.durations);
      expect([...aloneWindow.statuses, ...attackedWindow.statuses]).toEqual([200, 200]);
      await delay(WARM_UP_MS);
    }
    const wall = compareP99(alone, attacked, 'wallMs');
    const work = compareP99(alone, attacked, 'workMs');
    console.log({ name, requests: [alone.length, attacked.length], wall, work, attackStatuses });
    expect(attacked.length).toBeGreaterThan(0);
  }
});
