/**
 * Compares one process of the gateway with two on the same PostgreSQL, and measures how soon a worker starts the work that
 * another process has accepted.
 */
import type pg from 'pg';
import { createBenchProject, createExecute, createProject, runMutation } from '../bench-project.ts';
import { createEmptyDatabase, usingClient } from '../database.ts';
import { drive } from '../drive.ts';
import { PROJECT_NAME } from '../fill.ts';
import type { Flags } from '../flags.ts';
import { createRequest, encodeRequest } from '../graphql-request.ts';
import { type Peer, type PeerPool, startGateway } from '../peers.ts';
import type { Postgres } from '../postgres.ts';
import { startChild } from '../processes/child.ts';
import { computeMedians } from '../statistics.ts';
import { formatNumber, formatTable } from '../table.ts';
import { waitUntil } from '../wait-until.ts';
import { PAGE_SIZE } from '../workloads.ts';
import { createAsynchronousInput, GROUPS, INTEGRATION } from './moving/documents.ts';

interface ProcessesResult {
  processes: string;
  requestsPerSecond: number;
  cpuMsPerRequest: number;
}

/** The time from the acceptance of work by an API process to the first request of a worker to the provider. */
interface StartedWork {
  work: string;
  count: number;
  p50Ms: number;
  p99Ms: number;
}

export interface ScaleOutResult {
  processes: ProcessesResult[];
  started: StartedWork[];
}

export async function measureScaleOut(
  postgres: Postgres,
  peerPool: PeerPool,
  flags: Flags,
): Promise<ScaleOutResult> {
  const processes = await measureProcesses(peerPool, flags);
  return { processes, started: await measureStarts(postgres, flags) };
}

async function measureProcesses(peerPool: PeerPool, flags: Flags): Promise<ProcessesResult[]> {
  await using peerA = await peerPool.acquire('gateway');
  await using peerB = await peerPool.acquire('gateway');
  const rounds: ProcessesResult[][] = [[], []];
  for (let round = 0; round < flags.rounds; round += 1) {
    rounds[0]!.push(await measurePeers([peerA], flags));
    rounds[1]!.push(await measurePeers([peerA, peerB], flags));
  }
  return rounds.map(computeMedians);
}

async function measurePeers(peers: Peer[], { sockets, seconds }: Flags): Promise<ProcessesResult> {
  const variables = { project: PROJECT_NAME, first: PAGE_SIZE };
  const measured = await Promise.all(
    peers.map((peer) => {
      const requests = [encodeRequest(peer, createRequest(peer, 'Operations', variables))];
      const peerSockets = Math.ceil(sockets / peers.length);
      return drive({ server: peer.server, requests, sockets: peerSockets, seconds });
    }),
  );
  const requestsPerSecond = measured.reduce((sum, peer) => sum + peer.requestsPerSecond, 0);
  const cpuMsPerSecond = measured.reduce(
    (sum, peer) => sum + peer.cpuMsPerRequest * peer.requestsPerSecond,
    0,
  );
  return {
    processes: peers.length === 1 ? 'one process' : `${peers.length} processes`,
    requestsPerSecond,
    cpuMsPerRequest: cpuMsPerSecond / requestsPerSecond,
  };
}

const POLL_MS = 20;
const STARTED = { pollMs: POLL_MS, timeoutMs: 60_000, subject: 'Work of another process' };

/** Both processes accept and start one operation at a time. */
async function measureStarts(postgres: Postgres, { seconds }: Flags): Promise<StartedWork[]> {
  const databaseUrl = await createEmptyDatabase(postgres, 'bench_starts');
  await using sandbox = await startChild('sandbox.ts');
  await using receiver = await startChild('receiver.ts');
  const { apiKey } = await usingClient(databaseUrl, (client) =>
    createProject(client, String(sandbox.greeting)),
  );
  await using api = await startGateway(databaseUrl, { env: { ROLES: 'api' } });
  await using _worker = await startGateway(databaseUrl, { env: { ROLES: 'worker' } });
  const execute = createExecute(api, { 'x-api-key': apiKey });
  await createBenchProject(execute, String(receiver.greeting));
  const startRead = async (number: number): Promise<string> => {
    const groupRef = GROUPS[number % GROUPS.length];
    const input = { integrationIdOrName: INTEGRATION, groupRef, objectName: 'contacts' };
    const { operation } = await runMutation(execute, 'triggerRead', input, 'operation { id }');
    return operation.id;
  };
  const startWrite = async (number: number): Promise<string> => {
    const input = createAsynchronousInput(number);
    return (await runMutation(execute, 'writeRecords', input, 'operationId')).operationId;
  };
  return await usingClient(databaseUrl, async (client) => [
    // Comes first, because each write makes a read longer.
    await measureStart(client, { work: 'triggered read', seconds, start: startRead }),
    await measureStart(client, { work: 'asynchronous write', seconds, start: startWrite }),
  ]);
}

interface WorkToStart {
  work: string;
  seconds: number;
  /** Starts an operation and returns its id. */
  start: (number: number) => Promise<string>;
}

async function measureStart(
  client: pg.Client,
  { work, seconds, start }: WorkToStart,
): Promise<StartedWork> {
  const ids: string[] = [];
  const endMs = performance.now() + seconds * 1_000;
  do {
    const id = await start(ids.length);
    ids.push(id);
    await waitUntil(async () => (await client.query(FIND_ENDED, [id])).rows.length > 0, STARTED);
  } while (performance.now() < endMs);
  const readRow = async () => (await client.query<StartedWork>(COMPUTE_DELAYS, [ids])).rows[0]!;
  // Requests are stored soon after their operation has ended.
  await waitUntil(async () => (await readRow()).count === ids.length, STARTED);
  return { ...(await readRow()), work };
}

const FIND_ENDED = `select 1 from "Operation" where "id" = $1 and "status" <> 'IN_PROGRESS'`;

/** The database sets the first time, and a worker sets the second one by its estimate of the database's clock. */
const COMPUTE_DELAYS = `
  select count(*)::int as "count", percentile_disc(0.5) within group (order by "ms") as "p50Ms",
    percentile_disc(0.99) within group (order by "ms") as "p99Ms"
  from (
    select extract(epoch from min(request."createTime") - operation."createTime")::float8 * 1000 as "ms"
    from "Operation" operation join "RecordedRequest" request
      on request."projectId" = operation."projectId" and request."operationId" = operation."id"
    where operation."id" = any($1) group by operation."projectId", operation."id") delays`;

export function formatScaleOutTable({ processes, started }: ScaleOutResult): string {
  const rows = processes.map(({ processes: name, requestsPerSecond, cpuMsPerRequest }) => [
    name,
    Math.round(requestsPerSecond),
    (requestsPerSecond / processes[0]!.requestsPerSecond).toFixed(2),
    cpuMsPerRequest.toFixed(3),
  ]);
  const startedRows = started.map(({ work, count, p50Ms, p99Ms }) => [
    work,
    count,
    formatNumber(p50Ms, 1),
    formatNumber(p99Ms, 1),
  ]);
  return `Processes on one PostgreSQL, pages of operations
${formatTable(['', 'req/s', 'ratio', 'cpu ms'], rows)}

From the acceptance by an API process to the first request of a worker
${formatTable(['', 'count', 'p50 ms', 'p99 ms'], startedRows)}
`;
}
