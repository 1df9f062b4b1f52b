import { expect, test } from 'vitest';
import { runClaims, runUntilEmpty } from '../../src/work/run-items.ts';

function createQueue(count: number) {
  const remaining = Array.from({ length: count }, (_, index) => index);
  const doneItems: number[] = [];
  let [running, concurrentMax] = [0, 0];
  const work = async (item: number) => {
    running += 1;
    concurrentMax = Math.max(concurrentMax, running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    doneItems.push(item);
  };
  const takeNext = async () => remaining.shift() ?? null;
  return { takeNext, work, doneItems, remaining, getConcurrentMax: () => concurrentMax };
}

test('runs each item once, and at most `concurrency` items concurrently', async () => {
  const { takeNext, work, doneItems, getConcurrentMax } = createQueue(20);
  await runUntilEmpty({
    next: takeNext,
    work,
    concurrency: 3,
    signal: new AbortController().signal,
  });
  expect(doneItems.toSorted((a, b) => a - b)).toEqual(
    Array.from({ length: 20 }, (_, index) => index),
  );
  expect(getConcurrentMax()).toBe(3);
});

test('starts no item after the signal, and finishes started items', async () => {
  const { takeNext, work, doneItems, remaining } = createQueue(20);
  const controller = new AbortController();
  const workAndStopAtFive = async (item: number) => {
    if (item === 5) controller.abort();
    await work(item);
  };
  await runUntilEmpty({
    next: takeNext,
    work: workAndStopAtFive,
    concurrency: 2,
    signal: controller.signal,
  });
  expect(doneItems.length + remaining.length).toBe(20);
  expect(remaining.length).toBeGreaterThanOrEqual(13);
});

test('starts new items while earlier items run, until no item is left', async () => {
  const longWork = Promise.withResolvers<void>();
  const batches = [['long'], ['short'], []];
  const runningCounts: number[] = [];
  const doneItems: string[] = [];
  await runClaims({
    claim: async (runningCount) => {
      runningCounts.push(runningCount);
      return batches.shift() ?? [];
    },
    work: async (item) => {
      if (item === 'long') await longWork.promise;
      else longWork.resolve();
      doneItems.push(item);
    },
    pollMs: 1,
  });
  expect(doneItems).toEqual(['short', 'long']);
  expect(runningCounts.slice(0, 2)).toEqual([0, 1]);
});

test('adds no promise handler to running work with each claim', async () => {
  let handlerCount = 0;
  class WatchedPromise extends Promise<void> {
    // biome-ignore lint/suspicious/noThenProperty: counts the handlers
    override then<A, B>(...args: Parameters<Promise<void>['then']>): Promise<A | B> {
      handlerCount += 1;
      return super.then(...args) as Promise<A | B>;
    }
  }
  const { promise, resolve } = Promise.withResolvers<void>();
  const handlerCounts: number[] = [];
  await runClaims({
    claim: async () => {
      handlerCounts.push(handlerCount);
      if (handlerCounts.length === 20) resolve();
      return handlerCounts.length === 1 ? ['long'] : [];
    },
    work: () => WatchedPromise.resolve(promise).then() as Promise<void>,
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
