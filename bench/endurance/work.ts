/**
 * Sends work of all kinds at a steady rate, regardless of pending responses. It limits the backlog to a few seconds, so
 * that the figures of an overloaded gateway do not measure the backlog.
 */
import { randomUUID } from 'node:crypto';
import { Agent, request } from 'undici';

export interface Demo {
  url: string;
  apiKey: string;
  sandboxUrl: string;
}

export interface Work {
  /** Latencies in milliseconds since the last read. */
  takeLatencies(): number[];
  stop(): Promise<WorkResult>;
}

export interface WorkResult {
  responses: number;
  /** Requests that were skipped, because too many were in progress. */
  skipped: number;
  failures: Record<string, number>;
}

const TICK_MS = 20;
const SOCKETS = 256;
const BACKLOG_SECONDS_MAX = 5;
/** Number of concurrent streams, and their average lifetime. */
const STREAMS = 20;
const STREAM_MS = 10_000;
/** How often the provider begins to fail, and how many requests it fails. Reads and writes are retried. */
const FAULT_INTERVAL_MS = 30_000;
const FAULT_TIMES = 20;

const TARGET = 'projectIdOrName: "demo", integrationIdOrName: "crm-sync", groupRef: "acme"';
const QUERIES = [
  'query ListOperations { project(idOrName: "demo") { operations(first: 20) { nodes { id status result createTime } } } }',
  'query ListConnections { project(idOrName: "demo") { connections(first: 20) { nodes { id status group { groupRef } consumer { consumerRef } } } } }',
  'query ListIntegrations { project(idOrName: "demo") { integrations(first: 5) { nodes { id name latestRevision { id } } } } }',
  'query ListNotificationEvents { project(idOrName: "demo") { notificationEvents(first: 20) { nodes { id eventType } } } }',
  'query ListDeliveries { project(idOrName: "demo") { deliveries(first: 20) { nodes { id status createTime } } } }',
];

/** The requests, each with its share of a thousand. */
const SHARES: [number, () => { query?: string; path?: string }][] = [
  [20, () => ({ query: createWrite('SYNCHRONOUS') })],
  [20, () => ({ query: createWrite('ASYNCHRONOUS') })],
  [
    5,
    () => ({
      query: `mutation TriggerRead { triggerRead(input: { ${TARGET}, objectName: "companies" }) { operation { id } } }`,
    }),
  ],
  [30, () => ({ query: createTopicMutation() })],
  [125, () => ({ path: '/v1/projects/demo/integrations' })],
  [800, () => ({ query: QUERIES[Math.floor(drawRandom() * QUERIES.length)] })],
];

function createWrite(mode: 'SYNCHRONOUS' | 'ASYNCHRONOUS'): string {
  const record = `{ email: "${randomUUID()}@example.com", lastname: "Endurance" }`;
  return `mutation WriteRecords { writeRecords(input: { ${TARGET}, objectName: "contacts", type: CREATE, mode: ${mode}, records: { record: ${record} } }) { operation { id } } }`;
}

function createTopicMutation(): string {
  return `mutation CreateTopic { createTopic(input: { projectIdOrName: "demo", name: "t-${randomUUID()}" }) { topic { id } } }`;
}

let randomState = 42;

/** Returns pseudo-random numbers from 0 to 1, the same in each run. */
function drawRandom(): number {
  randomState = (Math.imul(randomState, 1_103_515_245) + 12_345) >>> 0;
  return randomState / 2 ** 32;
}

function chooseRequest(): { query?: string; path?: string } {
  let remainder = drawRandom() * 1_000;
  for (const [share, create] of SHARES) {
    remainder -= share;
    if (remainder < 0) return create();
  }
  return { query: QUERIES[0] };
}

export function startWork(demo: Demo, rate: number): Work {
  const dispatcher = new Agent({ connections: SOCKETS });
  const failures = new Map<string, number>();
  const running = new Set<Promise<void>>();
  const abortController = new AbortController();
  let latencies: number[] = [];
  let responses = 0;
  const countFailure = (reason: string) => failures.set(reason, (failures.get(reason) ?? 0) + 1);
  const sendRequest = async () => {
    const { query, path } = chooseRequest();
    const startMs = performance.now();
    const headers = { 'x-api-key': demo.apiKey, 'content-type': 'application/json' };
    const options = query
      ? { method: 'POST' as const, body: JSON.stringify({ query }) }
      : { method: 'GET' as const };
    try {
      const url = `${demo.url}${path ?? '/graphql'}`;
      const response = await request(url, { dispatcher, headers, ...options });
      const text = await response.body.text();
      const code = /"code":"(\w+)"/.exec(text)?.[1];
      if (response.statusCode !== 200 || code) countFailure(code ?? String(response.statusCode));
      responses += 1;
    } catch (error) {
      countFailure(error instanceof Error ? error.name : 'unknown');
    }
    latencies.push(performance.now() - startMs);
  };
  const startMs = performance.now();
  let started = 0;
  let skipped = 0;
  const sendTimer = setInterval(() => {
    const due = Math.floor(((performance.now() - startMs) / 1_000) * rate);
    for (; started < due; started += 1) {
      if (running.size >= rate * BACKLOG_SECONDS_MAX) {
        skipped += 1;
        continue;
      }
      const work = sendRequest().finally(() => running.delete(work));
      running.add(work);
    }
  }, TICK_MS);
  const faultTimer = setInterval(() => {
    const fault = { status: 503, times: FAULT_TIMES };
    void request(`${demo.sandboxUrl}/control/faults`, {
      method: 'PUT',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(fault),
    }).then(
      ({ body }) => body.dump(),
      () => countFailure('fault'),
    );
  }, FAULT_INTERVAL_MS);
  const streams = Array.from({ length: STREAMS }, () =>
    keepSubscribed(demo, abortController.signal),
  );
  return {
    takeLatencies() {
      const takenLatencies = latencies;
      latencies = [];
      return takenLatencies;
    },
    async stop() {
      clearInterval(sendTimer);
      clearInterval(faultTimer);
      abortController.abort();
      await Promise.all([...running, ...streams]);
      await dispatcher.close();
      return { responses, skipped, failures: Object.fromEntries(failures) };
    },
  };
}

/** Keeps one subscription open, and reopens it when it ends, until the signal is aborted. */
async function keepSubscribed({ url, apiKey }: Demo, signal: AbortSignal): Promise<void> {
  const query =
    'subscription FollowNotificationEvents { notificationEvents(projectIdOrName: "demo") { cursor } }';
  while (!signal.aborted) {
    const lifetime = AbortSignal.timeout(Math.round(STREAM_MS * (0.5 + drawRandom())));
    const response = await fetch(`${url}/graphql`, {
      method: 'POST',
      headers: {
        accept: 'text/event-stream',
        'content-type': 'application/json',
        'x-api-key': apiKey,
      },
      body: JSON.stringify({ query }),
      signal: AbortSignal.any([signal, lifetime]),
    }).catch(() => null);
    await response?.text().catch(() => {});
  }
}
