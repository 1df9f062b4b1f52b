import { expect, test } from 'vitest';
import { StreamItem } from '../../src/events/stream-item.ts';

test('computes a shared value once for each key', async () => {
  let count = 0;
  const compute = async () => {
    count += 1;
    return { made: count };
  };
  const [item, other] = [new StreamItem('a', undefined), new StreamItem('a', undefined)];
  const [first, repeated] = [item.computeOnce('x', compute), item.computeOnce('x', compute)];
  expect(await repeated).toBe(await first);
  await item.computeOnce('y', compute);
  await other.computeOnce('x', compute);
  expect(count).toBe(3);
});
