import { expect, test } from 'vitest';
import { FairQueue, type Work } from '../../src/work/fair-queue.ts';

interface Named extends Work {
  name: string;
}

const of = (project: string, caller: string, weight = 1) => ({
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

test('a caller with one request comes before the second of a caller with many', () => {
  const queue = new FairQueue<Named>();
  for (let count = 0; count < 5; count += 1) queue.push(of('p', 'many'));
  queue.push(of('p', 'one'));
  expect(drain(queue)).toEqual(['many', 'one', 'many', 'many', 'many', 'many']);
});

test('projects take turns, however many callers one of them has', () => {
  const queue = new FairQueue<Named>();
  for (let count = 0; count < 6; count += 1) queue.push(of('crowded', `c${count}`));
  queue.push(of('quiet', 'q1'));
  queue.push(of('quiet', 'q2'));
  expect(drain(queue)).toEqual(['c0', 'q1', 'c1', 'q2', 'c2', 'c3', 'c4', 'c5']);
});

test('work counts by its weight', () => {
  const queue = new FairQueue<Named>();
  for (let count = 0; count < 2; count += 1) queue.push(of('heavy', 'heavy', 3));
  for (let count = 0; count < 6; count += 1) queue.push(of('light', 'light'));
  const order = drain(queue);
  // In the time of one heavy request, three light ones begin.
  expect(order).toEqual(['heavy', 'light', 'light', 'light', 'heavy', 'light', 'light', 'light']);
});

test('work that began without waiting counts too', () => {
  const queue = new FairQueue<Named>();
  for (let count = 0; count < 10; count += 1) queue.pass(of('p', 'busy'));
  queue.push(of('p', 'busy'));
  queue.push(of('p', 'idle'));
  expect(drain(queue)).toEqual(['idle', 'busy']);
});

test('idle time is not saved up: a caller that was idle has one turn after the other from then on', () => {
  const queue = new FairQueue<Named>();
  for (let count = 0; count < 100; count += 1) {
    queue.push(of('a', 'a'));
    queue.shift();
  }
  for (let count = 0; count < 3; count += 1) queue.push(of('a', 'a'));
  for (let count = 0; count < 3; count += 1) queue.push(of('b', 'b'));
  expect(drain(queue)).toEqual(['b', 'a', 'b', 'a', 'b', 'a']);
});

test('work that may not begin yet holds back only its caller', () => {
  const queue = new FairQueue<Named>();
  queue.push(of('p', 'held'));
  queue.push(of('p', 'free'));
  queue.push(of('q', 'held'));
  expect(queue.shift(({ caller }) => caller !== 'held')?.name).toBe('free');
  expect(queue.shift(({ caller }) => caller !== 'held')).toBeUndefined();
  expect(queue.size).toBe(2);
  expect(drain(queue)).toHaveLength(2);
});

test('removed work does not begin, and what its project has queued beside it does', () => {
  const queue = new FairQueue<Named>();
  const [gone, stays] = [of('p', 'gone'), of('p', 'stays')];
  queue.push(gone);
  queue.push(stays);
  queue.remove(gone);
  queue.remove(gone);
  expect(queue.size).toBe(1);
  expect(drain(queue)).toEqual(['stays']);
});

test('forgets idle projects and callers', () => {
  const queue = new FairQueue<Named>();
  for (let count = 0; count < 50_000; count += 1) queue.pass(of(`p${count}`, `c${count}`));
  queue.push(of('p', 'busy'));
  expect(drain(queue)).toEqual(['busy']);
  expect(queue.names).toBeLessThanOrEqual(1_001);
});
