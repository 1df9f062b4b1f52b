import { expect, test } from 'vitest';
import { decodeCursor, encodeCursor } from '../../src/domain/page.ts';

const list = { name: 'Project.topics', parentId: 'prj_1' };
const keys = ['top_01h455vb4pex5vsknk084sn02q', 'hubspot', '', 0n, 9_007_199_254_740_993n];

test.each(keys)('a cursor gives back its key: %s', (key) => {
  expect(decodeCursor(list, encodeCursor(list, key))).toBe(key);
});

test('a cursor fits its own list and parent', () => {
  const cursor = encodeCursor(list, 'top_1');
  expect(decodeCursor({ ...list, parentId: 'prj_2' }, cursor)).toBeNull();
  expect(decodeCursor({ ...list, name: 'Project.destinations' }, cursor)).toBeNull();
  expect(decodeCursor({ name: 'Project.topics' }, cursor)).toBeNull();
});

test.each(keys)('a cursor with any one character changed, lost or added is none: %s', (key) => {
  const cursor = encodeCursor(list, key);
  const damaged: string[] = [];
  for (let at = 0; at <= cursor.length; at += 1) {
    const [before, after] = [cursor.slice(0, at), cursor.slice(at)];
    for (const character of 'AZaz09-_=+/! \n') damaged.push(before + character + after);
    if (after === '') continue;
    damaged.push(before + after.slice(1));
    for (const character of 'ABCDQgw-_=! ') {
      if (character !== after[0]) damaged.push(before + character + after.slice(1));
    }
  }
  expect(damaged.filter((text) => decodeCursor(list, text) !== null)).toEqual([]);
});
