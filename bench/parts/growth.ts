/** Measures the latency of lists, nodes and the start of a subscription as their tables grow. */
import { request as openRequest } from 'node:http';
import { createFilledDatabase, usingClient } from '../database.ts';
import { PROJECT_NAME } from '../fill.ts';
import type { Flags } from '../flags.ts';
import {
  createRequest,
  encodeRequest,
  type GraphqlRequest,
  sendRequest,
} from '../graphql-request.ts';
import { openHttpSocket } from '../http-socket.ts';
import { type Peer, startPeer } from '../peers.ts';
import type { Postgres } from '../postgres.ts';
import { computeQuantile } from '../statistics.ts';
import { formatTable } from '../table.ts';
import { createNodeQuery, DEEP_ROWS, PAGE_SIZE, type Variables } from '../workloads.ts';

const SMALLEST = 10_000;
const LARGEST = 10_000_000;
/** The number of timed requests per size, and of warm-up requests before them. */
const TIMED_REQUESTS = 500;
const WARM_UP_REQUESTS = 100;
/** A page size with which the shortest list of the smallest size has a second page. */
const STRIDE = 250;

/**
 * The measured lists. Each has as many rows as the size, or a fixed share of it, except for operations in progress, of
 * which there are none.
 */
const LISTS = {
  operations: 'operations',
  'operations in progress': 'operations(status: IN_PROGRESS)',
  'failed operations': 'operations(status: FAILED)',
  connections: 'connections',
  'broken connections': 'connections(status: BAD_CREDENTIALS)',
  installations: 'installations',
  'unhealthy installations': 'installations(healthStatus: UNHEALTHY)',
  "an integration's failed operations": 'operations(integrationIdOrName: "sync-0", status: FAILED)',
  "a group's operations": 'operations(groupRef: "group-0")',
  'operations of a minute':
    'operations(createTime: { from: "2025-01-01T00:10:00Z", until: "2025-01-01T00:11:00Z" })',
  'oldest operations first': 'operations(order: OLDEST_FIRST)',
  'groups by a word': 'groups(search: "group-1")',
  'notification events': 'notificationEvents',
  groups: 'groups',
  consumers: 'consumers',
} as const;

/** Activity of 90 days, which has as many rows as buckets, regardless of the project's size. */
const ACTIVITY = {
  'operations by hour': 'operations { startTime actionType status count }',
  'deliveries by hour': 'deliveries { startTime attempts failedAttempts p50Ms p95Ms p99Ms }',
  'records by hour': 'records { startTime read written receivedEvents }',
  'streams by hour': 'streams { startTime messages }',
} as const;

export interface GrowthResult {
  rows: number;
  request: string;
  /** Which page of a list was requested. Null if `request` is not a list. */
  position: 'first page' | 'deep page' | null;
  p50Ms: number;
  p99Ms: number;
}

export async function measureGrowth(postgres: Postgres, flags: Flags): Promise<GrowthResult[]> {
  const sizes = [SMALLEST, flags.operations, ...(flags.large ? [LARGEST] : [])];
  const results: GrowthResult[] = [];
  for (const rows of sizes) {
    const filledSizes = { operations: rows, connections: rows, events: rows };
    const filled = await createFilledDatabase(postgres, filledSizes, flags.seed);
    await using peer = await startPeer('gateway', filled);
    for (const [name, field] of Object.entries(LISTS)) {
      const firstPageTimes = await timeRequests(peer, [createPageRequest(field)]);
      results.push({ rows, request: name, position: 'first page', ...firstPageTimes });
      const deepPage = await findDeepPage(peer, field);
      if (!deepPage) continue;
      const deepTimes = await timeRequests(peer, [deepPage]);
      results.push({ rows, request: name, position: 'deep page', ...deepTimes });
    }
    for (const [name, selection] of Object.entries(ACTIVITY)) {
      for (const bucket of ['HOUR', 'DAY']) {
        const requestName = name.replace('hour', bucket.toLowerCase());
        const times = await timeRequests(peer, [createActivityRequest(selection, bucket)]);
        results.push({ rows, request: requestName, position: null, ...times });
      }
    }
    const { text, values } = createNodeQuery(flags.seed);
    const nodes = await usingClient(filled.url, (client) => client.query<Variables>(text, values));
    const requests = nodes.rows.map((node) => createRequest(peer, 'Node', node));
    results.push({
      rows,
      request: 'node',
      position: null,
      ...(await timeRequests(peer, requests)),
    });
    results.push({
      rows,
      request: 'start of a subscription',
      position: null,
      ...(await timeSubscriptions(peer)),
    });
  }
  return results;
}

