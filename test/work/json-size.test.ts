/** Tests the counts of values in JSON texts. */
import { expect, test } from 'vitest';
import { describeExcess, findJsonExcess } from '../../src/work/json-size.ts';

const MIB = 1024 * 1024;

/** Returns the numbers of containers and of values, as the limits that a text just keeps. */
function count(text: string) {
  let containers = 0;
  while (describeExcess(text, { containers, values: 1_000 })) containers += 1;
  let values = 0;
  while (describeExcess(text, { containers: 1_000, values })) values += 1;
  return { containers, values };
}

test.each([
  ['1', 0, 0],
  ['[]', 1, 0],
  [' [ ] ', 1, 0],
  ['[1, 2]', 1, 2],
  ['{"a": {}, "b": [[]]}', 4, 3],
  ['[",[{\\"]},", "\\\\", {"a\\\\\\"b": 1}]', 2, 4],
])('counts the containers and values of %s', (text, containers, values) => {
  expect(JSON.parse(text)).toBeDefined();
  expect(count(text)).toEqual({ containers, values });
});

test('ends at a string without an end', () => {
  expect(describeExcess('["a', { containers: 1, values: 1 })).toBeNull();
  expect(describeExcess('[', { containers: 1, values: 1 })).toBeNull();
});

test.each([
  ['lists', '[],', /lists and objects/],
  ['objects', '{} ,', /lists and objects/],
  ['numbers', '1,', /members and items/],
])('refuses a MiB of %s', (_, item, problem) => {
  expect(findJsonExcess(`[${item.repeat(MIB / item.length)}1]`)).toMatch(problem);
});

test('refuses deep nesting', () => {
  expect(findJsonExcess('['.repeat(MIB / 2) + ']'.repeat(MIB / 2))).toMatch(/lists and objects/);
});

test('refuses thousands of different names', () => {
  const names = Array.from({ length: 12_000 }, (_, index) => `"name${index}" : 1`);
  expect(findJsonExcess(`{${names.join(',')}}`)).toBe(
    'must have at most 10,000 different names of members.',
  );
});

test('accepts records, texts and any short text', () => {
  const record = Object.fromEntries(
    Array.from({ length: 200 }, (_, index) => [`Field_${index}__c`, index % 2 ? null : 'a, "b"']),
  );
  const records = Array.from({ length: 2_000 }, () => ({ ...record, attributes: { type: 'x' } }));
  expect(findJsonExcess(JSON.stringify({ records }))).toBeNull();
  expect(findJsonExcess(JSON.stringify({ text: '[{,"\\'.repeat(MIB) }))).toBeNull();
  expect(findJsonExcess('[],'.repeat(10_000))).toBeNull();
});
