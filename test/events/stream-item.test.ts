import { expect, test } from 'vitest';
import { StreamItem } from '../../src/events/stream-item.ts';

test('what is made of an item is made once for each key', async () => {
  let made = 0;
  const make = async () => {
    made += 1;
    return { made };
  };
  const [item, other] = [new StreamItem('a', undefined), new StreamItem('a', undefined)];
  const [first, again] = [item.shared('x', make), item.shared('x', make)];
  expect(await again).toBe(await first);
  await item.shared('y', make);
  await other.shared('x', make);
  expect(made).toBe(3);
});
