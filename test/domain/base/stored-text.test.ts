import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  printColumn,
  readTextColumn,
  shortenText,
  toTextColumn,
} from '../../../src/domain/base/stored-text.ts';
import {
  DEFAULT_SPELLING,
  enumValue,
  member,
  nameInput,
  printText,
  type Text,
  text,
} from '../../../src/kernel/text.ts';

const PARTS_MARK = '\u001e';
const WRONG_TIME = text`\`${member('untilTime')}\` must be after \`${member('sinceTime')}\` for ${enumValue('UPDATE', 'WriteType')}.`;
const spelling = {
  locate: (path: readonly PropertyKey[], inputName?: string) => ({
    in: 'body' as const,
    name: `${inputName}:${path.join('/')}`,
  }),
  toWord: (name: string, enumName?: string) => `${enumName}:${name}`,
};

test('prints a stored text in the names of each surface', () => {
  const column = toTextColumn(nameInput(WRONG_TIME, 'TriggerReadInput'));
  expect(printColumn({}, column)).toBe('`untilTime` must be after `sinceTime` for UPDATE.');
  expect(printColumn({ spelling }, column)).toBe(
    '`TriggerReadInput:untilTime` must be after `TriggerReadInput:sinceTime` for WriteType:UPDATE.',
  );
});

test('keeps the input that a text already names', () => {
  const named = nameInput(nameInput(text`${member('id')} is unknown.`, 'Inner'), 'Outer');
  expect(printText(named, spelling)).toBe('Inner:id is unknown.');
});

test('stores a text without names as its sentence', () => {
  expect(toTextColumn('The account was deleted.')).toBe('The account was deleted.');
  expect(toTextColumn('a\0b')).toBe('ab');
});

test('reads every text that it stores', () => {
  const part = fc.oneof(
    fc.string(),
    fc.array(fc.oneof(fc.string(), fc.nat())).map((path) => member(...path)),
    fc.string().map((name) => enumValue(name)),
  );
  const texts: fc.Arbitrary<Text> = fc.oneof(
    fc.string().map((sentence) => `${PARTS_MARK}${sentence}`),
    fc.array(part, { minLength: 1 }),
  );
  fc.assert(
    fc.property(texts, (content) => {
      const sentence = printText(content).replaceAll('\0', '').toWellFormed();
      expect(printColumn({ spelling: DEFAULT_SPELLING }, toTextColumn(content))).toBe(sentence);
    }),
  );
});

test.each([
  'Finished sentence of an earlier version.',
  `${PARTS_MARK}a person's note`,
  `${PARTS_MARK}[{"member":5}]`,
  `${PARTS_MARK}{"text":1}`,
])('reads %j, which is no text in parts, as a sentence', (column) => {
  expect(readTextColumn(column)).toBe(column);
});

test('shortens a text, and keeps the names that fit as parts', () => {
  expect(shortenText('abcdef', 5)).toBe('abcd…');
  expect(shortenText(WRONG_TIME, 200)).toBe(WRONG_TIME);
  const shortened = shortenText(WRONG_TIME, 20);
  expect(printText(shortened)).toBe('`untilTime` must be…');
  expect(printText(shortened, spelling)).toBe('`undefined:untilTime` must be…');
  expect(printText(shortenText(WRONG_TIME, 5))).toBe('`…');
});
