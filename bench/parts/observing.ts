/** What metrics and traces cost: the processor time of a request with them, by that of one without. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Filled } from '../database.ts';
import { type Compared, driveInSlices } from '../drive-in-slices.ts';
import type { Flags } from '../flags.ts';
import { type Peer, startGateway } from '../peers.ts';
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
  what: string;
}

/** The first is what the others are compared with; the second, the same again, tells what is noise. */
export async function measureObserving(
  filled: Filled,
  nodes: Variables[],
  flags: Flags,
): Promise<Observing[]> {
  await using started = new AsyncDisposableStack();
  const receiver = started.use(await startReceiver());
  const variants: [string, Record<string, string>][] = [
    ['off', {}],
    ['off, again', {}],
    ['metrics', METRICS],
    ['a tenth traced', tracing(receiver.url, '0.1')],
    ['metrics, a tenth traced', { ...METRICS, ...tracing(receiver.url, '0.1') }],
    ['all traced', tracing(receiver.url, '1')],
  ];
  const peers: Peer[] = [];
  for (const [, env] of variants) {
    const server = started.use(await startGateway(filled, env));
    peers.push({
      name: 'gateway',
      server,
      documents: DOCUMENTS,
      headers: { 'x-api-key': filled.apiKey },
      [Symbol.asyncDispose]: async () => {},
    });
  }
  const all: Observing[] = [];
  for (const workload of MEASURED) {
    const loads = await loadsOf(peers, workload, { nodes, flags });
    const compared = await driveInSlices(
      peers.map((peer) => ({ server: peer.server, requests: loads.get(peer)! })),
      flags,
    );
    for (const [index, one] of compared.entries()) {
      all.push({ workload, what: variants[index]![0], ...one });
    }
  }
  return all;
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
  const rows = results.map(({ workload, what, cpuMsPerRequest, ratio }) => [
    `${workload}, ${what}`,
    cpuMsPerRequest.toFixed(3),
    ratio.toFixed(3),
  ]);
  return `Metrics and traces\n${table(['', 'cpu ms', 'ratio'], rows)}\n`;
}
