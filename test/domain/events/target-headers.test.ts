import { expect, test } from 'vitest';
import { toIssues } from '../../../src/domain/base/issues.ts';
import { targetHeaders } from '../../../src/domain/events/target-headers.ts';
import { formatPath } from '../../../src/kernel/text.ts';

function listInvalidNames(headers: Record<string, unknown>): string[] {
  const { error } = targetHeaders.safeParse(headers);
  return error ? toIssues(error, headers).map(({ path }) => formatPath(path)) : [];
}

const createHeaders = (count: number) =>
  Object.fromEntries(Array.from({ length: count }, (_, index) => [`X-${index}`, 'v']));

test('accepts at most 20 headers with ordinary names and values', () => {
  expect(listInvalidNames({})).toEqual([]);
  expect(
    listInvalidNames({ Authorization: 'Bearer abc', 'X-Tenant': 'é 1', 'x_y.z~': '' }),
  ).toEqual([]);
  expect(listInvalidNames({ 'X-Long': 'v'.repeat(4096) })).toEqual([]);
  expect(listInvalidNames(createHeaders(20))).toEqual([]);
});

test.each([
  'Host',
  'connection',
  'Keep-Alive',
  'Proxy-Authorization',
  'TE',
  'Trailer',
  'Transfer-Encoding',
  'Upgrade',
  'Content-Length',
  'content-type',
  'Webhook-Id',
  'webhook-signature',
  'with space',
  'näme',
  'a:b',
  'x'.repeat(129),
])('refuses a header named %s', (name) => {
  expect(listInvalidNames({ [name]: 'v' })).toEqual([name]);
});

test.each([
  ['a line break', 'a\r\nX-Injected: 1'],
  ['a newline', 'a\n'],
  ['another control character', 'a\u0007'],
  ['a character outside Latin-1', 'a€'],
  ['a number', 1],
  ['null', null],
  ['a list', ['a']],
  ['4097 bytes', 'v'.repeat(4097)],
])('refuses a value with %s', (_description, value) => {
  expect(listInvalidNames({ 'X-Value': value })).toEqual(['X-Value']);
});

test('reports every invalid header, and repeats no value', () => {
  const headers = { host: 'a', 'X-Good': 'b', 'X-Bad': 5, 'x-good': 'c' };
  const { error } = targetHeaders.safeParse(headers);
  const issues = error ? toIssues(error, { input: { headers } }) : [];
  expect(issues.map(({ path }) => formatPath(path))).toEqual(['host', 'X-Bad', 'x-good']);
  expect(issues.filter((issue) => 'value' in issue)).toEqual([]);
});

test('refuses more than 20 headers', () => {
  expect(listInvalidNames(createHeaders(21))).toEqual(['']);
});
