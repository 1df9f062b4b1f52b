/** The SQL function `search_words` returns the words by which a search finds names and refs. */
import { expect, test } from 'vitest';
import { createTestDatabase } from '../../support/app.ts';
import { queryRows } from '../../support/database/query.ts';

async function readSearchWords(texts: (string | null)[]): Promise<string[]> {
  await using database = await createTestDatabase();
  const statement = 'select word from search_words($1::text[]) word order by word collate "C"';
  const rows = await queryRows<{ word: string }>(database, statement, [texts]);
  return rows.map(({ word }) => word);
}

test.each<[string, string[]]>([
  ['Acme Corp', ['acme corp', 'corp']],
  ['  acme-corp.  ', ['acme-corp.  ', 'corp.  ']],
  ['customer_17', ['17', 'customer_17']],
  [`a'b"c\\d`, [`a'b"c\\d`, `b"c\\d`, 'c\\d', 'd']],
  ['one\ttwo\nthree', ['one\ttwo\nthree', 'three', 'two\nthree']],
  ['[x]{y}~z`w@v/u', ['u', 'v/u', 'w@v/u', 'x]{y}~z`w@v/u', 'y}~z`w@v/u', 'z`w@v/u']],
  ['日本 語', ['日本 語', '語']],
  ['-- !', []],
  ['', []],
])('returns the words of %j', async (text, words) => {
  expect(await readSearchWords([text])).toEqual(words);
});

test('returns 64 characters from the start of each word that begins in the first 256 characters', async () => {
  const text = `${'a'.repeat(250)} in ${'b'.repeat(100)}`;
  expect(await readSearchWords([text])).toEqual(
    ['a'.repeat(64), `in ${'b'.repeat(61)}`, 'b'.repeat(64)].sort(),
  );
  expect(await readSearchWords([`${'a'.repeat(260)} late`])).toEqual(['a'.repeat(64)]);
});

test('returns each word once, no word for null, and at most 40 words', async () => {
  expect(await readSearchWords(['acme', null, 'ACME', 'the acme'])).toEqual(['acme', 'the acme']);
  const text = Array.from({ length: 60 }, (_, index) => `w${index}`).join(' ');
  expect(await readSearchWords([text, 'more'])).toHaveLength(40);
});
