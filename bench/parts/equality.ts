/** Timing starts only when all peers have given the same responses. */
import { isDeepStrictEqual } from 'node:util';
import { ask, questionOf } from '../ask.ts';
import type { Peer } from '../peers.ts';
import { DOCUMENT_OF, type Variables, type Workload } from '../workloads.ts';

/** The number of a workload's variables that are compared. */
const COMPARED = 20;

/** Throws with both responses if a peer's differ from the first peer's. */
export async function refuseDifferences(
  workload: Workload,
  asked: { peer: Peer; variables: Variables[] }[],
): Promise<void> {
  const [first, ...others] = asked;
  if (!first) return;
  const expected = await answersOf(first.peer, workload, first.variables);
  for (const { peer, variables } of others) {
    const answers = await answersOf(peer, workload, variables);
    for (const [index, answer] of answers.entries()) {
      if (isDeepStrictEqual(answer, expected[index])) continue;
      const texts = [expected[index], answer].map((value) => JSON.stringify(value).slice(0, 2_000));
      throw new Error(
        `${workload}: answers differ.\n${first.peer.name}: ${texts[0]}\n${peer.name}: ${texts[1]}`,
      );
    }
  }
}

async function answersOf(peer: Peer, workload: Workload, variables: Variables[]) {
  const answers = [];
  for (const one of variables.slice(0, COMPARED)) {
    answers.push(normal(await ask(peer, questionOf(peer, DOCUMENT_OF[workload], one))));
  }
  return answers;
}

const TIME = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d/;
/** A new key's own values, which differ each time. */
const RANDOM = /^(ik|key)_\w+$/;

/** The gateway's names of outcomes by the stored ones, which peers show. */
const OUTCOMES: Record<string, string> = { SUCCESS: 'SUCCEEDED', FAILURE: 'FAILED' };

/** Removes values that differ by peer: texts of cursors and times, names of outcomes, and random values. */
function normal(value: unknown, name = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => normal(item));
  if (typeof value === 'object' && value !== null) {
    const entries = Object.entries(value).map(([key, inner]) => [key, normal(inner, key)]);
    const isNew = 'prefix' in value;
    return { ...Object.fromEntries(entries), ...(isNew && { createTime: 'now' }) };
  }
  if (typeof value !== 'string') return value;
  if (name === 'endCursor') return 'a cursor';
  if (name === 'status') return OUTCOMES[value] ?? value;
  if (RANDOM.test(value)) return value.slice(0, 3);
  return TIME.test(value) ? new Date(value).toISOString() : value;
}
