import { expect, test } from 'vitest';
import { workOff } from '../../src/work/work-off.ts';

function waiting(count: number) {
  const left = Array.from({ length: count }, (_, index) => index);
  const done: number[] = [];
  let [running, mostAtOnce] = [0, 0];
  const work = async (one: number) => {
    running += 1;
    mostAtOnce = Math.max(mostAtOnce, running);
    await new Promise((resolve) => setImmediate(resolve));
    running -= 1;
    done.push(one);
  };
  const next = async () => left.shift() ?? null;
  return { next, work, done, left, mostAtOnce: () => mostAtOnce };
}

test('everything that waits is done once, and no more at a time than may be', async () => {
  const { next, work, done, mostAtOnce } = waiting(20);
  await workOff({ next, work, atOnce: 3, signal: new AbortController().signal });
  expect(done.toSorted((a, b) => a - b)).toEqual(Array.from({ length: 20 }, (_, index) => index));
  expect(mostAtOnce()).toBe(3);
});

test('after the signal nothing is begun, and what was begun ends', async () => {
  const { next, work, done, left } = waiting(20);
  const stopping = new AbortController();
  const stopAtFive = async (one: number) => {
    if (one === 5) stopping.abort();
    await work(one);
  };
  await workOff({ next, work: stopAtFive, atOnce: 2, signal: stopping.signal });
  expect(done.length + left.length).toBe(20);
  expect(left.length).toBeGreaterThanOrEqual(13);
});
