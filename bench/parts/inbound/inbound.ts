/**
 * Measures events that a provider sends: how many the gateway stores per second, compared with a minimal server, the
 * latency until it posts an event to a receiver, and the memory that waiting events take.
 */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import type pg from 'pg';
import { Pool } from 'undici';
import { findFreePort } from '../../../test/support/process/free-port.ts';
import { createExecute, createProject } from '../../bench-project.ts';
import { createEmptyDatabase, usingClient } from '../../database.ts';
import type { Flags } from '../../flags.ts';
import { GATEWAY_ENV, startGateway } from '../../peers.ts';
import type { Postgres } from '../../postgres.ts';
import { startChild } from '../../processes/child.ts';
import { type Server, startServer } from '../../processes/server.ts';
import { createServerPool, type ServerPool } from '../../processes/server-pool.ts';
import { computeMedians, computeQuantile } from '../../statistics.ts';
import { formatTable } from '../../table.ts';
import { createSignedRequest, EVENTS_EACH, type SignedRequest } from './requests.ts';
import { type Subscribed, subscribe } from './subscribed.ts';

const SOCKETS = 32;
/** The number of prepared requests per second, which is more than either server processes. */
const REQUESTS_PER_SECOND = 4_000;
const WARM_UP_REQUESTS = 200;
/** The number of events per second while the latency to the receiver is measured. */
const STEADY_EVENTS = 200;
const NO_LIMIT = '100000000';
const NO_EVENT_LIMITS = {
  LIMIT_WAITING_EVENTS: NO_LIMIT,
  LIMIT_EVENT_REQUESTS_PER_SECOND: NO_LIMIT,
  LIMIT_EVENT_BYTES_PER_SECOND: NO_LIMIT,
};
/** Settings of a process that stores events and does not process them. */
const STORE_ONLY_ENV = { ...NO_EVENT_LIMITS, ROLES: 'api' };

export interface InboundResult {
  peer: string;
  requestsPerSecond: number;
  p50Ms: number;
  p99Ms: number;
  cpuMsPerRequest: number;
  databaseCpuMsPerRequest: number;
}

export interface InboundResults {
  stored: InboundResult[];
  /** Latency from the request to the signed POST. */
  posted: { events: number; p50Ms: number; p99Ms: number };
  /** Memory of the process, with no events waiting and with many. */
  memory: { waiting: number; idleBytes: number; withWaitingBytes: number };
}

/** Gateways that store events and do not process them. */
type StoringGateways = ServerPool<'gateway', Server>;

interface Setup {
  postgres: Postgres;
  client: pg.Client;
  databaseUrl: string;
  subscribed: Subscribed;
  projectId: string;
}

export async function measureInbound(postgres: Postgres, flags: Flags): Promise<InboundResults> {
  const databaseUrl = await createEmptyDatabase(postgres, 'bench_inbound');
  await using sandbox = await startChild('sandbox.ts');
  await using receiver = await startTimedReceiver();
  return await usingClient(databaseUrl, async (client) => {
    const { apiKey, projectId } = await createProject(client, String(sandbox.greeting));
    let setup: Setup;
    let posted: InboundResults['posted'];
    {
      await using gateway = await startGateway(databaseUrl, { env: NO_EVENT_LIMITS });
      const execute = createExecute(gateway, { 'x-api-key': apiKey });
      const subscribed = await subscribe(execute, client, receiver.url);
      setup = { postgres, client, databaseUrl, subscribed, projectId };
      posted = await timePosts(setup, { gateway, receiver, flags });
    }
    await using gateways: StoringGateways = createServerPool(
      () => startGateway(databaseUrl, { env: STORE_ONLY_ENV }),
      flags.smoke,
    );
    const stored = await measureStored(setup, gateways, flags);
    const memory = await measureMemory(setup, gateways, flags);
    return { stored, posted, memory };
  });
}

async function measureStored(
  setup: Setup,
  gateways: StoringGateways,
  flags: Flags,
): Promise<InboundResult[]> {
  await using gateway = await gateways.acquire('gateway');
  await using limit = await startLimit(setup);
  const peers: [string, Server][] = [
    ['limit', limit],
    ['gateway', gateway],
  ];
  const rounds = new Map<string, InboundResult[]>(peers.map(([name]) => [name, []]));
  for (let round = 0; round < flags.rounds; round += 1) {
    for (const [name, server] of round % 2 === 0 ? peers : peers.toReversed()) {
      rounds.get(name)?.push(await measureRound(setup, { name, server, seconds: flags.seconds }));
    }
  }
  return peers.map(([name]) => computeMedians(rounds.get(name) ?? []));
}

