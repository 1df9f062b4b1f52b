/** What metrics and traces cost: the processor time of a request with them, by that of one without. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Filled } from '../database.ts';
import { type Compared, driveInSlices } from '../drive-in-slices.ts';
import type { Flags } from '../flags.ts';
import { type Peer, startGateway } from '../peers.ts';
import type { Server } from '../processes/server.ts';
import { table } from '../table.ts';
import { DOCUMENTS, type Variables, type Workload } from '../workloads.ts';
import { loadsOf } from './requests.ts';

const MEASURED: Workload[] = ['W1', 'W3'];
const METRICS = { METRICS_PORT: '0' };

const tracing = (url: string, share: string) => ({
  OTEL_EXPORTER_OTLP_ENDPOINT: url,
  OTEL_TRACES_SAMPLER: 'parentbased_traceidratio',
  OTEL_TRACES_SAMPLER_ARG: share,
});

export interface Observing extends Compared {
  workload: Workload;
}

/** Of each kind. */
const SERVERS = 3;
/** All of them share one PostgreSQL. */
const SMALL_POOL = { DATABASE_POOL_SIZE: '6' };

/** The first is what the others are compared with. */
export async function measureObserving(
  filled: Filled,
  nodes: Variables[],
  flags: Flags,
): Promise<Observing[]> {
  await using started = new AsyncDisposableStack();
  const receiver = started.use(await startReceiver());
  const variants: Record<string, Record<string, string>> = {
    neither: {},
    metrics: METRICS,
    'a tenth traced': tracing(receiver.url, '0.1'),
    'metrics, a tenth traced': { ...METRICS, ...tracing(receiver.url, '0.1') },
    'all traced': tracing(receiver.url, '1'),
  };
  const peers: { name: string; peer: Peer }[] = [];
  for (let round = 0; round < SERVERS; round += 1) {
    for (const [name, env] of Object.entries(variants)) {
      const server = started.use(await startGateway(filled, { ...SMALL_POOL, ...env }));
      peers.push({ name, peer: peerOf(server, filled) });
    }
  }
  const all: Observing[] = [];
  for (const workload of MEASURED) {
    const asked = peers.map(({ peer }) => peer);
    const loads = await loadsOf(asked, workload, { nodes, flags });
    const named = peers.map(({ name, peer }) => {
      return { name, server: peer.server, requests: loads.get(peer)! };
    });
    const compared = await driveInSlices(named, flags);
    all.push(...compared.map((one) => ({ workload, ...one })));
  }
  return all;
}

function peerOf(server: Server, { apiKey }: Filled): Peer {
  return {
    name: 'gateway',
    server,
    documents: DOCUMENTS,
    headers: { 'x-api-key': apiKey },
    [Symbol.asyncDispose]: async () => {},
  };
}

/** Takes what is sent, and throws it away. */
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

export function observingTable(results: Observing[]): string {
  const rows = results.map(({ workload, name, cpuMsPerRequest, ratio, ratios }) => [
    `${workload}, ${name}`,
    cpuMsPerRequest.toFixed(3),
    ratio.toFixed(3),
    ratios.map((one) => one.toFixed(2)).join(' '),
  ]);
  return `Metrics and traces\n${table(['', 'cpu ms', 'ratio', 'of each server'], rows)}\n`;
}
