/** Compares one process of the gateway with two on the same PostgreSQL, with the same total number of connections. */
import { drive } from '../drive.ts';
import { PROJECT_NAME } from '../fill.ts';
import type { Flags } from '../flags.ts';
import { createRequest, encodeRequest } from '../graphql-request.ts';
import type { Peer, PeerPool } from '../peers.ts';
import { computeMedians } from '../statistics.ts';
import { formatTable } from '../table.ts';
import { PAGE_SIZE } from '../workloads.ts';

export interface ScaleOutResult {
  processes: string;
  requestsPerSecond: number;
  cpuMsPerRequest: number;
}

export async function measureScaleOut(peerPool: PeerPool, flags: Flags): Promise<ScaleOutResult[]> {
  await using peerA = await peerPool.acquire('gateway');
  await using peerB = await peerPool.acquire('gateway');
  const rounds: ScaleOutResult[][] = [[], []];
  for (let round = 0; round < flags.rounds; round += 1) {
    rounds[0]!.push(await measurePeers([peerA], flags));
    rounds[1]!.push(await measurePeers([peerA, peerB], flags));
  }
  return rounds.map(computeMedians);
}

async function measurePeers(peers: Peer[], { sockets, seconds }: Flags): Promise<ScaleOutResult> {
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

export function formatScaleOutTable(results: ScaleOutResult[]): string {
  const rows = results.map(({ processes, requestsPerSecond, cpuMsPerRequest }) => [
    processes,
    Math.round(requestsPerSecond),
    (requestsPerSecond / results[0]!.requestsPerSecond).toFixed(2),
    cpuMsPerRequest.toFixed(3),
  ]);
  return `Processes on one PostgreSQL, pages of operations\n${formatTable(['', 'req/s', 'ratio', 'cpu ms'], rows)}\n`;
}