async function measureRound(
  { postgres, client, subscribed }: Setup,
  { name, server, seconds }: { name: string; server: Server; seconds: number },
): Promise<InboundResult> {
  await client.query('truncate "ProviderEvent"');
  const spareSeconds = Math.min(1, seconds);
  const count = WARM_UP_REQUESTS + Math.ceil(REQUESTS_PER_SECOND * (seconds + spareSeconds));
  const requests = Array.from({ length: count }, () => createSignedRequest(subscribed));
  await using pool = createPool(server);
  const warmUpRequests = requests.splice(0, WARM_UP_REQUESTS);
  await Promise.all(warmUpRequests.map((request) => pool.post(subscribed, request)));
  const cpuMs = server.readCpuMs();
  const databaseMs = postgres.readCpuMs();
  const startMs = performance.now();
  const times: number[] = [];
  const sendRequests = async () => {
    while (performance.now() - startMs < seconds * 1_000) {
      const request = requests.pop();
      if (!request) throw new Error('REQUESTS_PER_SECOND is too low for this machine.');
      const sentMs = performance.now();
      await pool.post(subscribed, request);
      times.push(performance.now() - sentMs);
    }
  };
  await Promise.all(Array.from({ length: SOCKETS }, sendRequests));
  const tookMs = performance.now() - startMs;
  const { rows } = await client.query('select count(*)::int as count from "ProviderEvent"');
  const sentEvents = (times.length + WARM_UP_REQUESTS) * EVENTS_EACH;
  if (rows[0].count !== sentEvents)
    throw new Error(`${name}: ${rows[0].count} of ${sentEvents} events were stored.`);
  const sorted = times.toSorted((a, b) => a - b);
  return {
    peer: name,
    requestsPerSecond: (times.length / tookMs) * 1_000,
    p50Ms: computeQuantile(sorted, 0.5),
    p99Ms: computeQuantile(sorted, 0.99),
    cpuMsPerRequest: (server.readCpuMs() - cpuMs) / times.length,
    databaseCpuMsPerRequest: (postgres.readCpuMs() - databaseMs) / times.length,
  };
}

interface SteadyRun {
  gateway: Server;
  receiver: TimedReceiver;
  flags: Flags;
}

/** Measures the time from a request to the POST of its event, at a steady rate. */
async function timePosts({ subscribed }: Setup, { gateway, receiver, flags }: SteadyRun) {
  const { seconds, sizes } = flags;
  await using pool = createPool(gateway);
  const sentMs = new Map<string, number>();
  const posts: Promise<void>[] = [];
  const gapMs = (1_000 * EVENTS_EACH) / STEADY_EVENTS;
  const startMs = performance.now();
  const countRequests = (time: number) => Math.ceil((time * STEADY_EVENTS) / EVENTS_EACH);
  const count = countRequests(sizes.inboundWarmUpSeconds + seconds);
  for (let number = 0; number < count; number += 1) {
    await sleep(Math.max(0, startMs + number * gapMs - performance.now()));
    const request = createSignedRequest(subscribed);
    for (const id of request.ids) sentMs.set(id, performance.now());
    posts.push(pool.post(subscribed, request));
  }
  await Promise.all(posts);
  while (receiver.arrivedMs.size < sentMs.size) await sleep(20);
  const timedEvents = [...sentMs].slice(countRequests(sizes.inboundWarmUpSeconds) * EVENTS_EACH);
  const times = timedEvents.map(([id, ms]) => (receiver.arrivedMs.get(id) ?? Number.NaN) - ms);
  const sorted = times.toSorted((a, b) => a - b);
  return {
    events: times.length,
    p50Ms: computeQuantile(sorted, 0.5),
    p99Ms: computeQuantile(sorted, 0.99),
  };
}

