/** Where words begin in names and refs, as searches find them. */
import { expect, test } from 'vitest';
import { testDatabase } from '../support/app.ts';

async function placesOf(texts: (string | null)[]): Promise<string[]> {
  await using database = await testDatabase();
  const statement = 'select word from search_words($1::text[]) word order by word collate "C"';
  const found = await database.rows.query<{ word: string }>(statement, [texts]);
  return found.map(({ word }) => word);
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
])('the words of %j', async (text, places) => {
  expect(await placesOf([text])).toEqual(places);
});

test('a place has 64 characters of the text, and begins among the first 256', async () => {
  const text = `${'a'.repeat(250)} in ${'b'.repeat(100)}`;
  expect(await placesOf([text])).toEqual(
    ['a'.repeat(64), `in ${'b'.repeat(61)}`, 'b'.repeat(64)].sort(),
  );
  expect(await placesOf([`${'a'.repeat(260)} late`])).toEqual(['a'.repeat(64)]);
});

test('what two texts have in common is one place, nothing is nothing, and there are 40 at most', async () => {
  expect(await placesOf(['acme', null, 'ACME', 'the acme'])).toEqual(['acme', 'the acme']);
  const many = Array.from({ length: 60 }, (_, index) => `w${index}`).join(' ');
  expect(await placesOf([many, 'more'])).toHaveLength(40);
});
