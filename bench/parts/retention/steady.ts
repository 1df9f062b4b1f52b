/** Requests of several kinds at a steady rate, regardless of pending responses. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { Server } from '../../processes/server.ts';

const SOCKETS = 64;

export interface Kind {
  name: string;
  perSecond: number;
  createBody(number: number): string;
}

export interface TimedResponse {
  kind: string;
  /** Latency from the scheduled time. */
  ms: number;
}

export interface Steady extends AsyncDisposable {
  /** Throws with the first response that is an error. */
  run(seconds: number): Promise<TimedResponse[]>;
}

export function createSteadyRequests(
  server: Server,
  headers: Record<string, string>,
  kinds: readonly Kind[],
): Steady {
  const dispatcher = new Agent({ connections: SOCKETS, pipelining: 1 });
  let requestCount = 0;
  const send = async (kind: Kind, dueMs: number): Promise<TimedResponse> => {
    requestCount += 1;
    const response = await request(`${server.url}/graphql`, {
      dispatcher,
      method: 'POST',
      body: kind.createBody(requestCount),
      headers: { 'content-type': 'application/json', ...headers },
    });
    const text = await response.body.text();
    if (text.includes('"errors"')) throw new Error(`${kind.name}: ${text}`);
    return { kind: kind.name, ms: performance.now() - dueMs };
  };
  return {
    async run(seconds) {
      const startMs = performance.now();
      const pending: Promise<TimedResponse>[] = [];
      const sendKind = async (kind: Kind, index: number) => {
        const gapMs = 1_000 / kind.perSecond;
        const firstMs = startMs + (index / kinds.length) * gapMs;
        for (let number = 0; number < kind.perSecond * seconds; number += 1) {
          const dueMs = firstMs + number * gapMs;
          await sleep(Math.max(0, dueMs - performance.now()));
          pending.push(send(kind, dueMs));
        }
      };
      await Promise.all(kinds.map(sendKind));
      return await Promise.all(pending);
    },
    [Symbol.asyncDispose]: () => dispatcher.close(),
  };
}
