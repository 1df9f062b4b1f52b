/**
 * A quiet tenant's requests beside an attacker at ten times its share, in alternating windows of one run. All of them
 * must succeed; how long they take is reported as a ratio to what they take alone.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { testApp, testDatabase } from '../support/app.ts';
import { insertRows } from '../support/database/rows.ts';
import { sessionToken } from '../support/scenes/end-users.ts';
import { contact, createWriter, WRITE } from '../support/scenes/writes.ts';
import { databaseUrl, ENCRYPTION_KEY, startGateway } from './scenes/gateway.ts';

const isShort = process.env.FAULTS_SHORT === '1';
const WINDOW_MS = isShort ? 2_000 : 10_000;
/** Windows alone, and as many beside each attack. */
const WINDOWS = isShort ? 2 : 4;
const WARM_UP_MS = 1_000;
const QUIET_AT_ONCE = 4;
const PAUSE_MS = 5;
const OPERATIONS = 1_000;
/** The mean pause of a refused sender: with it, all senders together stay within the rate of one caller. */
const REFUSED_MS = 3_000;

const SHORT = `{ viewer { project { operations(first: 50) { edges { node { id status } } } } } }`;
const HEAVY = `{ ${Array.from(
  { length: 8 },
  (_, at) =>
    `a${at}: viewer { project { operations(first: 1000) { edges { cursor node { id status result createTime } } } } }`,
).join(' ')} }`;
const METADATA = `query ($project: String!) {
  objectMetadata(projectIdOrName: $project, provider: "sandbox", objectName: "companies", groupRef: "acme") { name }
}`;

type Send = (query: string, variables?: object) => Promise<number>;

function senderTo(url: string, headers: Record<string, string>): Send {
  const agent = new Agent({ connections: 2_000, pipelining: 1, headersTimeout: 0 });
  onTestFinished(() => agent.destroy());
  return async (query, variables) => {
    const body = JSON.stringify({ query, variables });
    const all = { 'content-type': 'application/json', ...headers };
    const options = { dispatcher: agent, method: 'POST', headers: all, body } as const;
    const answer = await request(`${url}/graphql`, options);
    await answer.body.dump({ limit: Number.MAX_SAFE_INTEGER });
    return answer.statusCode;
  };
}

/** Durations of requests that are sent one after the other by a few senders. */
async function window(send: Send): Promise<{ statuses: Set<number>; durations: number[] }> {
  const statuses = new Set<number>();
  const durations: number[] = [];
  const end = performance.now() + WINDOW_MS;
  const sender = async () => {
    while (performance.now() < end) {
      const startedAt = performance.now();
      statuses.add(await send(SHORT));
      durations.push(performance.now() - startedAt);
      await delay(PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: QUIET_AT_ONCE }, sender));
  return { statuses, durations };
}

/** Requests that many senders send until it is stopped. */
function attack(count: number, send: () => Promise<number>) {
  const statuses = new Map<number, number>();
  let isOver = false;
  const sender = async () => {
    while (!isOver) {
      const status = await send().catch(() => 0);
      if (isOver) return;
      statuses.set(status, (statuses.get(status) ?? 0) + 1);
      if (status !== 200) await delay(REFUSED_MS * (0.5 + Math.random()));
    }
  };
  for (let at = 0; at < count; at += 1) void sender();
  return {
    stop() {
      isOver = true;
      return Object.fromEntries(statuses);
    },
  };
}

function p99(durations: number[]): number {
  const sorted = durations.toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.99)] ?? 0;
}

async function scene() {
  const database = await testDatabase();
  const url = await databaseUrl(database);
  const app = await testApp({ database, env: { ENCRYPTION_KEY } });
  onTestFinished(() => app[Symbol.asyncDispose]());
  const [attacker, quiet] = [await createWriter(app), await app.tenant('quiet')];
  for (const { projectId } of [attacker, quiet]) {
    const rows = Array.from({ length: OPERATIONS }, () => ({ projectId }));
    await insertRows(app).operations(rows);
  }
  const { token } = await sessionToken(attacker);
  await app.app.start();
  app.app.sandbox.faults.set({
    pathPrefix: '/objects/companies',
    delayMs: 60_000,
    times: 1_000_000,
  });
  const gateway = await startGateway({ DATABASE_URL: url, ROLES: 'api' });
  const byToken = senderTo(gateway.url, { authorization: `Bearer ${token}` });
  const byKey = senderTo(gateway.url, { 'x-api-key': attacker.apiKey });
  const company = { objectName: 'companies', record: contact() };
  const attacks: Record<string, () => ReturnType<typeof attack>> = {
    'metadata of a provider that does not answer': () =>
      attack(1_600, () => byToken(METADATA, { project: attacker.projectId })),
    'synchronous writes': () => attack(1_500, () => byKey(WRITE, attacker.input(company))),
    'heavy queries': () => attack(64, () => byKey(HEAVY)),
  };
  return { attacks, send: senderTo(gateway.url, { 'x-api-key': quiet.apiKey }) };
}

test('a quiet tenant has all its requests answered beside an attacker', async () => {
  const { attacks, send } = await scene();
  await window(send);
  for (const [name, begin] of Object.entries(attacks)) {
    const [alone, beside]: [number[], number[]] = [[], []];
    const attacked: object[] = [];
    for (let at = 0; at < WINDOWS; at += 1) {
      const before = await window(send);
      alone.push(...before.durations);
      const running = begin();
      await delay(WARM_UP_MS);
      const during = await window(send);
      attacked.push(running.stop());
      beside.push(...during.durations);
      expect([...before.statuses, ...during.statuses]).toEqual([200, 200]);
      await delay(WARM_UP_MS);
    }
    const ratio = p99(beside) / p99(alone);
    console.log({ name, aloneMs: p99(alone), besideMs: p99(beside), ratio, attacked });
    expect(beside.length).toBeGreaterThan(0);
  }
});
