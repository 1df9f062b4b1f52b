/**
 * Repeats one request from many senders until stopped. It runs in a separate thread, so that it does not
 * delay the requests that are measured.
 */
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { isMainThread, parentPort, Worker, workerData } from 'node:worker_threads';
import { Agent, request } from 'undici';

export interface Attack {
  url: string;
  headers: Record<string, string>;
  body: string;
  /** Number of concurrent senders. */
  senders: number;
  /** Mean pause of a sender after a refusal. */
  refusedMs: number;
}

/** Number of responses by status. 0 counts failed requests. */
type Statuses = Record<number, number>;

export interface Running {
  stop(): Promise<Statuses>;
}

/** Resolves when the first response has arrived. */
export async function startAttack(attack: Attack): Promise<Running> {
  const thread = new Worker(new URL(import.meta.url), { workerData: attack, execArgv: [] });
  await once(thread, 'message');
  return {
    async stop() {
      const { promise, resolve } = Promise.withResolvers<Statuses>();
      thread.once('message', resolve).postMessage('stop');
      const statuses = await promise;
      await thread.terminate();
      return statuses;
    },
  };
}

function run({ url, headers, body, senders, refusedMs }: Attack): void {
  const dispatcher = new Agent({ connections: senders, pipelining: 1, headersTimeout: 0 });
  const statuses: Statuses = {};
  const send = async () => {
    const { statusCode, body: answer } = await request(url, {
      dispatcher,
      method: 'POST',
      headers: { 'content-type': 'application/json', ...headers },
      body,
    });
    await answer.dump({ limit: Number.MAX_SAFE_INTEGER });
    return statusCode;
  };
  const sender = async () => {
    for (;;) {
      const status = await send().catch(() => 0);
      if (Object.keys(statuses).length === 0) parentPort?.postMessage('begun');
      statuses[status] = (statuses[status] ?? 0) + 1;
      if (status !== 200) await delay(refusedMs * (0.5 + Math.random()));
    }
  };
  for (let index = 0; index < senders; index += 1) void sender();
  parentPort?.on('message', () => parentPort?.postMessage(statuses));
}

if (!isMainThread) run(workerData as Attack);
