import fc from 'fast-check';
import { expect, test } from 'vitest';
import { toMemberName } from '../../../../src/domain/data/contract/formats/safe-names.ts';

/** Matches names that GraphQL does not reserve. */
const GRAPHQL_NAME = /^(?!__)[A-Za-z_][A-Za-z0-9_]*$/;
const IS_ASCII = /^\p{ASCII}*$/u;

test('keeps names that are valid in GraphQL, and replaces other ASCII characters', () => {
  const names = [
    'email',
    '_raw',
    'a__b',
    'First Name',
    'a.b--c',
    '1st',
    '__type',
    'x00F6_',
    '_x00f6_',
  ];
  expect(names.map(toMemberName)).toEqual([
    'email',
    '_raw',
    'a__b',
    'First_Name',
    'a_b_c',
    '_1st',
    '_type',
    'x00F6_',
    '_x00f6_',
  ]);
});

test('escapes names with other characters by their code points', () => {
  const names = ['Größe', 'имя', '姓', '名', '1月', '_é', 'e\u0301', '💶', 'Größe (cm)', '_x00F6_'];
  expect(names.map(toMemberName)).toEqual([
    'Gr_x00F6__x00DF_e',
    '_x0438__x043C__x044F_',
    '_x59D3_',
    '_x540D_',
    '_x0031__x6708_',
    '_x005F__x00E9_',
    'e_x0301_',
    '_x1F4B6_',
    'Gr_x00F6__x00DF_e_x0020__x0028_cm_x0029_',
    '_x005F_x00F6_',
  ]);
});

/** Names of few characters, so that random names look like escaped ones. */
const crowdedName = fc
  .array(fc.constantFrom('_', 'x', '0', '0', 'F', '6', 'a', 'ö', '名', ' ', '_x00F6_', '_x005F_'), {
    minLength: 1,
    maxLength: 12,
  })
  .map((parts) => parts.join(''));
const anyName = fc.oneof(crowdedName, fc.string({ unit: 'grapheme', minLength: 1 }));

test('returns valid names, and different ones for different names that are not all ASCII', () => {
  fc.assert(
    fc.property(fc.uniqueArray(anyName, { maxLength: 50 }), (names) => {
      const memberNames = names.map(toMemberName);
      for (const memberName of memberNames) expect(memberName).toMatch(GRAPHQL_NAME);
      const ownNames = memberNames.filter((_name, index) => !IS_ASCII.test(names[index] ?? ''));
      const asciiNames = memberNames.filter((_name, index) => IS_ASCII.test(names[index] ?? ''));
      expect(new Set(ownNames).size).toBe(ownNames.length);
      expect(ownNames.filter((name) => asciiNames.includes(name))).toEqual([]);
    }),
    { numRuns: 2_000 },
  );
});
