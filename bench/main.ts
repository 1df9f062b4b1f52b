/** Measures the gateway and its peers: see README.md. */

import { answerHelp } from '../src/commands/usage.ts';
import { createFilledDatabase, type FilledDatabase, usingClient } from './database.ts';
import { useExistingServers } from './existing-servers.ts';
import { FLAG_NAMES, type Flags, PARTS, type Part, readFlags } from './flags.ts';
import { formatCallersTable, measureCallers } from './parts/callers.ts';
import { formatDeliveriesTable, measureDeliveries } from './parts/deliveries.ts';
import { measureEmbedded } from './parts/embedded.ts';
import { formatEventLogTable, measureEventLog } from './parts/event-log.ts';
import { formatFanOutTable, measureFanOut } from './parts/fan-out.ts';
import { formatGrowthTable, measureGrowth } from './parts/growth.ts';
import { formatInboundTable, measureInbound } from './parts/inbound/inbound.ts';
import { formatMovingTable, measureMoving } from './parts/moving/moving.ts';
import { formatObservingTable, measureObserving } from './parts/observing.ts';
import { measureWorkload, type WorkloadResult } from './parts/requests.ts';
import { formatRetentionTable, measureRetention } from './parts/retention/retention.ts';
import { formatScaleOutTable, measureScaleOut } from './parts/scale-out.ts';
import { formatSpreadTable } from './parts/spread.ts';
import { formatStartUpTable, measureStartUp } from './parts/start-up.ts';
import { createPeerPool, listInstalledPeers, type Peer, type PeerPool } from './peers.ts';
import { type Postgres, startPostgres } from './postgres.ts';
import { writePicture, writeResults } from './results.ts';
import { formatWorkloadTable } from './table.ts';
import { createNodeQuery, type Variables, WORKLOADS } from './workloads.ts';

/** The number of connections, unless a run has fewer operations. */
const CONNECTIONS_MAX = 10_000;

answerHelp(`Usage: npm run bench -- [--${FLAG_NAMES.join(' …] [--')} …]`);
const flags = readFlags(process.argv.slice(2));
await using server = flags.servers
  ? useExistingServers(flags.servers)
  : await startPostgres(flags.data);
if (flags.growth) {
  const results = await measureGrowth(server, flags);
  console.log(formatGrowthTable(results));
  writeResults('growth', results, flags.results);
  // This import is here because its packages are installed only with those of the peers.
  const { drawGrowth } = await import('./parts/growth-chart.ts');
  writePicture('growth', await drawGrowth(results), flags.results);
} else {
  await measureParts(server, flags);
}

async function measureParts(server: Postgres, flags: Flags): Promise<void> {
  const { operations, parts } = flags;
  const connections = Math.min(CONNECTIONS_MAX, operations);
  const sizes = { operations, connections, events: Math.ceil(operations / 10) };
  const filled = await createFilledDatabase(server, sizes, flags.seed);
  await using peerPool = createPeerPool(filled, flags);
  const measures: Record<Part, () => Promise<void>> = {
    requests: () => measureRequests(filled, peerPool, flags),
    'fan-out': () => report('fan-out', measureFanOut(filled, peerPool, flags), formatFanOutTable),
    deliveries: () => report('deliveries', measureDeliveries(server, flags), formatDeliveriesTable),
    moving: () => report('moving', measureMoving(server, flags), formatMovingTable),
    'event-log': () => report('event-log', measureEventLog(server, flags), formatEventLogTable),
    inbound: () => report('inbound', measureInbound(server, flags), formatInboundTable),
    'scale-out': () =>
      report('scale-out', measureScaleOut(server, peerPool, flags), formatScaleOutTable),
    'start-up': () => report('start-up', measureStartUp(filled, flags), formatStartUpTable),
    embedded: () => report('embedded', measureEmbedded(flags), formatEmbeddedTables),
    observing: async () => {
      const nodes = await readNodes(filled, flags);
      await report('observing', measureObserving(filled, nodes, flags), formatObservingTable);
    },
    callers: () => report('callers', measureCallers(peerPool, flags), formatCallersTable),
    retention: () => report('retention', measureRetention(server, flags), formatRetentionTable),
  };
  for (const part of PARTS) {
    if (!parts.includes(part)) continue;
    try {
      await measures[part]();
    } catch (error) {
      // The other parts are measured, and the exit code shows that one has no result.
      process.exitCode = 1;
      console.error(`${part} has no result:`, error);
    }
  }
}

async function report<T>(
  name: Part,
  measured: Promise<T>,
  formatTable: (results: T) => string,
): Promise<void> {
  const results = await measured;
  console.log(formatTable(results));
  writeResults(name, results, flags.results);
}

function formatEmbeddedTables(results: WorkloadResult[][]): string {
  return ['On the embedded database', ...results.map(formatWorkloadTable)].join('\n');
}

/** Measures each run with new processes, so that the spread includes differences between starts. */
async function measureRequests(
  filled: FilledDatabase,
  peerPool: PeerPool,
  flags: Flags,
): Promise<void> {
  const runs: WorkloadResult[][] = [];
  for (let run = 1; run <= flags.runs; run += 1) {
    if (flags.runs > 1) console.log(`Run ${run} of ${flags.runs}\n`);
    runs.push(await measureWorkloads(filled, peerPool, flags));
    writeResults('requests', flags.runs > 1 ? runs : runs[0], flags.results);
  }
  if (flags.runs > 1) console.log(formatSpreadTable(runs));
}

function readNodes({ url }: FilledDatabase, { seed }: Flags): Promise<Variables[]> {
  const { text, values } = createNodeQuery(seed);
  return usingClient(url, async (client) => (await client.query<Variables>(text, values)).rows);
}

async function measureWorkloads(
  filled: FilledDatabase,
  peerPool: PeerPool,
  flags: Flags,
): Promise<WorkloadResult[]> {
  await using acquired = new AsyncDisposableStack();
  const peers: Peer[] = [];
  for (const name of listInstalledPeers()) {
    if (flags.peers && !flags.peers.includes(name)) continue;
    peers.push(acquired.use(await peerPool.acquire(name)));
  }
  const nodes = await readNodes(filled, flags);
  const results: WorkloadResult[] = [];
  for (const workload of WORKLOADS) {
    if (flags.workloads && !flags.workloads.includes(workload)) continue;
    const measured = await measureWorkload(peers, workload, { nodes, flags });
    console.log(formatWorkloadTable(measured));
    results.push(...measured);
  }
  return results;
}
