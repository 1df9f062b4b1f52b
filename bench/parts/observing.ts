/** Measures the cost of metrics and traces, by the CPU time of a request with and without them. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { FilledDatabase } from '../database.ts';
import {
  type CpuMsByTurn,
  computeMedianTurns,
  computeRatio,
  driveInSlices,
  type Load,
} from '../drive-in-slices.ts';
import type { Flags } from '../flags.ts';
import { createGatewayPeer, type Peer, startGateway } from '../peers.ts';
import { computeMedian } from '../statistics.ts';
import { formatTable } from '../table.ts';
import type { Variables, Workload } from '../workloads.ts';
import { createLoads } from './requests.ts';

const WORKLOADS: Workload[] = ['W1', 'W3'];

/** A small pool for each server, because all servers share one PostgreSQL. */
const SMALL_POOL = { DATABASE_POOL_SIZE: '4' };

const METRICS = { METRICS_PORT: '0' };
/**
 * The server samples only requests whose `traceparent` is sampled, so that the same process is measured with and
 * without traces.
 */
const createTracingEnv = (url: string) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
  OTEL_TRACES_SAMPLER_ARG: '0',
});
const TRACEPARENT = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
const NEVER = Number.POSITIVE_INFINITY;

export interface ObservingResult {
  workload: Workload;
  name: string;
  /** The ratio to a request without metrics and traces, for the median server. */
  ratio: number;
  /** Ratios of each server. */
  ratios: number[];
}

/** Servers that differ only in their settings. */
interface Variant {
  name: string;
  env: Record<string, string>;
  /**
   * A second series of requests to the same servers, compared with the first. Every variant has one, because a server
   * that gets more requests gets faster.
   */
  second: { name: string; sampleInterval: number };
}

function createVariants(receiverUrl: string): Variant[] {
  const traces = createTracingEnv(receiverUrl);
  return [
    { name: 'neither', env: {}, second: { name: 'neither, again', sampleInterval: NEVER } },
    { name: 'metrics', env: METRICS, second: { name: 'metrics, again', sampleInterval: NEVER } },
    {
      name: 'traces, none sampled',
      env: traces,
      second: { name: 'a tenth traced', sampleInterval: 10 },
    },
    {
      name: 'metrics and traces, none sampled',
      env: { ...METRICS, ...traces },
      second: { name: 'metrics, a tenth traced', sampleInterval: 10 },
    },
  ];
}

export async function measureObserving(
  filled: FilledDatabase,
  nodes: Variables[],
  flags: Flags,
): Promise<ObservingResult[]> {
  await using started = new AsyncDisposableStack();
  const receiver = started.use(await startReceiver());
  const allVariants = createVariants(receiver.url);
  // The last variant has the settings of all others, so a smoke run needs only the first and the last one.
  const variants = flags.smoke ? [allVariants[0]!, allVariants.at(-1)!] : allVariants;
  const peers: { variant: Variant; peer: Peer }[] = [];
  for (let round = 0; round < flags.sizes.observedServers; round += 1) {
    for (const variant of variants) {
      const server = started.use(
        await startGateway(filled.url, { env: { ROLES: 'api', ...SMALL_POOL, ...variant.env } }),
      );
      peers.push({ variant, peer: createGatewayPeer(server, filled.apiKey) });
    }
  }
  const results: ObservingResult[] = [];
  for (const workload of WORKLOADS) {
    const requests = await createLoads(
      peers.map(({ peer }) => peer),
      workload,
      { nodes, flags },
    );
    const loads = peers.flatMap(({ variant, peer }) =>
      createPeerLoads(variant, peer, requests.get(peer)!),
    );
    const turns = await driveInSlices(loads, flags);
    const driven = loads.map((load, index) => ({ ...load, turns: turns[index]! }));
    results.push(...compareLoads(driven).map((ratios) => ({ workload, ...ratios })));
  }
  return results;
}

/** The requests of one server. */
interface ServerLoad extends Load {
  name: string;
  isFirst: boolean;
}

function createPeerLoads(
  { name, second }: Variant,
  { server }: Peer,
  requests: Buffer[],
): ServerLoad[] {
  return [
    { name, server, requests, isFirst: true },
    {
      name: second.name,
      server,
      requests: sampleRequests(requests, second.sampleInterval),
      isFirst: false,
    },
  ];
}

/** Samples one of `interval` requests. The list is repeated, so that each request is sampled in one repetition. */
function sampleRequests(requests: Buffer[], interval: number): Buffer[] {
  if (interval === NEVER) return requests;
  const sampledRequests = requests.map(addTraceparent);
  return Array.from({ length: interval }, (_, repetition) =>
    requests.map((request, index) =>
      (index + repetition) % interval === 0 ? sampledRequests[index]! : request,
    ),
  ).flat();
}

/** Adds the trace context of a caller whose trace is sampled. */
function addTraceparent(request: Buffer): Buffer {
  const headAt = request.indexOf('\r\n') + 2;
  const header = Buffer.from(`traceparent: ${TRACEPARENT}\r\n`);
  return Buffer.concat([request.subarray(0, headAt), header, request.subarray(headAt)]);
}

/** Compares the second series of a server with its first, and the first series with the median of the first variant. */
function compareLoads(
  driven: (ServerLoad & { turns: CpuMsByTurn })[],
): Omit<ObservingResult, 'workload'>[] {
  const firstLoads = driven.filter(({ isFirst }) => isFirst);
  const byName = Map.groupBy(driven, ({ name }) => name);
  const base = computeMedianTurns(byName.get(driven[0]!.name)!.map(({ turns }) => turns));
  const computeMedianRatio = (name: string) =>
    computeMedian(byName.get(name)!.map(({ turns }) => computeRatio(turns, base)));
  return [...byName].map(([name, loads]) => {
    const ratios = loads.map(({ server, isFirst, turns }) => {
      if (isFirst) return computeRatio(turns, base);
      const first = firstLoads.find((load) => load.server === server)!;
      return computeRatio(turns, first.turns) * computeMedianRatio(first.name);
    });
    return { name, ratio: computeMedian(ratios), ratios };
  });
}

/** Starts a receiver that discards everything. */
async function startReceiver() {
  const server = createServer((request, response) => {
    request.resume().on('end', () => response.end());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
    },
  };
}

export function formatObservingTable(results: ObservingResult[]): string {
  const rows = results.map(({ workload, name, ratio, ratios }) => [
    `${workload}, ${name}`,
    ratio.toFixed(3),
    ratios.map((value) => value.toFixed(2)).join(' '),
  ]);
  return `Metrics and traces, by CPU time\n${formatTable(['', 'ratio', 'of each server'], rows)}\n`;
}
