import fc from 'fast-check';
import { expect, test } from 'vitest';
import { Pacer } from '../../src/work/pace.ts';
import { serializeInParts } from '../../src/work/serialize-in-parts.ts';

async function serialize(value: unknown): Promise<string> {
  const jsonParts = await serializeInParts(value, new Pacer(1_000).createPace());
  return Buffer.concat(jsonParts).toString();
}

test('returns the JSON that JSON.stringify returns', async () => {
  await fc.assert(
    fc.asyncProperty(fc.jsonValue({ maxDepth: 6 }), async (value) => {
      expect(await serialize(value)).toBe(JSON.stringify(value));
    }),
  );
});

test('omits members that are undefined', async () => {
  const value = { data: { names: ['Zoë'], name: undefined }, errors: undefined };
  expect(await serialize(value)).toBe('{"data":{"names":["Zoë"]}}');
});

test.each([
  ['one list', { edges: Array.from({ length: 5_000 }, (_, index) => ({ node: { index } })) }],
  [
    'lists in a list',
    { edges: Array.from({ length: 5 }, () => ({ items: Array(1_000).fill({ name: 'name' }) })) },
  ],
])('spreads %s over several turns of the event loop', async (_, value) => {
  const jsonParts = await serializeInParts(value, new Pacer(1).createPace());
  expect(jsonParts.length).toBeGreaterThan(3);
  expect(Buffer.concat(jsonParts).toString()).toBe(JSON.stringify(value));
  for (const jsonPart of jsonParts) expect(jsonPart.length).toBeLessThan(32_768);
});
