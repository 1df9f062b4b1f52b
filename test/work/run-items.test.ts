import { expect, test } from 'vitest';
import { runClaims, runUntilEmpty } from '../../src/work/run-items.ts';

function createQueue(count: number) {
  const remaining = Array.from({ length: count }, (_, index) => index);
  const done: number[] = [];
  let [running, concurrentMax] = [0, 0];
  const work = async (item: number) => {
    running += 1;
    concurrentMax = Math.max(concurrentMax, running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    done.push(item);
  };
  const next = async () => remaining.shift() ?? null;
  return { next, work, done, remaining, concurrentMax: () => concurrentMax };
}

test('runs each item once, and at most `concurrency` items concurrently', async () => {
  const { next, work, done, concurrentMax } = createQueue(20);
  await runUntilEmpty({ next, work, concurrency: 3, signal: new AbortController().signal });
  expect(done.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index));
  expect(concurrentMax()).toBe(3);
});

test('starts no item after the signal, and finishes started ones', async () => {
  const { next, work, done, remaining } = createQueue(20);
  const stopping = new AbortController();
  const stopAtFive = async (item: number) => {
    if (item === 5) stopping.abort();
    await work(item);
  };
  await runUntilEmpty({ next, work: stopAtFive, concurrency: 2, signal: stopping.signal });
  expect(done.length + remaining.length).toBe(20);
  expect(remaining.length).toBeGreaterThanOrEqual(13);
});

test('starts new items while earlier ones run, until none is left', async () => {
  const long = Promise.withResolvers<void>();
  const batches = [['long'], ['short'], []];
  const runningCounts: number[] = [];
  const done: string[] = [];
  await runClaims({
    claim: async (running) => {
      runningCounts.push(running);
      return batches.shift() ?? [];
    },
    work: async (item) => {
      if (item === 'long') await long.promise;
      else long.resolve();
      done.push(item);
    },
    pollMs: 1,
  });
  expect(done).toEqual(['short', 'long']);
  expect(runningCounts.slice(0, 2)).toEqual([0, 1]);
});

test('adds no promise handler to running work with each claim', async () => {
  let handlers = 0;
  class Watched extends Promise<void> {
    // biome-ignore lint/suspicious/noThenProperty: it counts the handlers.
    override then<A, B>(...args: Parameters<Promise<void>['then']>): Promise<A | B> {
      handlers += 1;
      return super.then(...args) as Promise<A | B>;
    }
  }
  const { promise, resolve } = Promise.withResolvers<void>();
  const handlerCounts: number[] = [];
  await runClaims({
    claim: async () => {
      handlerCounts.push(handlers);
      if (handlerCounts.length === 20) resolve();
      return handlerCounts.length === 1 ? ['long'] : [];
    },
    work: () => Watched.resolve(promise).then() as Promise<void>,
    pollMs: 1,
  });
  expect(handlerCounts.length).toBeGreaterThanOrEqual(20);
  expect(handlerCounts.at(19)).toBe(handlerCounts.at(1));
});

test('stops claiming after a failure', async () => {
  const claims = [[1], [2]];
  const work = async (item: number) => {
    throw new Error(`failed ${item}`);
  };
  const pendingWork = runClaims({ claim: async () => claims.shift() ?? [], work, pollMs: 1 });
  await expect(pendingWork).rejects.toThrow('failed 1');
  expect(claims).toEqual([[2]]);
});
