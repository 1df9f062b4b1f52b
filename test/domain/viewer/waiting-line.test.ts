import { expect, test } from 'vitest';
import { createWaitingQueue } from '../../../src/domain/viewer/caller-lookup.ts';

const TURNS = { turnMs: 1, turnMax: 1 };

test('gives each name its turn, however many of its requests wait', async () => {
  const line = createWaitingQueue({ ...TURNS, waitingMax: 100 });
  const order: string[] = [];
  const wait = async (name: string) => {
    expect(await line.turn(name)).toBe(true);
    order.push(name);
  };
  const loudWaits = Array.from({ length: 5 }, () => wait('loud'));
  await Promise.all([...loudWaits, wait('calm')]);
  expect(order).toEqual(['loud', 'calm', 'loud', 'loud', 'loud', 'loud']);
});

test('refuses the oldest request of the name with the most requests if too many wait', async () => {
  const line = createWaitingQueue({ ...TURNS, waitingMax: 3 });
  const turns = ['calm', 'loud', 'loud', 'loud'].map((name) => line.turn(name));
  expect(await Promise.all(turns)).toEqual([true, false, true, true]);
});
