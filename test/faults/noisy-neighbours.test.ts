/**
 * Requests of a quiet tenant, alone and during an attack at ten times the attacker's share, in alternating
 * windows. All of them must succeed. The p99 during the attack is reported as a ratio to the p99 alone, by
 * wall time and by the gateway's CPU time, which other processes do not influence.
 */
import { setTimeout as delay } from 'node:timers/promises';
import { Agent, request } from 'undici';
import { expect, onTestFinished, test } from 'vitest';
import { testApp, testDatabase } from '../support/app.ts';
import { insertRows } from '../support/database/insert-rows.ts';
import { createSessionToken } from '../support/fixtures/end-users.ts';
import { contact, createWriter, WRITE } from '../support/fixtures/writes.ts';
import { startAttack } from './fixtures/attacker.ts';
import { databaseUrl, ENCRYPTION_KEY, type Gateway, startGateway } from './fixtures/gateway.ts';

const isShort = process.env.FAULTS_SHORT === '1';
const WINDOW_MS = isShort ? 2_000 : 10_000;
/** Number of windows alone, and during each attack. More of them make the reported ratios precise. */
const WINDOWS = isShort ? 1 : 4;
const WARM_UP_MS = 1_000;
const QUIET_AT_ONCE = 4;
const PAUSE_MS = 5;
const OPERATIONS = 1_000;
/**
 * Mean pause of a sender after a refusal. It keeps all senders together within the rate limit of one caller.
 */
const REFUSED_MS = 3_000;

const SHORT = `{ viewer { project { operations(first: 50) { edges { node { id status } } } } } }`;
const HEAVY = `{ ${Array.from(
  { length: 8 },
  (_, index) =>
    `a${index}: viewer { project { operations(first: 1000) { edges { cursor node { id status result createTime } } } } }`,
).join(' ')} }`;
const METADATA = `query ($project: String!) {
  objectMetadata(projectIdOrName: $project, provider: "sandbox", objectName: "companies", groupRef: "acme") { name }
}`;

type Send = (query: string, variables?: object) => Promise<number>;

interface Quiet {
  gateway: Gateway;
  send: Send;
}

function senderTo(url: string, headers: Record<string, string>): Send {
  const agent = new Agent({ connections: 2_000, pipelining: 1, headersTimeout: 0 });
  onTestFinished(() => agent.destroy());
  return async (query, variables) => {
    const body = JSON.stringify({ query, variables });
    const all = { 'content-type': 'application/json', ...headers };
    const options = { dispatcher: agent, method: 'POST', headers: all, body } as const;
    const response = await request(`${url}/graphql`, options);
    await response.body.dump({ limit: Number.MAX_SAFE_INTEGER });
    return response.statusCode;
  };
}

/** Duration of a request, and the gateway's CPU time during it. */
interface Taken {
  wallMs: number;
  workMs: number;
}

/** Sends requests one after another, from several senders. */
async function window({
  gateway,
  send,
}: Quiet): Promise<{ statuses: Set<number>; taken: Taken[] }> {
  const statuses = new Set<number>();
  const taken: Taken[] = [];
  const end = performance.now() + WINDOW_MS;
  const sender = async () => {
    while (performance.now() < end) {
      const [startedAt, workedMs] = [performance.now(), gateway.mainThreadMs()];
      statuses.add(await send(SHORT));
      const workMs = gateway.mainThreadMs() - workedMs;
      taken.push({ wallMs: performance.now() - startedAt, workMs });
      await delay(PAUSE_MS);
    }
  };
  await Promise.all(Array.from({ length: QUIET_AT_ONCE }, sender));
  return { statuses, taken };
}

function p99(taken: readonly Taken[], of: keyof Taken): number {
  const sorted = taken.map((one) => one[of]).toSorted((a, b) => a - b);
  return sorted[Math.floor(sorted.length * 0.99)] ?? 0;
}

/** Returns the p99 alone and during the attack, in milliseconds, and their ratio. */
function compared(alone: readonly Taken[], beside: readonly Taken[], of: keyof Taken): string {
  const [aloneMs, besideMs] = [p99(alone, of), p99(beside, of)];
  return `${aloneMs.toFixed(1)} ms, ${besideMs.toFixed(1)} ms: ${(besideMs / aloneMs).toFixed(1)}`;
}

async function fixture() {
  const database = await testDatabase();
  const url = await databaseUrl(database);
  const app = await testApp({ database, env: { ENCRYPTION_KEY } });
  onTestFinished(() => app[Symbol.asyncDispose]());
  const [attacker, quiet] = [await createWriter(app), await app.tenant('quiet')];
  for (const { projectId } of [attacker, quiet]) {
    const rows = Array.from({ length: OPERATIONS }, () => ({ projectId }));
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
  const attackBy = (headers: Record<string, string>, senders: number, query: string) => {
    const url = `${gateway.url}/graphql`;
    return (variables: object = {}) =>
      startAttack({
        ...{ url, headers, senders, refusedMs: REFUSED_MS },
        body: JSON.stringify({ query, variables }),
      });
  };
  const authorization = `Bearer ${token}`;
  const key = { 'x-api-key': attacker.apiKey };
  const metadata = attackBy({ authorization }, 1_600, METADATA);
  const writes = attackBy(key, 1_500, WRITE);
  const company = { objectName: 'companies', record: contact() };
  const attacks: Record<string, () => ReturnType<typeof startAttack>> = {
    'metadata of a provider that does not answer': () => metadata({ project: attacker.projectId }),
    'synchronous writes': () => writes(attacker.input(company)),
    'heavy queries': attackBy(key, 64, HEAVY),
  };
  const send = senderTo(gateway.url, { 'x-api-key': quiet.apiKey });
  return { attacks, quiet: { gateway, send } };
}

test('serves all requests of a quiet tenant during an attack by another tenant', async () => {
  const { attacks, quiet } = await fixture();
  await window(quiet);
  for (const [name, begin] of Object.entries(attacks)) {
    const [alone, beside]: [Taken[], Taken[]] = [[], []];
    const attacked: object[] = [];
    for (let index = 0; index < WINDOWS; index += 1) {
      const before = await window(quiet);
      alone.push(...before.taken);
      const running = await begin();
      await delay(WARM_UP_MS);
      const during = await window(quiet);
      attacked.push(await running.stop());
      beside.push(...during.taken);
      expect([...before.statuses, ...during.statuses]).toEqual([200, 200]);
      await delay(WARM_UP_MS);
    }
    const [wall, work] = [compared(alone, beside, 'wallMs'), compared(alone, beside, 'workMs')];
    console.log({ name, requests: [alone.length, beside.length], wall, work, attacked });
    expect(beside.length).toBeGreaterThan(0);
  }
});
