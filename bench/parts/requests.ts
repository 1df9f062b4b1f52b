/** Measures the workloads, in interleaved rounds over all peers. */
import { drive, type Measurement } from '../drive.ts';
import { PROJECT_NAME } from '../fill.ts';
import type { Flags } from '../flags.ts';
import { createRequest, encodeRequest, sendRequest } from '../graphql-request.ts';
import type { Peer } from '../peers.ts';
import { computeMedians } from '../statistics.ts';
import {
  DEEP_ROWS,
  DOCUMENT_BY_WORKLOAD,
  PAGE_SIZE,
  type Variables,
  type Workload,
} from '../workloads.ts';
import { requireEqualResponses } from './equality.ts';

const project = PROJECT_NAME;
/** The largest page that every peer returns. */
const STRIDE = 1_000;

export interface WorkloadResult {
  workload: Workload;
  peer: string;
  rounds: Measurement[];
  median: Measurement;
}

export interface MeasureInput {
  flags: Flags;
  /** The variables of single nodes. */
  nodes: Variables[];
}

/** Creates the variables of a workload. They differ by peer, because cursors do. */
async function createVariables(peer: Peer, workload: Workload, { nodes, flags }: MeasureInput) {
  switch (workload) {
    case 'W0':
      return [{}];
    case 'W1':
      return [{ project, first: PAGE_SIZE }];
    case 'W1-deep':
      return [{ project, first: PAGE_SIZE, after: await findDeepCursor(peer, flags.operations) }];
    case 'W3':
      return nodes;
    default:
      return [{ project }];
  }
}

/** Reaches the deep page as a client does, page by page. */
async function findDeepCursor(peer: Peer, operations: number): Promise<string> {
  const strides = Math.max(1, Math.floor(Math.min(DEEP_ROWS, operations / 2) / STRIDE));
  let after: string | null = null;
  for (let stride = 0; stride < strides; stride += 1) {
    const variables: Variables = { project, first: STRIDE, after };
    const data = await sendRequest(peer, createRequest(peer, 'Operations', variables));
    after = data.project.operations.pageInfo.endCursor;
  }
  if (after === null) throw new Error(`${peer.name} returns no cursor.`);
  return after;
}

/** Returns the requests of each peer. Throws if the peers' responses differ. */
export async function createLoads(
  peers: Peer[],
  workload: Workload,
  input: MeasureInput,
): Promise<Map<Peer, Buffer[]>> {
  const requests = [];
  for (const peer of peers) {
    requests.push({ peer, variables: await createVariables(peer, workload, input) });
  }
  await requireEqualResponses(workload, requests);
  return new Map(
    requests.map(({ peer, variables }) => {
      const document = DOCUMENT_BY_WORKLOAD[workload];
      return [
        peer,
        variables.map((values) => encodeRequest(peer, createRequest(peer, document, values))),
      ];
    }),
  );
}

export async function measureWorkload(
  peers: Peer[],
  workload: Workload,
  input: MeasureInput,
): Promise<WorkloadResult[]> {
  const loads = await createLoads(peers, workload, input);
  const { flags } = input;
  const { seconds, sockets } = flags;
  const rounds = new Map<Peer, Measurement[]>(peers.map((peer) => [peer, []]));
  for (let round = 0; round < flags.rounds; round += 1) {
    // The order is rotated and reversed, so that no peer always follows the same one.
    const order = peers.map((_, index) => peers[(index + round) % peers.length]!);
    if (round % 2 === 1) order.reverse();
    for (const peer of order) {
      const load = { server: peer.server, requests: loads.get(peer)!, sockets, seconds };
      rounds.get(peer)!.push(await drive(load));
    }
  }
  return peers.map((peer) => {
    const measured = rounds.get(peer)!;
    return { workload, peer: peer.name, rounds: measured, median: computeMedians(measured) };
  });
}
