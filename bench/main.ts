/** The gateway measured against its peers: see README.md. */
import { createFilledDatabase, type Filled, usingClient } from './database.ts';
import { useExistingServers } from './existing-servers.ts';
import { type Flags, readFlags } from './flags.ts';
import { formatCallersTable, measureCallers } from './parts/callers.ts';
import { deliveriesTable, measureDeliveries } from './parts/deliveries.ts';
import { measureEmbedded } from './parts/embedded.ts';
import { eventLogTable, measureEventLog } from './parts/event-log.ts';
import { fanOutTable, measureFanOut } from './parts/fan-out.ts';
import { growthTable, measureGrowth } from './parts/growth.ts';
import { inboundTable, measureInbound } from './parts/inbound/inbound.ts';
import { measureMoving, movingTable } from './parts/moving/moving.ts';
import { measureObserving, observingTable } from './parts/observing.ts';
import { measureWorkload, type Result } from './parts/requests.ts';
import { measureRetention, retentionTable } from './parts/retention/retention.ts';
import { measureScaleOut, scaleOutTable } from './parts/scale-out.ts';
import { measureStartUp, startUpTable } from './parts/start-up.ts';
import { listInstalledPeers, type Peer, startPeer } from './peers.ts';
import { type Postgres, startPostgres } from './postgres.ts';
import { writePicture, writeResults } from './results.ts';
import { spreadTable } from './spread.ts';
import { formatWorkloadTable } from './table.ts';
import { nodeVariables, type Variables, WORKLOADS } from './workloads.ts';

/** A run with fewer operations has fewer connections. */
const CONNECTIONS_MAX = 10_000;

const flags = readFlags(process.argv.slice(2));
await using server = flags.servers
  ? useExistingServers(flags.servers)
  : await startPostgres(flags.data);
if (flags.growth) {
  const results = await measureGrowth(server, flags);
  console.log(growthTable(results));
  writeResults('growth', results, flags.results);
  // Imported here because its packages are installed only with those of the peers.
  const { growthPicture } = await import('./parts/growth-picture.ts');
  writePicture('growth', await growthPicture(results), flags.results);
} else {
  await measureParts(server, flags);
}

async function measureParts(server: Postgres, flags: Flags): Promise<void> {
  const { operations, parts } = flags;
  const connections = Math.min(CONNECTIONS_MAX, operations);
  const sizes = { operations, connections, events: Math.ceil(operations / 10) };
  const filled = await createFilledDatabase(server, sizes, flags.seed);
  if (parts.includes('requests')) await measureRequests(filled, flags);
  if (parts.includes('fan-out')) {
    report('fan-out', await measureFanOut(filled, flags), fanOutTable);
  }
  if (parts.includes('deliveries')) {
    report('deliveries', await measureDeliveries(server, flags), deliveriesTable);
  }
  if (parts.includes('moving')) report('moving', await measureMoving(server, flags), movingTable);
  if (parts.includes('event-log')) {
    report('event-log', await measureEventLog(server, flags), eventLogTable);
  }
  if (parts.includes('inbound'))
    report('inbound', await measureInbound(server, flags), inboundTable);
  if (parts.includes('scale-out')) {
    report('scale-out', await measureScaleOut(filled, flags), scaleOutTable);
  }
  if (parts.includes('start-up')) {
    report('start-up', await measureStartUp(filled, flags), startUpTable);
  }
  if (parts.includes('observing')) {
    const measured = await measureObserving(filled, await readNodes(filled, flags), flags);
    report('observing', measured, observingTable);
  }
  if (parts.includes('callers')) {
    report('callers', await measureCallers(filled, flags), formatCallersTable);
  }
  if (parts.includes('retention')) {
    report('retention', await measureRetention(server, flags), retentionTable);
  }
  if (parts.includes('embedded')) {
    report('embedded', await measureEmbedded(flags), (results) =>
      ['On the embedded database', ...results.map(formatWorkloadTable)].join('\n'),
    );
  }
}

function report<T>(name: string, results: T, formatTable: (results: T) => string): void {
  console.log(formatTable(results));
  writeResults(name, results, flags.results);
}

/** Every run has new processes, so that differences between starts show as spread. */
async function measureRequests(filled: Filled, flags: Flags): Promise<void> {
  const runs: Result[][] = [];
  for (let run = 1; run <= flags.runs; run += 1) {
    if (flags.runs > 1) console.log(`Run ${run} of ${flags.runs}\n`);
    runs.push(await measureWorkloads(filled, flags));
    writeResults('requests', flags.runs > 1 ? runs : runs[0], flags.results);
  }
  if (flags.runs > 1) console.log(spreadTable(runs));
}

function readNodes({ url }: Filled, { seed }: Flags): Promise<Variables[]> {
  const { text, values } = nodeVariables(seed);
  return usingClient(url, async (client) => (await client.query<Variables>(text, values)).rows);
}

async function measureWorkloads(filled: Filled, flags: Flags): Promise<Result[]> {
  await using started = new AsyncDisposableStack();
  const peers: Peer[] = [];
  for (const name of listInstalledPeers()) {
    if (flags.peers && !flags.peers.includes(name)) continue;
    peers.push(started.use(await startPeer(name, filled)));
  }
  const nodes = await readNodes(filled, flags);
  const results: Result[] = [];
  for (const workload of WORKLOADS) {
    if (flags.workloads && !flags.workloads.includes(workload)) continue;
    const measured = await measureWorkload(peers, workload, { nodes, flags });
    console.log(formatWorkloadTable(measured));
    results.push(...measured);
  }
  return results;
}