/** Measures the memory of the process while many events wait and it stores more. */
async function measureMemory(
  setup: Setup,
  gateways: StoringGateways,
  flags: Flags,
): Promise<InboundResults['memory']> {
  const { client, subscribed, projectId } = setup;
  const { waitingEvents: waiting, requestsWhileWaiting } = flags.sizes;
  await client.query('truncate "ProviderEvent"');
  await using gateway = await gateways.acquire('gateway');
  const warmUp = { name: 'gateway', server: gateway, seconds: Math.min(2, flags.seconds) };
  await measureRound(setup, warmUp);
  const idleBytes = gateway.readMemoryBytes();
  await client.query(
    `insert into "ProviderEvent" ("projectId", "installationId", "objectName", "nativeId",
       "providerAppId", "recordId", "kind", "nativeType", "eventTime", "changedFields", "content")
     select $1, $2, 'contacts', 'waits-' || n, $3, n::text, 'DELETE', 'contacts.deleted', now(), '{}', '{"raw": {}}'
     from generate_series(1, $4::int) n`,
    [projectId, subscribed.installationId, subscribed.providerAppId, waiting],
  );
  await using pool = createPool(gateway);
  for (let number = 0; number < requestsWhileWaiting; number += 1)
    await pool.post(subscribed, createSignedRequest(subscribed));
  return { waiting, idleBytes, withWaitingBytes: gateway.readMemoryBytes() };
}

function createPool(server: Server) {
  const pool = new Pool(server.url, { connections: SOCKETS, pipelining: 1 });
  return {
    async post({ providerAppId }: Subscribed, { body, headers }: SignedRequest): Promise<void> {
      const path = `/webhooks/sandbox/${providerAppId}`;
      const response = await pool.request({ method: 'POST', path, headers, body });
      const text = await response.body.text();
      if (response.statusCode !== 204) throw new Error(`${response.statusCode} ${text}`);
    },
    [Symbol.asyncDispose]: () => pool.close(),
  };
}

interface TimedReceiver extends AsyncDisposable {
  url: string;
  /** The arrival times of events, by their ids. */
  arrivedMs: Map<string, number>;
}

async function startTimedReceiver(): Promise<TimedReceiver> {
  const arrivedMs = new Map<string, number>();
  const server = createServer((request, response) => {
    const nowMs = performance.now();
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      response.writeHead(200, { 'content-length': 0 }).end();
      const { result = [] } = JSON.parse(Buffer.concat(chunks).toString());
      for (const { rawEvent } of result) if (rawEvent) arrivedMs.set(rawEvent.id, nowMs);
    });
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    arrivedMs,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

async function startLimit({ databaseUrl, projectId, subscribed }: Setup): Promise<Server> {
  const { DATABASE_POOL_SIZE: POOL_SIZE } = GATEWAY_ENV;
  const SUBSCRIBED = JSON.stringify(subscribed);
  return startServer({
    script: 'bench/peers/inbound.ts',
    port: await findFreePort(),
    env: { DATABASE_URL: databaseUrl, POOL_SIZE, PROJECT_ID: projectId, SUBSCRIBED },
    readyPath: '/',
  });
}

export function formatInboundTable({ stored, posted, memory }: InboundResults): string {
  const limit = stored.find(({ peer }) => peer === 'limit');
  const rows = stored.map((result) => [
    `requests of ${EVENTS_EACH} events, ${result.peer}`,
    Math.round(result.requestsPerSecond),
    (result.requestsPerSecond / (limit ?? result).requestsPerSecond).toFixed(2),
    result.p50Ms.toFixed(2),
    result.p99Ms.toFixed(2),
    result.cpuMsPerRequest.toFixed(3),
    result.databaseCpuMsPerRequest.toFixed(3),
  ]);
  const head = ['', 'each second', 'ratio', 'p50 ms', 'p99 ms', 'cpu ms', 'database'];
  const toMebibytes = (bytes: number) => Math.round(bytes / 2 ** 20);
  const lines = [
    `From request to signed POST at ${STEADY_EVENTS} events/s: p50 ${posted.p50Ms.toFixed(1)} ms, p99 ${posted.p99Ms.toFixed(1)} ms`,
    `Memory: ${toMebibytes(memory.idleBytes)} MiB, with ${memory.waiting} events waiting ${toMebibytes(memory.withWaitingBytes)} MiB`,
  ];
  return `Events of providers\n${formatTable(head, rows)}\n${lines.join('\n')}\n`;
}
