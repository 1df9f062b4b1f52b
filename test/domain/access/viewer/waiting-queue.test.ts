import { expect, test } from 'vitest';
import { WaitingQueue } from '../../../../src/domain/access/viewer/caller-lookup.ts';

const TURNS = { turnMs: 1, turnSize: 1 };

test('gives each name its next turn regardless of how many requests it has waiting', async () => {
  const queue = new WaitingQueue({ ...TURNS, waitingMax: 100 });
  const order: string[] = [];
  const waitForTurn = async (name: string) => {
    expect(await queue.waitForTurn(name)).toBe(true);
    order.push(name);
  };
  const loudRequests = Array.from({ length: 5 }, () => waitForTurn('loud'));
  await Promise.all([...loudRequests, waitForTurn('calm')]);
  expect(order).toEqual(['loud', 'calm', 'loud', 'loud', 'loud', 'loud']);
});

test('removes the oldest entry of the name with the most entries if too many wait', async () => {
  const queue = new WaitingQueue({ ...TURNS, waitingMax: 3 });
  const turns = ['calm', 'loud', 'loud', 'loud'].map((name) => queue.waitForTurn(name));
  expect(await Promise.all(turns)).toEqual([true, false, true, true]);
});
