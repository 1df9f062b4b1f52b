import { expect, test } from 'vitest';
import { toProviderResponse } from '../../../../../src/domain/connections/connection/session/provider-request.ts';
import { createMask } from '../../../../../src/work/secret-mask.ts';

async function parseBody(text: string) {
  const response = { status: 200, headers: {}, body: Buffer.from(text), truncated: false };
  return (await toProviderResponse(response, createMask([]))).body;
}

test('keeps integers that JavaScript would round', async () => {
  const text = '{"id":12345678901234567890,"ids":[-9007199254740993,7],"big":1e30,"pi":3.14}';
  expect(await parseBody(text)).toEqual({
    id: '12345678901234567890',
    ids: ['-9007199254740993', 7],
    big: 1e30,
    pi: 3.14,
  });
  expect(await parseBody('9007199254740991')).toBe(Number.MAX_SAFE_INTEGER);
  expect(await parseBody('9007199254740993')).toBe('9007199254740993');
});

test.each([
  ['12345678901234567e5', Number('12345678901234567e5')],
  ['1234567890123456.5', 1234567890123456.5],
  ['"call -12345678901234567890"', 'call -12345678901234567890'],
  ['"\\"12345678901234567890"', '"12345678901234567890'],
])('keeps other texts with many digits: %s', async (text, value) => {
  expect(await parseBody(`[12345678901234567890,${text}]`)).toEqual([
    '12345678901234567890',
    value,
  ]);
});

test('parses a long response with millions of values and a long integer', async () => {
  const text = `[${'1,'.repeat(3_500_000)}12345678901234567890,"${'x'.repeat(9_000_000)}"]`;
  const items = (await parseBody(text)) as unknown[];
  expect(items).toHaveLength(3_500_002);
  expect(items.at(-2)).toBe('12345678901234567890');
});

test('returns a body that is not JSON as a string, and an empty body as null', async () => {
  expect(await parseBody('<html>12345678901234567890')).toBe('<html>12345678901234567890');
  expect(await parseBody('{"id":12345678901234567890,')).toBe('{"id":12345678901234567890,');
  expect(await parseBody('')).toBeNull();
});