function createActivityRequest(selection: string, bucket: string): GraphqlRequest {
  const query = `query GetActivity($project: String!) { project(idOrName: $project) {
    activity(from: "2025-01-01T00:00:00Z", until: "2025-03-31T00:00:00Z", bucket: ${bucket}) { ${selection} }
  } }`;
  return { operationName: 'GetActivity', query, variables: { project: PROJECT_NAME } };
}

/** Requests a page of a list. `field` may have arguments of the list. */
function createPageRequest(
  field: string,
  first: number = PAGE_SIZE,
  after?: string | null,
): GraphqlRequest {
  const [name, listArgs] = field.split(/[()]/);
  const args = `${listArgs ? `${listArgs}, ` : ''}first: $first, after: $after`;
  const query = `query ListPage($project: String!, $first: Int!, $after: String) {
    project(idOrName: $project) {
      page: ${name}(${args}) { edges { cursor node { id createTime } } pageInfo { hasNextPage endCursor } }
    }
  }`;
  return { operationName: 'ListPage', query, variables: { project: PROJECT_NAME, first, after } };
}

/**
 * Returns a request for the page after `DEEP_ROWS` rows, or for the last page of a shorter list. Returns null if the
 * list has a single page.
 */
async function findDeepPage(peer: Peer, field: string): Promise<GraphqlRequest | null> {
  let after: string | null = null;
  for (let rows = 0; rows < DEEP_ROWS; rows += STRIDE) {
    const { project } = await sendRequest(peer, createPageRequest(field, STRIDE, after));
    const { hasNextPage, endCursor } = project.page.pageInfo;
    if (!hasNextPage) break;
    after = endCursor;
  }
  return after === null ? null : createPageRequest(field, PAGE_SIZE, after);
}

/** Sends the requests one after the other, so that none waits for another. */
async function timeRequests(peer: Peer, requests: GraphqlRequest[]) {
  const { hostname, port } = new URL(peer.server.url);
  const socket = await openHttpSocket(hostname, Number(port));
  const buffers = requests.map((request) => encodeRequest(peer, request));
  try {
    return await timeCalls(
      (index) => socket.send(buffers[index % buffers.length]!),
      TIMED_REQUESTS,
    );
  } finally {
    socket.close();
  }
}

async function timeCalls(call: (index: number) => Promise<void>, times: number) {
  for (let index = 0; index < WARM_UP_REQUESTS; index += 1) await call(index);
  const latencies: number[] = [];
  for (let index = 0; index < times; index += 1) {
    const startMs = performance.now();
    await call(WARM_UP_REQUESTS + index);
    latencies.push(performance.now() - startMs);
  }
  const sorted = latencies.sort((a, b) => a - b);
  return { p50Ms: computeQuantile(sorted, 0.5), p99Ms: computeQuantile(sorted, 0.99) };
}

/** Measures the time to the first event of a subscriber who resumes after missing a page of events. */
async function timeSubscriptions(peer: Peer) {
  const { project } = await sendRequest(peer, createPageRequest(LISTS['notification events']));
  const after: string = project.page.edges.at(-1).cursor;
  const query = `subscription FollowNotificationEvents($project: String!, $after: String) {
    notificationEvents(projectIdOrName: $project, after: $after) { cursor node { id data } }
  }`;
  const variables = { project: PROJECT_NAME, after };
  return timeCalls(
    () => waitForFirstEvent(peer, { operationName: 'FollowNotificationEvents', query, variables }),
    TIMED_REQUESTS,
  );
}

function waitForFirstEvent({ server, headers }: Peer, request: GraphqlRequest): Promise<void> {
  const { promise, resolve, reject } = Promise.withResolvers<void>();
  const clientRequest = openRequest(`${server.url}/graphql`, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'text/event-stream', ...headers },
  });
  clientRequest.on('error', reject);
  clientRequest.on('response', (response) => {
    response.on('error', reject);
    response.on('data', (chunk: Buffer) => {
      if (!chunk.includes('event: next')) return;
      resolve();
      clientRequest.destroy();
    });
    response.on('end', () => reject(new Error('A subscription ends before its first event.')));
  });
  clientRequest.end(JSON.stringify(request));
  return promise;
}

export function formatGrowthTable(results: GrowthResult[]): string {
  const rows = results.map(({ request, position, rows, p50Ms, p99Ms }) => [
    position === 'deep page' ? `${request}, deep` : request,
    rows,
    p50Ms.toFixed(2),
    p99Ms.toFixed(2),
  ]);
  rows.sort((a, b) => String(a[0]).localeCompare(String(b[0])) || Number(a[1]) - Number(b[1]));
  return `Growth: one request at a time\n${formatTable(['', 'rows', 'p50 ms', 'p99 ms'], rows)}\n`;
}
