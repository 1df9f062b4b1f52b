import { expect, test } from 'vitest';
import { createWaitingQueue } from '../../../src/domain/viewer/caller-lookup.ts';

const TURNS = { turnMs: 1, turnSize: 1 };

test('gives each name its next turn regardless of how many requests it has waiting', async () => {
  const queue = createWaitingQueue({ ...TURNS, waitingMax: 100 });
  const order: string[] = [];
  const waitForTurn = async (name: string) => {
    expect(await queue.waitForTurn(name)).toBe(true);
    order.push(name);
  };
  const loudWaits = Array.from({ length: 5 }, () => waitForTurn('loud'));
  await Promise.all([...loudWaits, waitForTurn('calm')]);
  expect(order).toEqual(['loud', 'calm', 'loud', 'loud', 'loud', 'loud']);
});

test('refuses the oldest request of the name with the most requests if too many wait', async () => {
  const queue = createWaitingQueue({ ...TURNS, waitingMax: 3 });
  const turns = ['calm', 'loud', 'loud', 'loud'].map((name) => queue.waitForTurn(name));
  expect(await Promise.all(turns)).toEqual([true, false, true, true]);
});
