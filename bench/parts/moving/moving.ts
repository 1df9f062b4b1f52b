/**
 * Measures writes, connections and a backfill, compared with hand-written statements on the same database and provider.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { findFreePort } from '../../../test/support/process/free-port.ts';
import {
  type BenchProject,
  createBenchProject,
  createExecute,
  createProject,
  type Execute,
} from '../../bench-project.ts';
import {
  createEmptyDatabase,
  delayCommits,
  usingClient,
  waitForDeliveries,
} from '../../database.ts';
import { drive, type Load } from '../../drive.ts';
import { PROJECT_NAME } from '../../fill.ts';
import type { Flags } from '../../flags.ts';
import { encodeRequest } from '../../graphql-request.ts';
import { GATEWAY_ENV, startGateway } from '../../peers.ts';
import type { Postgres } from '../../postgres.ts';
import { type Child, startChild } from '../../processes/child.ts';
import { type Server, startServer } from '../../processes/server.ts';
import { computeMedians } from '../../statistics.ts';
import { formatNumber, formatTable } from '../../table.ts';
import { waitUntil } from '../../wait-until.ts';
import {
  BATCH_RECORDS,
  createAsynchronousInput,
  createBatchInput,
  createConnectInput,
  createWriteInput,
  GROUPS,
  INTEGRATION,
  MOVING_DOCUMENTS,
  type MOVING_WORKLOADS,
} from './documents.ts';

interface MovingPeer {
  name: 'limit' | 'gateway';
  server: Server;
  headers: Record<string, string>;
}

interface Setup {
  peers: MovingPeer[];
  postgres: Postgres;
  sandbox: Child;
  receiver: Child;
  client: pg.Client;
  execute: Execute;
}

interface MovingWorkload {
  name: (typeof MOVING_WORKLOADS)[number];
  meaning: string;
  /** Records per request. */
  records: number;
  sockets: number;
  operationName: keyof typeof MOVING_DOCUMENTS;
  createInput: (number: number) => object;
  /** Ends when the provider has all records. */
  endsAtProvider?: boolean;
  /** Delay of every commit, like that of a slow disk. */
  commitDelayMs?: number;
}

const CONNECT = { operationName: 'Connect', createInput: createConnectInput, records: 1 } as const;
const WRITE = { operationName: 'Write', createInput: createWriteInput, records: 1 } as const;
const WORKLOADS: readonly MovingWorkload[] = [
  { ...WRITE, name: 'W5 alone', meaning: 'synchronous write, one at a time', sockets: 1 },
  { ...WRITE, name: 'W5', meaning: 'synchronous write, 16 at a time', sockets: 16 },
  {
    ...WRITE,
    name: 'W6',
    meaning: 'asynchronous write, until the provider has the record',
    sockets: 16,
    createInput: createAsynchronousInput,
    endsAtProvider: true,
  },
  {
    ...WRITE,
    name: 'W7',
    meaning: `records in batches of ${BATCH_RECORDS}`,
    sockets: 4,
    createInput: createBatchInput,
    records: BATCH_RECORDS,
  },
  { ...CONNECT, name: 'W8', meaning: 'generateConnection with an event to a webhook', sockets: 16 },
  { ...CONNECT, name: 'W10', meaning: 'events in one project, 64 at a time', sockets: 64 },
  {
    ...CONNECT,
    name: 'W10 slow',
    meaning: 'events in one project, 64 at a time, commits of 5 ms',
    sockets: 64,
    commitDelayMs: 5,
  },
];

