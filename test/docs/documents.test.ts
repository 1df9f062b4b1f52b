/** The documents are of a form that can be checked, and name what is there. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { blocksOf, DOCUMENTS, ROOT, scriptsOf } from '../support/documents.ts';

const blocks = DOCUMENTS.flatMap(blocksOf);

test('every block is of a kind that can be run or read by a program', () => {
  const languages = new Set(blocks.map(({ language }) => language));
  expect([...languages].sort()).toEqual(['', 'graphql', 'js', 'json', 'sh']);
  for (const { text } of blocks.filter(({ language }) => language === 'json')) JSON.parse(text);
});

test('every npm script that is named is there', () => {
  const { scripts } = JSON.parse(readFileSync(join(ROOT, 'package.json'), 'utf8'));
  const named = DOCUMENTS.flatMap(scriptsOf);
  expect(named.filter((name) => !(name in scripts))).toEqual([]);
  expect(named.length).toBeGreaterThan(10);
});
