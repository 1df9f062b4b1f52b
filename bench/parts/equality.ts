/** Checks that all peers return the same responses, before the bench measures them. */
import { isDeepStrictEqual } from 'node:util';
import { createRequest, sendRequest } from '../graphql-request.ts';
import type { Peer } from '../peers.ts';
import { DOCUMENT_BY_WORKLOAD, type Variables, type Workload } from '../workloads.ts';

/** The number of requests of a workload whose responses are compared. */
const COMPARED_MAX = 20;

/** Throws an error with both responses if a response of a peer differs from that of the first peer. */
export async function requireEqualResponses(
  workload: Workload,
  requests: { peer: Peer; variables: Variables[] }[],
): Promise<void> {
  const [base, ...others] = requests;
  if (!base) return;
  const expected = await fetchResponses(base.peer, workload, base.variables);
  for (const { peer, variables } of others) {
    const responses = await fetchResponses(peer, workload, variables);
    for (const [index, response] of responses.entries()) {
      if (isDeepStrictEqual(response, expected[index])) continue;
      const texts = [expected[index], response].map((value) =>
        JSON.stringify(value).slice(0, 2_000),
      );
      throw new Error(
        `${workload}: responses differ.\n${base.peer.name}: ${texts[0]}\n${peer.name}: ${texts[1]}`,
      );
    }
  }
}

async function fetchResponses(peer: Peer, workload: Workload, variables: Variables[]) {
  const responses = [];
  for (const values of variables.slice(0, COMPARED_MAX)) {
    const request = createRequest(peer, DOCUMENT_BY_WORKLOAD[workload], values);
    responses.push(normalize(await sendRequest(peer, request)));
  }
  return responses;
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;
/** The id or the text of a new key, which are random. */
const RANDOM = /^(ik|key)_\w+$/;

/** The gateway's names of outcomes by the stored names, which the peers return. */
const OUTCOMES: Record<string, string> = { SUCCESS: 'SUCCEEDED', FAILURE: 'FAILED' };

/** Removes values that differ by peer: texts of cursors and times, names of outcomes, and random values. */
function normalize(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => normalize(item));
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([key, inner]) => [key, normalize(inner, key)]);
    const isNew = 'prefix' in value;
    return { ...Object.fromEntries(entries), ...(isNew && { createTime: 'now' }) };
  }
  if (typeof value !== 'string') return value;
  if (name === 'endCursor') return 'a cursor';
  if (name === 'status') return OUTCOMES[value] ?? value;
  if (RANDOM.test(value)) return value.slice(0, 3);
  return TIME.test(value) ? new Date(value).toISOString() : value;
}
