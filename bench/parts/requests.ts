/** The workloads, in interleaved rounds over all peers. */
import { ask, questionOf, wireRequest } from '../ask.ts';
import { drive, type Measured } from '../drive.ts';
import { PROJECT_NAME } from '../fill.ts';
import type { Flags } from '../flags.ts';
import { medianOf } from '../median.ts';
import type { Peer } from '../peers.ts';
import { DEEP_ROWS, DOCUMENT_OF, PAGE_SIZE, type Variables, type Workload } from '../workloads.ts';
import { refuseDifferences } from './equality.ts';

const project = PROJECT_NAME;
/** The largest page that every peer returns. */
const STRIDE = 1_000;

export interface Result {
  workload: Workload;
  peer: string;
  rounds: Measured[];
  median: Measured;
}

export interface Asked {
  flags: Flags;
  /** The variables of single nodes. */
  nodes: Variables[];
}

/** The variables of each workload for a peer, whose cursors are its own. */
async function variablesOf(peer: Peer, workload: Workload, { nodes, flags }: Asked) {
  switch (workload) {
    case 'W0':
      return [{}];
    case 'W1':
      return [{ project, first: PAGE_SIZE }];
    case 'W1-deep':
      return [{ project, first: PAGE_SIZE, after: await deepCursor(peer, flags.operations) }];
    case 'W3':
      return nodes;
    default:
      return [{ project }];
  }
}

/** Reaches the deep page as a client does, page by page. */
async function deepCursor(peer: Peer, operations: number): Promise<string> {
  const strides = Math.max(1, Math.floor(Math.min(DEEP_ROWS, operations / 2) / STRIDE));
  let after: string | null = null;
  for (let stride = 0; stride < strides; stride += 1) {
    const variables: Variables = { project, first: STRIDE, after };
    const data = await ask(peer, questionOf(peer, 'Operations', variables));
    after = data.project.operations.pageInfo.endCursor;
  }
  if (after === null) throw new Error(`${peer.name} gives no cursor.`);
  return after;
}

/** The requests of each peer, whose responses are equal. */
export async function loadsOf(
  peers: Peer[],
  workload: Workload,
  measuring: Asked,
): Promise<Map<Peer, Buffer[]>> {
  const asked = [];
  for (const peer of peers) {
    asked.push({ peer, variables: await variablesOf(peer, workload, measuring) });
  }
  await refuseDifferences(workload, asked);
  return new Map(
    asked.map(({ peer, variables }) => {
      const document = DOCUMENT_OF[workload];
      return [
        peer,
        variables.map((values) => wireRequest(peer, questionOf(peer, document, values))),
      ];
    }),
  );
}

export async function measureWorkload(
  peers: Peer[],
  workload: Workload,
  measuring: Asked,
): Promise<Result[]> {
  const loads = await loadsOf(peers, workload, measuring);
  const { flags } = measuring;
  const { seconds, sockets } = flags;
  const rounds = new Map<Peer, Measured[]>(peers.map((peer) => [peer, []]));
  for (let round = 0; round < flags.rounds; round += 1) {
    // Reversed and rotated, so that no peer always follows the same one.
    const order = peers.map((_, index) => peers[(index + round) % peers.length]!);
    if (round % 2 === 1) order.reverse();
    for (const peer of order) {
      const load = { server: peer.server, requests: loads.get(peer)!, sockets, seconds };
      rounds.get(peer)!.push(await drive(load));
    }
  }
  return peers.map((peer) => {
    const measured = rounds.get(peer)!;
    return { workload, peer: peer.name, rounds: measured, median: medianOf(measured) };
  });
}
