/** Work that a process starts itself is limited in total and for each group, and runs in order. */
import { expect, test } from 'vitest';
import { LocalWork } from '../../src/jobs/local-work.ts';

/** Creates work that runs until `end` is called. */
function createManualWork(work: LocalWork) {
  const running = new Map<string, () => void>();
  return {
    running,
    take: (name: string, group = 'a') =>
      work.take({
        group,
        run: () => {
          const { promise, resolve } = Promise.withResolvers<void>();
          running.set(name, resolve);
          return promise.then(() => void running.delete(name));
        },
      }),
    async end(name: string) {
      running.get(name)?.();
      await new Promise(setImmediate);
    },
  };
}

const options = { runningMax: 2, runningOfGroupMax: 2, waitingMax: 2 };

test('queues work beyond the running maximum, and refuses it when the queue is full', async () => {
  const { take, end, running } = createManualWork(new LocalWork(options));
  expect(['one', 'two', 'three', 'four'].map((name) => take(name))).toEqual(Array(4).fill(true));
  expect(take('five')).toBe(false);
  expect([...running.keys()]).toEqual(['one', 'two']);
  await end('one');
  expect([...running.keys()]).toEqual(['two', 'three']);
  expect(take('six')).toBe(true);
  await end('two');
  await end('three');
  expect([...running.keys()]).toEqual(['four', 'six']);
});

test('leaves capacity to other groups', async () => {
  const { take, end, running } = createManualWork(
    new LocalWork({ ...options, runningOfGroupMax: 1 }),
  );
  for (const name of ['one', 'two']) take(name);
  take('other', 'b');
  expect([...running.keys()]).toEqual(['one', 'other']);
  await end('other');
  expect([...running.keys()]).toEqual(['one']);
  await end('one');
  expect([...running.keys()]).toEqual(['two']);
});

test('waits for running work on stop, and neither starts nor accepts further work', async () => {
  const work = new LocalWork(options);
  const { take, end, running } = createManualWork(work);
  for (const name of ['one', 'two', 'three']) take(name);
  const stopped = work.stop();
  expect(take('four')).toBe(false);
  await end('one');
  await end('two');
  await stopped;
  expect(running.size).toBe(0);
});
