import { expect, test } from 'vitest';
import { StreamItem } from '../../src/events/stream-item.ts';

test('computes a shared value once for each key', async () => {
  let count = 0;
  const compute = async () => {
    count += 1;
    return { count };
  };
  const [firstItem, otherItem] = [new StreamItem('a', undefined), new StreamItem('a', undefined)];
  const [firstResult, repeatedResult] = [
    firstItem.computeOnce('x', compute),
    firstItem.computeOnce('x', compute),
  ];
  expect(await repeatedResult).toBe(await firstResult);
  await firstItem.computeOnce('y', compute);
  await otherItem.computeOnce('x', compute);
  expect(count).toBe(3);
});
