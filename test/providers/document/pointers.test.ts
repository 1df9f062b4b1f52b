/** Tests that JSON Pointers, which a document and a vendor choose, reach own members only. */
import { expect, test } from 'vitest';
import { findValue, withValue } from '../../../src/providers/declarative/json.ts';

test.each([
  '/__proto__',
  '/constructor/prototype',
  '/toString',
  '/list/length',
])('finds no inherited value at %s', (pointer) => {
  const json = { list: [1] };
  expect(findValue(json, pointer) ?? null).toBe(pointer === '/list/length' ? 1 : null);
});

test.each([
  '/__proto__/polluted',
  '/constructor/prototype/polluted',
  '/toString/polluted',
])('sets only own members at %s', (pointer) => {
  const copy = withValue({}, pointer, true);
  expect(findValue(copy, pointer)).toBe(true);
  expect(Reflect.get({}, 'polluted')).toBeUndefined();
  expect(Reflect.get(Object.prototype.toString, 'polluted')).toBeUndefined();
  expect(Object.getPrototypeOf(copy)).toBe(Object.prototype);
});

test('creates lists and objects on the way', () => {
  expect(withValue({}, '/a/-', 1)).toEqual({ a: [1] });
  expect(withValue({ a: [1] }, '/a/-', 2)).toEqual({ a: [1, 2] });
  expect(withValue({}, '/a/0/b', 1)).toEqual({ a: [{ b: 1 }] });
  expect(withValue({}, '/a/120', 1)).toEqual({ a: { 120: 1 } });
  expect(withValue({}, '/a~1b/c~0d', 1)).toEqual({ 'a/b': { 'c~d': 1 } });
});

test.each([
  [{ a: 'text' }, '/a/b'],
  [{ a: [] }, '/a/4294967294'],
])('refuses to set a member of %j at %s', (json, pointer) => {
  expect(() => withValue(json, pointer, 1)).toThrow(`No value can be set at ${pointer}`);
});
