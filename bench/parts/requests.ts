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
const WALK_MS_MAX = 60_000;

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

/** Reaches the deep page as a client does, page by page. Throws if a peer is too slow for that. */
async function findDeepCursor(peer: Peer, operations: number): Promise<string> {
  const strides = Math.max(1, Math.floor(Math.min(DEEP_ROWS, operations / 2) / STRIDE));
  let after: string | null = null;
  const endMs = performance.now() + WALK_MS_MAX;
  for (let stride = 0; stride < strides; stride += 1) {
    const variables: Variables = { project, first: STRIDE, after };
    if (performance.now() > endMs)
      throw new Error(`It has read ${stride * STRIDE} rows in ${WALK_MS_MAX} ms.`);
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
  onError: (peer: Peer, error: unknown) => void = (_, error) => {
    throw error;
  },
): Promise<Map<Peer, Buffer[]>> {
  const requests = [];
  for (const peer of peers) {
    try {
      requests.push({ peer, variables: await createVariables(peer, workload, input) });
    } catch (error) {
      onError(peer, error);
    }
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

/** Measures the peers. A peer that fails has no result: its error is printed, and the others are measured. */
export async function measureWorkload(
  peers: Peer[],
  workload: Workload,
  input: MeasureInput,
): Promise<WorkloadResult[]> {
  const { flags } = input;
  const { seconds, sockets } = flags;
  const reportError = ({ name, server }: Peer, error: unknown) => {
    process.exitCode = 1;
    console.error(`${name} has no result for ${workload}:`, server.describeEnd() ?? error);
  };
  const loads = await createLoads(peers, workload, input, reportError);
  const rounds = new Map<Peer, Measurement[]>([...loads.keys()].map((peer) => [peer, []]));
  for (let round = 0; round < flags.rounds; round += 1) {
    // The order is rotated and reversed, so that no peer always follows the same one.
    const order = peers.map((_, index) => peers[(index + round) % peers.length]!);
    if (round % 2 === 1) order.reverse();
    for (const peer of order.filter((candidate) => rounds.has(candidate))) {
      const load = { server: peer.server, requests: loads.get(peer)!, sockets, seconds };
      try {
        rounds.get(peer)!.push(await drive(load));
      } catch (error) {
        reportError(peer, error);
        rounds.delete(peer);
      }
    }
  }
  return [...rounds].map(([peer, measured]) => {
    return { workload, peer: peer.name, rounds: measured, median: computeMedians(measured) };
  });
}
