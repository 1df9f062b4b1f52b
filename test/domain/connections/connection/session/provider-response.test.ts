import { expect, test } from 'vitest';
import { toProviderResponse } from '../../../../../src/domain/connections/connection/session/provider-request.ts';
import { createMask } from '../../../../../src/work/secret-mask.ts';

const parseBody = (text: string) =>
  toProviderResponse(
    { status: 200, headers: {}, body: Buffer.from(text), truncated: false },
    createMask([]),
  ).body;

test('keeps integers that JavaScript would round', () => {
  const text = '{"id":12345678901234567890,"ids":[-9007199254740993,7],"big":1e30,"pi":3.14}';
  expect(parseBody(text)).toEqual({
    id: '12345678901234567890',
    ids: ['-9007199254740993', 7],
    big: 1e30,
    pi: 3.14,
  });
  expect(parseBody('9007199254740991')).toBe(Number.MAX_SAFE_INTEGER);
  expect(parseBody('9007199254740993')).toBe('9007199254740993');
});

test('returns a body that is not JSON as a string, and an empty body as null', () => {
  expect(parseBody('<html>12345678901234567890')).toBe('<html>12345678901234567890');
  expect(parseBody('{"id":12345678901234567890,')).toBe('{"id":12345678901234567890,');
  expect(parseBody('')).toBeNull();
});
