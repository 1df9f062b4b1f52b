import { expect, test } from 'vitest';
import { collectMessages } from '../../../src/providers/declarative/failure.ts';

test('collects messages with the names of their fields', () => {
  const body = { error: { message: 'Invalid' }, email: ['is taken', ' '], details: [{ code: 7 }] };
  expect(collectMessages(body)).toEqual(['Invalid', 'email: is taken']);
});

test('collects the messages of the first 64 levels', () => {
  const levels = 100_000;
  const deep: unknown = JSON.parse(`${'['.repeat(levels)}"deep"${']'.repeat(levels)}`);
  expect(collectMessages([deep, 'Invalid'])).toEqual(['Invalid']);
});

test('collects the first 100 messages, without names that are longer than those of fields', () => {
  const texts = Array.from({ length: 100 }, (_, index) => `${index}`);
  const body = { ['x'.repeat(1_000_000)]: texts, more: texts };
  expect(collectMessages(body)).toEqual(texts);
});
