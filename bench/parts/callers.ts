/** Measures the cost of identifying the caller, by equal requests of an end user and of an API key. */
import { type Comparison, compareInSlices } from '../drive-in-slices.ts';
import { PROJECT_NAME } from '../fill.ts';
import type { Flags } from '../flags.ts';
import { sendRequest } from '../graphql-request.ts';
import type { Peer, PeerPool } from '../peers.ts';
import { formatTable } from '../table.ts';
import { createLoads } from './requests.ts';

const CREATE_SESSION_TOKEN = `mutation CreateSessionToken($input: CreateSessionTokenInput!) {
  createSessionToken(input: $input) { token }
}`;

/** Measures the shortest request, so that identification is the largest part of its time. */
export async function measureCallers(peerPool: PeerPool, flags: Flags): Promise<Comparison[]> {
  await using key = await peerPool.acquire('gateway');
  const endUser: Peer = { ...key, headers: { authorization: `Bearer ${await createToken(key)}` } };
  // The API key is measured twice: the difference between two equal keys is the noise.
  const callers = { 'API key': key, 'API key, again': { ...key }, 'end user': endUser };
  const loads = await createLoads(Object.values(callers), 'W0', { flags, nodes: [] });
  const namedLoads = Object.entries(callers).map(([name, peer]) => {
    return { name, server: peer.server, requests: loads.get(peer)! };
  });
  return await compareInSlices(namedLoads, flags);
}

async function createToken(peer: Peer): Promise<string> {
  const input = { projectIdOrName: PROJECT_NAME, groupRef: 'group-0', consumerRef: 'consumer-0' };
  const request = {
    operationName: 'CreateSessionToken',
    query: CREATE_SESSION_TOKEN,
    variables: { input },
  };
  return (await sendRequest(peer, request)).createSessionToken.token;
}

export function formatCallersTable(results: Comparison[]): string {
  const rows = results.map(({ name, cpuMsPerRequest, ratio }) => [
    name,
    cpuMsPerRequest.toFixed(4),
    ratio.toFixed(3),
  ]);
  return `Callers, W0\n${formatTable(['', 'cpu ms', 'ratio'], rows)}\n`;
}
