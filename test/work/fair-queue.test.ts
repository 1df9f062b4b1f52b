import { expect, test } from 'vitest';
import { FairQueue, type QueuedWork } from '../../src/work/fair-queue.ts';

interface NamedWork extends QueuedWork {
  name: string;
}

const createWork = (project: string, caller: string, weight = 1) => ({
  project,
  caller,
  weight,
  name: caller,
});

function shiftAll(queue: FairQueue<NamedWork>): string[] {
  const order: string[] = [];
  for (let request = queue.shift(); request; request = queue.shift()) order.push(request.name);
  return order;
}

test("prefers a caller's first request to another caller's second request", () => {
  const queue = new FairQueue<NamedWork>();
  for (let count = 0; count < 5; count += 1) queue.push(createWork('p', 'many'));
  queue.push(createWork('p', 'one'));
  expect(shiftAll(queue)).toEqual(['many', 'one', 'many', 'many', 'many', 'many']);
});

test('alternates between projects, independently of the number of their callers', () => {
  const queue = new FairQueue<NamedWork>();
  for (let count = 0; count < 6; count += 1) queue.push(createWork('crowded', `c${count}`));
  queue.push(createWork('quiet', 'q1'));
  queue.push(createWork('quiet', 'q2'));
  expect(shiftAll(queue)).toEqual(['c0', 'q1', 'c1', 'q2', 'c2', 'c3', 'c4', 'c5']);
});

test('counts work by its weight', () => {
  const queue = new FairQueue<NamedWork>();
  for (let count = 0; count < 2; count += 1) queue.push(createWork('heavy', 'heavy', 3));
  for (let count = 0; count < 6; count += 1) queue.push(createWork('light', 'light'));
  const order = shiftAll(queue);
  // Three light requests weigh as much as one heavy request.
  expect(order).toEqual(['heavy', 'light', 'light', 'light', 'heavy', 'light', 'light', 'light']);
});

test('counts work that began without waiting', () => {
  const queue = new FairQueue<NamedWork>();
  for (let count = 0; count < 10; count += 1) queue.countStarted(createWork('p', 'busy'));
  queue.push(createWork('p', 'busy'));
  queue.push(createWork('p', 'idle'));
  expect(shiftAll(queue)).toEqual(['idle', 'busy']);
});

test('does not accumulate the idle time of a caller', () => {
  const queue = new FairQueue<NamedWork>();
  for (let count = 0; count < 100; count += 1) {
    queue.push(createWork('a', 'a'));
    queue.shift();
  }
  for (let count = 0; count < 3; count += 1) queue.push(createWork('a', 'a'));
  for (let count = 0; count < 3; count += 1) queue.push(createWork('b', 'b'));
  expect(shiftAll(queue)).toEqual(['b', 'a', 'b', 'a', 'b', 'a']);
});

test('skips only the callers whose work may not begin yet', () => {
  const queue = new FairQueue<NamedWork>();
  queue.push(createWork('p', 'held'));
  queue.push(createWork('p', 'free'));
  queue.push(createWork('q', 'held'));
  expect(queue.shift(({ caller }) => caller !== 'held')?.name).toBe('free');
  expect(queue.shift(({ caller }) => caller !== 'held')).toBeUndefined();
  expect(queue.size).toBe(2);
  expect(shiftAll(queue)).toHaveLength(2);
});

test('removes queued work, and keeps other work of its project', () => {
  const queue = new FairQueue<NamedWork>();
  const [removed, kept] = [createWork('p', 'gone'), createWork('p', 'stays')];
  queue.push(removed);
  queue.push(kept);
  queue.remove(removed);
  queue.remove(removed);
  expect(queue.size).toBe(1);
  expect(shiftAll(queue)).toEqual(['stays']);
});

test('forgets idle projects and callers', () => {
  const queue = new FairQueue<NamedWork>();
  for (let count = 0; count < 50_000; count += 1)
    queue.countStarted(createWork(`p${count}`, `c${count}`));
  queue.push(createWork('p', 'busy'));
  expect(shiftAll(queue)).toEqual(['busy']);
  expect(queue.projectCount).toBeLessThanOrEqual(1_001);
});
