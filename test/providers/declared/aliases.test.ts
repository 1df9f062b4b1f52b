/** Names that the reference API's catalog has for objects of declared providers. */
import { expect, test } from 'vitest';
import { DECLARATIONS } from '../../../src/providers/declared/all.ts';

const ALIASES = DECLARATIONS.flatMap(({ name, api }) => {
  const aliases = Object.values(api.objects).flatMap((object) => object.aliases ?? []);
  return aliases.length > 0 ? [[name, aliases, Object.keys(api.objects)] as const] : [];
});

test.each(ALIASES)('gives %s unique aliases that are no names of objects', (...row) => {
  const [, aliases, objects] = row;
  expect(aliases).toEqual([...new Set(aliases)]);
  expect(aliases.filter((alias) => objects.includes(alias))).toEqual([]);
});
