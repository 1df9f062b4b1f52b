import { expect, test } from 'vitest';
import { ResultStreamItem } from '../../src/events/result-stream-item.ts';

test('computes a shared value once for each key', async () => {
  let count = 0;
  const compute = async () => {
    count += 1;
    return { count };
  };
  const [firstItem, otherItem] = [
    new ResultStreamItem('a', undefined),
    new ResultStreamItem('a', undefined),
  ];
  const [firstResult, repeatedResult] = [
    firstItem.computeOnce('x', compute),
    firstItem.computeOnce('x', compute),
  ];
  expect(await repeatedResult).toBe(await firstResult);
  await firstItem.computeOnce('y', compute);
  await otherItem.computeOnce('x', compute);
  expect(count).toBe(3);
});