export interface MovingResult {
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

/** The number of prepared requests per second, which is more than any peer processes. */
const REQUESTS_PER_SECOND = 4_000;
const POLL_MS = 20;
const WAIT = { pollMs: POLL_MS, timeoutMs: 120_000, subject: 'Moving records' };

export async function measureMoving(postgres: Postgres, flags: Flags): Promise<MovingResult[]> {
  const databaseUrl = await createEmptyDatabase(postgres, 'bench_moving');
  await using sandbox = await startChild('sandbox.ts');
  await using receiver = await startChild('receiver.ts');
  const sandboxUrl = String(sandbox.greeting);
  const { apiKey, projectId } = await usingClient(databaseUrl, (client) =>
    createProject(client, sandboxUrl),
  );
  await using gateway = await startGateway(databaseUrl, { profile: flags.profile });
  const headers = { 'x-api-key': apiKey };
  const execute = createExecute(gateway, headers);
  const benchProject = await createBenchProject(execute, String(receiver.greeting));
  await using limit = await startLimit(databaseUrl, projectId, { sandboxUrl, benchProject });
  return await usingClient(databaseUrl, async (client) => {
    const allPeers: MovingPeer[] = [
      { name: 'limit', server: limit, headers: {} },
      { name: 'gateway', server: gateway, headers },
    ];
    const peers = allPeers.filter(({ name }) => flags.peers?.includes(name) ?? true);
    const setup = { peers, postgres, sandbox, receiver, client, execute };
    const results: MovingResult[] = [];
    const isSelected = (name: MovingWorkload['name']) =>
      flags['moving-workloads']?.includes(name) ?? true;
    for (const workload of WORKLOADS) {
      if (isSelected(workload.name))
        results.push(...(await measureWorkload(setup, workload, flags)));
    }
    if (isSelected('W9'))
      results.push(...(await measureBackfill(setup, flags.sizes.backfillRecords)));
    return results;
  });
}

async function measureWorkload(
  setup: Setup,
  workload: MovingWorkload,
  flags: Flags,
): Promise<MovingResult[]> {
  const { client, peers } = setup;
  if (workload.commitDelayMs) await delayCommits(client, workload.commitDelayMs);
  const rounds = new Map<MovingPeer, MovingResult[]>(peers.map((peer) => [peer, []]));
  for (let round = 0; round < flags.rounds; round += 1) {
    const order = round % 2 === 0 ? peers : peers.toReversed();
    for (const peer of order)
      rounds.get(peer)?.push(await measureRound(setup, workload, { peer, flags }));
  }
  if (workload.commitDelayMs) await delayCommits(client, 0);
  return peers.map((peer) => computeMedians(rounds.get(peer) ?? []));
}

/** The number of requests so far. Each request derives new records and customers from it. */
let requestCount = 0;

async function measureRound(
  setup: Setup,
  workload: MovingWorkload,
  { peer, flags: { seconds } }: { peer: MovingPeer; flags: Flags },
): Promise<MovingResult> {
  const { postgres, client } = setup;
  const { name, meaning, records, sockets } = workload;
  const load = {
    server: peer.server,
    requests: createRequests(peer, workload, seconds),
    sockets,
    seconds,
  };
  const databaseMs = postgres.readCpuMs();
  const { measured, perSecond, count } = workload.endsAtProvider
    ? await driveUntilWritten(setup, load)
    : await driveUntilResponses(load);
  await waitForDeliveries(client);
  return {
    work: name,
    meaning,
    peer: peer.name,
    perSecond: perSecond * records,
    p50Ms: measured.p50Ms,
    p99Ms: measured.p99Ms,
    cpuMs: measured.cpuMsPerRequest / records,
    databaseCpuMs: (postgres.readCpuMs() - databaseMs) / count / records,
  };
}

async function driveUntilResponses(load: Load) {
  const measured = await drive(load);
  const perSecond = measured.requestsPerSecond;
  return { measured, perSecond, count: perSecond * load.seconds };
}

/** Measures the time from the first request to the last record at the provider. */
async function driveUntilWritten({ sandbox }: Setup, load: Load) {
  const countRecords = async () => Number(await sandbox.request({}));
  const countBefore = await countRecords();
  const cpuMs = load.server.readCpuMs();
  const startMs = performance.now();
  const measured = await drive(load);
  let count = (await countRecords()) - countBefore;
  let lastMs = performance.now();
  for (let quietMs = 0; quietMs < 1_000; quietMs = performance.now() - lastMs) {
    await sleep(POLL_MS);
    const newCount = (await countRecords()) - countBefore;
    if (newCount > count) lastMs = performance.now();
    count = newCount;
  }
  const cpuMsPerRequest = (load.server.readCpuMs() - cpuMs) / count;
  const perSecond = (count / (lastMs - startMs)) * 1_000;
  return { measured: { ...measured, cpuMsPerRequest }, perSecond, count };
}

function createRequests(
  peer: MovingPeer,
  { operationName, createInput, records }: MovingWorkload,
  seconds: number,
) {
  // The requests of the spare time also serve the warm-up.
  const spareSeconds = Math.min(1, seconds);
  const count = Math.ceil((REQUESTS_PER_SECOND * (seconds + spareSeconds)) / records);
  const query = MOVING_DOCUMENTS[operationName];
  return Array.from({ length: count }, () => {
    requestCount += 1;
    const variables = { input: createInput(requestCount) };
    return encodeRequest(peer, { operationName, query, variables });
  });
}

/** Measures W9: a backfill of all contacts of the sandbox to a webhook. */
async function measureBackfill(
  { peers, sandbox, receiver, client, execute, postgres }: Setup,
  recordsMin: number,
): Promise<MovingResult[]> {
  const missingCount = recordsMin - Number(await sandbox.request({}));
  const records = Number(await sandbox.request(missingCount > 0 ? { seed: missingCount } : {}));
  const results: MovingResult[] = [];
  for (const peer of peers) {
    const { server, name } = peer;
    const cpuMs = server.readCpuMs();
    const databaseMs = postgres.readCpuMs();
    const startMs = performance.now();
    if (name === 'limit') {
      const input = { receiverUrl: String(receiver.greeting) };
      await createExecute(server, {})('', input, 'Backfill');
    } else {
      await backfillByGateway(execute, client);
    }
    const tookMs = performance.now() - startMs;
    results.push({
      work: 'W9',
      meaning: `backfill of ${records} records to a webhook`,
      peer: name,
      perSecond: (records / tookMs) * 1_000,
      p50Ms: Number.NaN,
      p99Ms: Number.NaN,
      cpuMs: (server.readCpuMs() - cpuMs) / records,
      databaseCpuMs: (postgres.readCpuMs() - databaseMs) / records,
    });
  }
  return results;
}

async function backfillByGateway(execute: Execute, client: pg.Client): Promise<void> {
  const mutation = `mutation TriggerRead($input: TriggerReadInput!) {
    triggerRead(input: $input) { operation { id } }
  }`;
  const [groupRef] = GROUPS;
  const integration = { projectIdOrName: PROJECT_NAME, integrationIdOrName: INTEGRATION };
  const { triggerRead } = await execute(mutation, {
    ...integration,
    groupRef,
    objectName: 'contacts',
  });
  await waitUntil(async () => {
    const { rows } = await client.query(
      `select 1 from "Operation" where "id" = $1 and "status" = 'SUCCESS'`,
      [triggerRead.operation.id],
    );
    return rows.length > 0;
  }, WAIT);
  await waitForDeliveries(client);
}

async function startLimit(
  databaseUrl: string,
  projectId: string,
  { sandboxUrl, benchProject }: { sandboxUrl: string; benchProject: BenchProject },
): Promise<Server> {
  const { DATABASE_POOL_SIZE: POOL_SIZE } = GATEWAY_ENV;
  return startServer({
    script: 'bench/peers/moving.ts',
    port: await findFreePort(),
    env: {
      DATABASE_URL: databaseUrl,
      POOL_SIZE,
      PROJECT_ID: projectId,
      SANDBOX_URL: sandboxUrl,
      BENCH_PROJECT: JSON.stringify(benchProject),
    },
    readyPath: '/',
  });
}

export function formatMovingTable(results: MovingResult[]): string {
  const rows = results.map((result) => {
    const limit = results.find(({ work, peer }) => work === result.work && peer === 'limit');
    return [
      `${result.work}: ${result.meaning}, ${result.peer}`,
      Math.round(result.perSecond),
      (result.perSecond / (limit ?? result).perSecond).toFixed(2),
      formatNumber(result.p50Ms, 2),
      formatNumber(result.p99Ms, 2),
      result.cpuMs.toFixed(3),
      formatNumber(result.databaseCpuMs, 3),
    ];
  });
  const head = ['', 'each second', 'ratio', 'p50 ms', 'p99 ms', 'cpu ms', 'database'];
  return `Records that are moved\n${formatTable(head, rows)}\n`;
}
