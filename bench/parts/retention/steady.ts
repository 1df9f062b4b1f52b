/** Requests of several kinds at a steady rate, regardless of pending responses. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { Server } from '../../processes/server.ts';

const SOCKETS = 64;

export interface Kind {
  name: string;
  perSecond: number;
  bodyOf(number: number): string;
}

export interface Answered {
  kind: string;
  /** Latency from the scheduled time. */
  ms: number;
}

export interface Steady extends AsyncDisposable {
  /** Throws with the first response that is an error. */
  run(seconds: number): Promise<Answered[]>;
}

export function steadyRequests(
  server: Server,
  headers: Record<string, string>,
  kinds: readonly Kind[],
): Steady {
  const dispatcher = new Agent({ connections: SOCKETS, pipelining: 1 });
  let begun = 0;
  const ask = async (kind: Kind, dueMs: number): Promise<Answered> => {
    begun += 1;
    const answer = await request(`${server.url}/graphql`, {
      ...{ dispatcher, method: 'POST', body: kind.bodyOf(begun) },
      headers: { 'content-type': 'application/json', ...headers },
    });
    const text = await answer.body.text();
    if (text.includes('"errors"')) throw new Error(`${kind.name}: ${text}`);
    return { kind: kind.name, ms: performance.now() - dueMs };
  };
  return {
    async run(seconds) {
      const startMs = performance.now();
      const asked: Promise<Answered>[] = [];
      const askEachOf = async (kind: Kind, at: number) => {
        const gapMs = 1_000 / kind.perSecond;
        const firstMs = startMs + (at / kinds.length) * gapMs;
        for (let number = 0; number < kind.perSecond * seconds; number += 1) {
          const dueMs = firstMs + number * gapMs;
          await sleep(Math.max(0, dueMs - performance.now()));
          asked.push(ask(kind, dueMs));
        }
      };
      await Promise.all(kinds.map(askEachOf));
      return await Promise.all(asked);
    },
    [Symbol.asyncDispose]: () => dispatcher.close(),
  };
}
