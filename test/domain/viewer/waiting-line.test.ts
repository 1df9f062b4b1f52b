import { expect, test } from 'vitest';
import { createWaitingQueue } from '../../../src/domain/viewer/caller-lookup.ts';

const TURNS = { turnMs: 1, turnMax: 1 };

test('each name has a turn as often as any other, however many of it wait', async () => {
  const line = createWaitingQueue({ ...TURNS, waitingMax: 100 });
  const order: string[] = [];
  const wait = async (name: string) => {
    expect(await line.turn(name)).toBe(true);
    order.push(name);
  };
  const loud = Array.from({ length: 5 }, () => wait('loud'));
  await Promise.all([...loud, wait('calm')]);
  expect(order).toEqual(['loud', 'calm', 'loud', 'loud', 'loud', 'loud']);
});

test('if too many wait, the oldest of the name that has most of them goes without a turn', async () => {
  const line = createWaitingQueue({ ...TURNS, waitingMax: 3 });
  const turns = ['calm', 'loud', 'loud', 'loud'].map((name) => line.turn(name));
  expect(await Promise.all(turns)).toEqual([true, false, true, true]);
});
