/**
 * Moving records: writes, connections and a backfill, compared with hand-written statements on the same database and
 * provider.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { newId } from '../../../src/ids.ts';
import { freePort } from '../../../test/support/process/free-port.ts';
import { emptyDatabase, newApiKey, usingClient } from '../../database.ts';
import { drive, type Load } from '../../drive.ts';
import type { Flags } from '../../flags.ts';
import { medianOf } from '../../median.ts';
import { GATEWAY_ENV } from '../../peers.ts';
import type { Postgres } from '../../postgres.ts';
import { type Child, startChild } from '../../processes/child.ts';
import { type Server, startServer } from '../../processes/server.ts';
import { figure, table } from '../../table.ts';
import {
  asynchronousInput,
  BATCH_RECORDS,
  batchInput,
  connectInput,
  GROUPS,
  INTEGRATION,
  MOVING_DOCUMENTS,
  type MOVING_WORKS,
  PROJECT,
  writeInput,
} from './documents.ts';
import { type Ask, type Installed, install } from './installed.ts';

interface Mover {
  name: 'limit' | 'gateway';
  server: Server;
  headers: Record<string, string>;
}

interface Scene {
  movers: Mover[];
  postgres: Postgres;
  sandbox: Child;
  receiver: Child;
  client: pg.Client;
  ask: Ask;
  installed: Installed;
}

interface Work {
  name: (typeof MOVING_WORKS)[number];
  meaning: string;
  /** Records per request. */
  records: number;
  sockets: number;
  operationName: keyof typeof MOVING_DOCUMENTS;
  inputOf: (number: number) => object;
  /** Ends when the provider has all records. */
  endsLater?: boolean;
  /** Delay of every commit, like that of a slow disk. */
  commitDelayMs?: number;
}

const CONNECT = { operationName: 'Connect', inputOf: connectInput, records: 1 } as const;
const WRITE = { operationName: 'Write', inputOf: writeInput, records: 1 } as const;
const WORKS: readonly Work[] = [
  { ...WRITE, name: 'W5 alone', meaning: 'synchronous write, one at a time', sockets: 1 },
  { ...WRITE, name: 'W5', meaning: 'synchronous write, 16 at once', sockets: 16 },
  {
    ...WRITE,
    name: 'W6',
    meaning: 'asynchronous write, until the provider has the record',
    sockets: 16,
    inputOf: asynchronousInput,
    endsLater: true,
  },
  {
    ...WRITE,
    name: 'W7',
    meaning: `records in batches of ${BATCH_RECORDS}`,
    sockets: 4,
    inputOf: batchInput,
    records: BATCH_RECORDS,
  },
  { ...CONNECT, name: 'W8', meaning: 'generateConnection with an event to a webhook', sockets: 16 },
  { ...CONNECT, name: 'W10', meaning: 'events in one project, 64 at once', sockets: 64 },
  {
    ...CONNECT,
    name: 'W10 slow',
    meaning: 'the same, commits of 5 ms',
    sockets: 64,
    commitDelayMs: 5,
  },
];

export interface Moved {
  work: string;
  meaning: string;
  peer: string;
  perSecond: number;
  p50Ms: number;
  p99Ms: number;
  /** CPU time of the process and of the database, per record. */
  cpuMs: number;
  databaseCpuMs: number;
}

/** More requests than are sent per second. */
const REQUESTS_PER_SECOND = 4_000;
const POLL_MS = 20;
const STALLED_MS = 120_000;

export async function measureMoving(postgres: Postgres, flags: Flags): Promise<Moved[]> {
  const databaseUrl = await emptyDatabase(postgres, 'bench_moving');
  await using sandbox = await startChild('sandbox.ts');
  await using receiver = await startChild('receiver.ts');
  const sandboxUrl = String(sandbox.greeting);
  const { apiKey, projectId } = await usingClient(databaseUrl, (client) =>
    addProject(client, sandboxUrl),
  );
  await using gateway = await startGateway(databaseUrl, flags.profile);
  const headers = { 'x-api-key': apiKey };
  const ask = askOf(gateway, headers);
  const installed = await install(ask, sandboxUrl, String(receiver.greeting));
  await using limit = await startLimit(databaseUrl, projectId, installed);
  return await usingClient(databaseUrl, async (client) => {
    const all: Mover[] = [
      { name: 'limit', server: limit, headers: {} },
      { name: 'gateway', server: gateway, headers },
    ];
    const movers = all.filter(({ name }) => flags.peers?.includes(name) ?? true);
    const scene = { movers, postgres, sandbox, receiver, client, ask, installed };
    const results: Moved[] = [];
    const isAsked = (name: Work['name']) => flags.works?.includes(name) ?? true;
    for (const work of WORKS) {
      if (isAsked(work.name)) results.push(...(await measureWork(scene, work, flags)));
    }
    if (isAsked('W9')) results.push(...(await measureBackfill(scene, flags.sizes.backfillRecords)));
    return results;
  });
}

