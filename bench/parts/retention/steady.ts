/** Sends requests of several kinds at a steady rate, regardless of pending responses. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Agent, request } from 'undici';
import type { Server } from '../../processes/server.ts';

const SOCKETS = 64;

export interface RequestKind {
  name: string;
  perSecond: number;
  createBody(number: number): string;
}

export interface TimedResponse {
  kind: string;
  /** The latency from the scheduled time to the response. */
  ms: number;
}

export interface SteadyLoad extends AsyncDisposable {
  /** Throws with the first response that is an error. */
  run(seconds: number): Promise<TimedResponse[]>;
}

export function createSteadyRequests(
  server: Server,
  headers: Record<string, string>,
  kinds: readonly RequestKind[],
): SteadyLoad {
  const dispatcher = new Agent({ connections: SOCKETS, pipelining: 1 });
  let requestCount = 0;
  const send = async (kind: RequestKind, dueMs: number): Promise<TimedResponse> => {
    requestCount += 1;
    const response = await request(`${server.url}/graphql`, {
      dispatcher,
      method: 'POST',
      body: kind.createBody(requestCount),
      headers: { 'content-type': 'application/json', ...headers },
    });
    const text = await response.body.text();
    const ms = performance.now() - dueMs;
    const { errors } = JSON.parse(text) as { errors?: object[] };
    if (errors) throw new Error(`${kind.name}: ${text}`);
    return { kind: kind.name, ms };
  };
  return {
    async run(seconds) {
      const startMs = performance.now();
      const pending: Promise<TimedResponse>[] = [];
      const sendKind = async (kind: RequestKind, index: number) => {
        const gapMs = 1_000 / kind.perSecond;
        const firstMs = startMs + (index / kinds.length) * gapMs;
        for (let number = 0; number < kind.perSecond * seconds; number += 1) {
          const dueMs = firstMs + number * gapMs;
          await sleep(Math.max(0, dueMs - performance.now()));
          const response = send(kind, dueMs);
          // The response is awaited after the last request is sent. Until then, a rejection without a handler would end the
          // process.
          response.catch(() => {});
          pending.push(response);
        }
      };
      await Promise.all(kinds.map(sendKind));
      return await Promise.all(pending);
    },
    [Symbol.asyncDispose]: () => dispatcher.close(),
  };
}
