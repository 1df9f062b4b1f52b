import { expect, test } from 'vitest';
import {
  findInput,
  printDetail,
  printIssue,
  printPredicate,
} from '../../../console/src/network/problem.ts';

const issue = {
  name: 'input.untilTime',
  detail: 'must be after input.sinceTime.',
  parts: ['must be after ', { member: 'input.sinceTime' }, '.'],
};

test('prints the labels of the inputs that a detail names', () => {
  const labels = new Map([['sinceTime', 'Changed since']]);
  expect(printDetail(issue, labels)).toBe('must be after “Changed since”.');
});

test('prints the position of a value in a text before what is wrong', () => {
  const located = { ...issue, detail: `line 2, column 5: ${issue.detail}`, line: 2, column: 5 };
  expect(printDetail(located, new Map())).toBe('line 2, column 5: must be after sinceTime.');
  expect(printPredicate(located, new Map())).toBe('must be after sinceTime.');
});

test('prints the name of a member that has no input', () => {
  expect(printDetail(issue, new Map())).toBe('must be after sinceTime.');
  expect(printDetail({ name: 'input.name', detail: 'is required.' }, new Map())).toBe(
    'is required.',
  );
});

test.each([
  ['input.name', 'name'],
  ['input.allowedOrigins[1]', 'allowedOrigins'],
  ['input.rules[0].objects[2]', 'rules[0].objects'],
  ['input.rules[1].objects', undefined],
  ['input', undefined],
])('shows the issue of %s at %s', (name, input) => {
  const names = ['name', 'allowedOrigins', 'rules[0].objects'];
  expect(findInput({ name, detail: 'is wrong.' }, names)).toBe(input);
});

test('begins the issue of an item with the item', () => {
  const item = { name: 'input.allowedOrigins[1]', detail: 'must be an origin.', value: 'x' };
  expect(printIssue(item, 'allowedOrigins', new Map())).toBe('“x” must be an origin.');
  const member = { name: 'input.document.topics[1].name', detail: 'line 4: must be a string.' };
  expect(printIssue(member, 'document', new Map())).toBe(
    'line 4: topics[1].name must be a string.',
  );
  const list = { ...item, name: 'input.allowedOrigins' };
  expect(printIssue(list, 'allowedOrigins', new Map())).toBe('must be an origin.');
});
