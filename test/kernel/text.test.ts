import { expect, test } from 'vitest';
import { invalidInput } from '../../src/kernel/errors.ts';
import {
  DEFAULT_SPELLING,
  enumValue,
  joinTexts,
  member,
  printText,
  type Spelling,
  text,
} from '../../src/kernel/text.ts';

const RENAMED: Spelling = {
  locate: ([first, ...inside]) => ({
    in: 'query',
    name: [first === 'sinceTime' ? 'since' : first, ...inside].join('/'),
  }),
  toWord: (name) => name.toLowerCase(),
};

test('prints members and values of enums as the surface spells them, and nothing else', () => {
  const detail = text`must be after ${member('sinceTime')}, not "sinceTime" or "EQ", or ${enumValue('EQ')} ${7}.`;
  expect(printText(detail)).toBe('must be after sinceTime, not "sinceTime" or "EQ", or EQ 7.');
  expect(printText(detail, RENAMED)).toBe('must be after since, not "sinceTime" or "EQ", or eq 7.');
});

test('joins texts, and keeps a text without members a string', () => {
  const names = ['READ', 'WRITE'].map((name) => enumValue(name));
  expect(printText(joinTexts(names, ' or '), RENAMED)).toBe('read or write');
  expect(text`at most ${5} ${'items'}.`).toBe('at most 5 items.');
});

test('prints the same problem for each surface, with its members at other paths after a move', () => {
  const error = invalidInput([
    { path: ['untilTime', 0], detail: text`must be after ${member('sinceTime')}.`, value: 'x' },
    { path: [], detail: 'is required.', line: 2, column: 3 },
  ]);
  expect(error.message).toBe(
    'Invalid input. `untilTime[0]` must be after sinceTime. `input` (line 2, column 3) is required.',
  );
  expect(error.spell(RENAMED).problem.issues).toMatchObject([
    { in: 'query', name: 'untilTime/0', detail: 'must be after since.', value: 'x' },
    { detail: 'line 2, column 3: is required.' },
  ]);
  const moved = error.move((path) => ['range', ...path]);
  expect(moved.message).toContain('`range.untilTime[0]` must be after range.sinceTime.');
  expect(moved.spell(DEFAULT_SPELLING).shownIssues).toMatchObject([
    { name: 'range.untilTime[0]' },
    { name: 'range' },
  ]);
});

test('locates an issue once, even if a surface spells an error that it has created', () => {
  const error = invalidInput([{ in: 'header', path: ['sinceTime'], detail: 'is required.' }]);
  expect(error.spell(RENAMED).problem).toMatchObject({
    detail: 'Invalid input. `sinceTime` is required.',
    issues: [{ in: 'header', name: 'sinceTime' }],
  });
});
