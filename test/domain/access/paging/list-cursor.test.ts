import { crc32 } from 'node:zlib';
import { expect, test } from 'vitest';
import { decodeCursor, encodeCursor } from '../../../../src/domain/access/paging/list-cursor.ts';

const list = { name: 'Project.topics', parentId: 'prj_1' };
const eventList = { ...list, name: 'Project.notificationEvents', keyType: 'position' } as const;
const getList = (key: string | bigint) => (typeof key === 'bigint' ? eventList : list);
const keys = ['top_01h455vb4pex5vsknk084sn02q', 'hubspot', '', 0n, 9_007_199_254_740_993n];

test.each(keys)('decodes an encoded cursor: %s', (key) => {
  expect(decodeCursor(getList(key), encodeCursor(getList(key), key))).toBe(key);
});

test('refuses a cursor of another list or parent', () => {
  const cursor = encodeCursor(list, 'top_1');
  expect(decodeCursor({ ...list, parentId: 'prj_2' }, cursor)).toBeNull();
  expect(decodeCursor({ ...list, name: 'Project.destinations' }, cursor)).toBeNull();
  expect(decodeCursor({ name: 'Project.topics' }, cursor)).toBeNull();
});

test.each(keys)('refuses a cursor with one character changed, removed or added: %s', (key) => {
  const sameList = getList(key);
  const cursor = encodeCursor(sameList, key);
  const damagedCursors: string[] = [];
  for (let index = 0; index <= cursor.length; index += 1) {
    const [start, end] = [cursor.slice(0, index), cursor.slice(index)];
    for (const character of 'AZaz09-_=+/! \n') damagedCursors.push(start + character + end);
    if (end === '') continue;
    damagedCursors.push(start + end.slice(1));
    for (const character of 'ABCDQgw-_=! ') {
      if (character !== end[0]) damagedCursors.push(start + character + end.slice(1));
    }
  }
  expect(damagedCursors.filter((text) => decodeCursor(sameList, text) !== null)).toEqual([]);
});

/** Returns a cursor with a valid checksum. Callers can compute it, because it contains no secret. */
function forgeCursor({ name, parentId }: typeof list, key: string): string {
  const check = crc32(`${name}\n${parentId}\n${key}`).toString(36).padStart(7, '0');
  return Buffer.from(`${check}${key}`).toString('base64url');
}

test('refuses a cursor with a valid checksum if its key has another kind than the list', () => {
  expect(decodeCursor(list, forgeCursor(list, '$top_1'))).toBe('top_1');
  expect(decodeCursor(eventList, forgeCursor(eventList, '#7'))).toBe(7n);
  const invalidPositions = [
    '#abc',
    '#',
    '#0x10',
    '# 5',
    '#1e3',
    `#${2n ** 63n}`,
    '$abc',
    '$',
    '$a\0b',
    'x',
    '',
  ];
  expect(
    invalidPositions.filter((key) => decodeCursor(eventList, forgeCursor(eventList, key)) !== null),
  ).toEqual([]);
  const invalidTexts = ['$a\0b', '#7', '#abc', 'x', ''];
  expect(invalidTexts.filter((key) => decodeCursor(list, forgeCursor(list, key)) !== null)).toEqual(
    [],
  );
});