async function measureWork(scene: Scene, work: Work, flags: Flags): Promise<Moved[]> {
  const { client, movers } = scene;
  if (work.commitDelayMs) await delayCommits(client, work.commitDelayMs);
  const rounds = new Map<Mover, Moved[]>(movers.map((mover) => [mover, []]));
  for (let round = 0; round < flags.rounds; round += 1) {
    const order = round % 2 === 0 ? movers : movers.toReversed();
    for (const mover of order)
      rounds.get(mover)?.push(await measureRound(scene, work, { mover, flags }));
  }
  if (work.commitDelayMs) await delayCommits(client, 0);
  return movers.map((mover) => medianOf(rounds.get(mover) ?? []));
}

let asked = 0;

async function measureRound(
  scene: Scene,
  work: Work,
  { mover, flags: { seconds } }: { mover: Mover; flags: Flags },
): Promise<Moved> {
  const { postgres, client } = scene;
  const { name, meaning, records, sockets } = work;
  const load = {
    server: mover.server,
    requests: requestsOf(mover, work, seconds),
    sockets,
    seconds,
  };
  const databaseMs = postgres.cpuMs();
  const { measured, perSecond, count } = work.endsLater
    ? await driveToTheEnd(scene, load)
    : await driveAnswered(load);
  await settled(client);
  return {
    work: name,
    meaning,
    peer: mover.name,
    perSecond: perSecond * records,
    p50Ms: measured.p50Ms,
    p99Ms: measured.p99Ms,
    cpuMs: measured.cpuMsPerRequest / records,
    databaseCpuMs: (postgres.cpuMs() - databaseMs) / count / records,
  };
}

async function driveAnswered(load: Load) {
  const measured = await drive(load);
  const perSecond = measured.requestsPerSecond;
  return { measured, perSecond, count: perSecond * load.seconds };
}

/** Time from the first request to the last record at the provider. */
async function driveToTheEnd({ sandbox }: Scene, load: Load) {
  const recordCount = async () => Number(await sandbox.ask({}));
  const before = await recordCount();
  const cpuMs = load.server.cpuMs();
  const startMs = performance.now();
  const measured = await drive(load);
  let count = (await recordCount()) - before;
  let lastMs = performance.now();
  for (let quietMs = 0; quietMs < 1_000; quietMs = performance.now() - lastMs) {
    await sleep(POLL_MS);
    const now = (await recordCount()) - before;
    if (now > count) lastMs = performance.now();
    count = now;
  }
  const cpuMsPerRequest = (load.server.cpuMs() - cpuMs) / count;
  const perSecond = (count / (lastMs - startMs)) * 1_000;
  return { measured: { ...measured, cpuMsPerRequest }, perSecond, count };
}

function requestsOf(mover: Mover, { operationName, inputOf, records }: Work, seconds: number) {
  const count = Math.ceil((REQUESTS_PER_SECOND * (seconds + 1)) / records);
  const query = MOVING_DOCUMENTS[operationName];
  const { host } = new URL(mover.server.url);
  return Array.from({ length: count }, () => {
    asked += 1;
    const body = JSON.stringify({ operationName, query, variables: { input: inputOf(asked) } });
    const headers = {
      host,
      'content-type': 'application/json',
      accept: 'application/json',
      'content-length': String(Buffer.byteLength(body)),
      ...mover.headers,
    };
    const head = Object.entries(headers).map(([name, value]) => `${name}: ${value}\r\n`);
    return Buffer.from(`POST /graphql HTTP/1.1\r\n${head.join('')}\r\n${body}`);
  });
}

/** W9: all contacts of the sandbox, to a webhook. */
async function measureBackfill(
  { movers, sandbox, receiver, client, ask, postgres }: Scene,
  recordsMin: number,
): Promise<Moved[]> {
  const missing = recordsMin - Number(await sandbox.ask({}));
  const records = Number(await sandbox.ask(missing > 0 ? { seed: missing } : {}));
  const results: Moved[] = [];
  for (const mover of movers) {
    const { server, name } = mover;
    const [cpuMs, databaseMs, startMs] = [server.cpuMs(), postgres.cpuMs(), performance.now()];
    if (name === 'limit') {
      const input = { receiverUrl: String(receiver.greeting) };
      await askOf(server, {})('', input, 'Backfill');
    } else {
      await backfillByGateway(ask, client);
    }
    const tookMs = performance.now() - startMs;
    results.push({
      work: 'W9',
      meaning: `backfill of ${records} records to a webhook`,
      peer: name,
      perSecond: (records / tookMs) * 1_000,
      p50Ms: Number.NaN,
      p99Ms: Number.NaN,
      cpuMs: (server.cpuMs() - cpuMs) / records,
      databaseCpuMs: (postgres.cpuMs() - databaseMs) / records,
    });
  }
  return results;
}

