/** Cursors contain the key of an item of a list, in a text that is opaque to clients. */
import { crc32 } from 'node:zlib';

/** The identity of a list in its cursors: a name like `Project.topics`, and the id of its parent, here the project. */
export interface NamedList {
  name: string;
  parentId?: string;
  /** The type of the list's keys. Default: text. */
  keyType?: 'position';
}

export type Key = string | bigint;

const CHECK_DIGITS = 7;

/** The checksum covers the list and its parent, so that a damaged cursor and another list's are both refused. */
export function encodeCursor(list: NamedList, key: Key): string {
  const kind = typeof key === 'bigint' ? '#' : '$';
  return Buffer.from(`${cursorCheck(list, `${kind}${key}`)}${kind}${key}`).toString('base64url');
}

/** Null if the text is not a cursor of the list. The checksum is no signature: a client can forge a cursor. */
export function decodeCursor(list: NamedList, cursor: string): Key | null {
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  const check = text.slice(0, CHECK_DIGITS);
  const key = text.slice(CHECK_DIGITS);
  if (check !== cursorCheck(list, key)) return null;
  const value = list.keyType === 'position' ? parsePosition(key) : parseText(key);
  // Decoding ignores meaningless characters and bits. Comparing with the encoded key accepts one text only.
  return value !== null && encodeCursor(list, value) === cursor ? value : null;
}

/** A position, which must fit the database's int8. Null for any other text. */
function parsePosition(key: string): bigint | null {
  if (!/^#-?\d{1,19}$/.test(key)) return null;
  const value = BigInt(key.slice(1));
  return BigInt.asIntN(64, value) === value ? value : null;
}

/** A text key. Null if it contains NUL, which the database can't compare. */
function parseText(key: string): string | null {
  return key.startsWith('$') && !key.includes('\0') ? key.slice(1) : null;
}

function cursorCheck({ name, parentId = '' }: NamedList, key: string): string {
  return crc32(`${name}\n${parentId}\n${key}`).toString(36).padStart(CHECK_DIGITS, '0');
}
