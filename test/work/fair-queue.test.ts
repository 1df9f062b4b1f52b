import { expect, test } from 'vitest';
import { FairQueue, type QueuedWork } from '../../src/work/fair-queue.ts';

interface Named extends QueuedWork {
  name: string;
}

const work = (project: string, caller: string, weight = 1) => ({
  project,
  caller,
  weight,
  name: caller,
});

function drain(queue: FairQueue<Named>): string[] {
  const order: string[] = [];
  for (let next = queue.shift(); next; next = queue.shift()) order.push(next.name);
  return order;
}

test('prefers a caller with one request to the second request of another', () => {
  const queue = new FairQueue<Named>();
  for (let count = 0; count < 5; count += 1) queue.push(work('p', 'many'));
  queue.push(work('p', 'one'));
  expect(drain(queue)).toEqual(['many', 'one', 'many', 'many', 'many', 'many']);
});

test('alternates between projects, however many callers a project has', () => {
  const queue = new FairQueue<Named>();
  for (let count = 0; count < 6; count += 1) queue.push(work('crowded', `c${count}`));
  queue.push(work('quiet', 'q1'));
  queue.push(work('quiet', 'q2'));
  expect(drain(queue)).toEqual(['c0', 'q1', 'c1', 'q2', 'c2', 'c3', 'c4', 'c5']);
});

test('counts work by its weight', () => {
  const queue = new FairQueue<Named>();
  for (let count = 0; count < 2; count += 1) queue.push(work('heavy', 'heavy', 3));
  for (let count = 0; count < 6; count += 1) queue.push(work('light', 'light'));
  const order = drain(queue);
  // Three light requests weigh as much as one heavy request.
  expect(order).toEqual(['heavy', 'light', 'light', 'light', 'heavy', 'light', 'light', 'light']);
});

test('counts work that began without waiting', () => {
  const queue = new FairQueue<Named>();
  for (let count = 0; count < 10; count += 1) queue.countStarted(work('p', 'busy'));
  queue.push(work('p', 'busy'));
  queue.push(work('p', 'idle'));
  expect(drain(queue)).toEqual(['idle', 'busy']);
});

test('does not accumulate the idle time of a caller', () => {
  const queue = new FairQueue<Named>();
  for (let count = 0; count < 100; count += 1) {
    queue.push(work('a', 'a'));
    queue.shift();
  }
  for (let count = 0; count < 3; count += 1) queue.push(work('a', 'a'));
  for (let count = 0; count < 3; count += 1) queue.push(work('b', 'b'));
  expect(drain(queue)).toEqual(['b', 'a', 'b', 'a', 'b', 'a']);
});

test('holds back only the caller whose work may not begin yet', () => {
  const queue = new FairQueue<Named>();
  queue.push(work('p', 'held'));
  queue.push(work('p', 'free'));
  queue.push(work('q', 'held'));
  expect(queue.shift(({ caller }) => caller !== 'held')?.name).toBe('free');
  expect(queue.shift(({ caller }) => caller !== 'held')).toBeUndefined();
  expect(queue.size).toBe(2);
  expect(drain(queue)).toHaveLength(2);
});

test('removes queued work, and keeps other work of its project', () => {
  const queue = new FairQueue<Named>();
  const [removed, kept] = [work('p', 'gone'), work('p', 'stays')];
  queue.push(removed);
  queue.push(kept);
  queue.remove(removed);
  queue.remove(removed);
  expect(queue.size).toBe(1);
  expect(drain(queue)).toEqual(['stays']);
});

test('forgets idle projects and callers', () => {
  const queue = new FairQueue<Named>();
  for (let count = 0; count < 50_000; count += 1)
    queue.countStarted(work(`p${count}`, `c${count}`));
  queue.push(work('p', 'busy'));
  expect(drain(queue)).toEqual(['busy']);
  expect(queue.projectCount).toBeLessThanOrEqual(1_001);
});