async function backfillByGateway(ask: Ask, client: pg.Client): Promise<void> {
  const triggering = `mutation ($input: TriggerReadInput!) {
    triggerRead(input: $input) { operation { id } }
  }`;
  const [groupRef] = GROUPS;
  const own = { projectIdOrName: PROJECT, integrationIdOrName: INTEGRATION };
  const { triggerRead } = await ask(triggering, { ...own, groupRef, objectName: 'contacts' });
  await until(async () => {
    const { rows } = await client.query(
      `select 1 from "Operation" where "id" = $1 and "status" = 'SUCCESS'`,
      [triggerRead.operation.id],
    );
    return rows.length > 0;
  });
  await settled(client);
}

/** Waits until the pending deliveries are sent. */
export function settled(client: pg.Client): Promise<void> {
  return until(async () => {
    const { rows } = await client.query(
      `select 1 from "Delivery" where "nextAttemptTime" is not null limit 1`,
    );
    return rows.length === 0;
  });
}

async function until(isSo: () => Promise<boolean>): Promise<void> {
  const deadline = performance.now() + STALLED_MS;
  while (!(await isSo())) {
    if (performance.now() > deadline) throw new Error(`It stalls: ${STALLED_MS} ms.`);
    await sleep(POLL_MS);
  }
}

/** Delays every commit of the server, as a slow disk or a synchronous standby does. */
export async function delayCommits(client: pg.Client, ms: number): Promise<void> {
  await client.query(`alter system set commit_delay = ${ms * 1_000}`);
  await client.query('alter system set commit_siblings = 0');
  await client.query('select pg_reload_conf()');
}

/** The benchmark holds the sandbox's lease, so that no process of the gateway runs one. */
export async function addProject(client: pg.Client, sandboxUrl: string) {
  const [orgId, projectId] = [newId('org'), newId('prj')];
  await client.query('insert into "Org" (id, label) values ($1, $1)', [orgId]);
  await client.query(
    `insert into "Project" (id, "orgId", name, "appName") values ($1, $2, $3, $3)`,
    [projectId, orgId, PROJECT],
  );
  const { apiKey, statements } = newApiKey();
  for (const { text, values } of statements) await client.query(text, values);
  await client.query(
    `insert into "SandboxLease" (id, token, url, "expireTime") values (1, 'bench', $1, now() + interval '1 day')`,
    [sandboxUrl],
  );
  return { apiKey, projectId };
}

export async function startGateway(databaseUrl: string, profile?: string): Promise<Server> {
  return startServer({
    script: 'src/main.ts',
    port: await freePort(),
    env: { ...GATEWAY_ENV, DATABASE_URL: databaseUrl, ALLOWED_PRIVATE_TARGETS: '127.0.0.1/32' },
    readyPath: '/readyz',
    profile,
  });
}

async function startLimit(
  databaseUrl: string,
  projectId: string,
  installed: Installed,
): Promise<Server> {
  const { DATABASE_POOL_SIZE: POOL_SIZE } = GATEWAY_ENV;
  const INSTALLED = JSON.stringify(installed);
  return startServer({
    script: 'bench/peers/moving.ts',
    port: await freePort(),
    env: { DATABASE_URL: databaseUrl, POOL_SIZE, PROJECT_ID: projectId, INSTALLED },
    readyPath: '/',
  });
}

export const askOf =
  (server: Server, headers: Record<string, string>) =>
  async (query: string, input: object, operationName?: string) => {
    const response = await fetch(`${server.url}/graphql`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body: JSON.stringify({ query, operationName, variables: { input } }),
    });
    const { data, errors } = (await response.json()) as { data: never; errors?: object[] };
    if (errors) throw new Error(`${query}: ${JSON.stringify(errors)}`);
    return data;
  };

export function movingTable(results: Moved[]): string {
  const rows = results.map((one) => {
    const limit = results.find(({ work, peer }) => work === one.work && peer === 'limit');
    return [
      `${one.work}: ${one.meaning}, ${one.peer}`,
      Math.round(one.perSecond),
      (one.perSecond / (limit ?? one).perSecond).toFixed(2),
      figure(one.p50Ms, 2),
      figure(one.p99Ms, 2),
      one.cpuMs.toFixed(3),
      figure(one.databaseCpuMs, 3),
    ];
  });
  const head = ['', 'each second', 'ratio', 'p50 ms', 'p99 ms', 'cpu ms', 'database'];
  return `Records that are moved\n${table(head, rows)}\n`;
}
