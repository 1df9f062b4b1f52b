/** Encodes the key of an item of a list in a cursor that is opaque to clients. */
import { crc32 } from 'node:zlib';

/** Identifies a list in its cursors: a name like `Project.topics`, and the id of its parent, here the project. */
export interface NamedList {
  name: string;
  parentId?: string;
  /** The type of the list's keys. Default: strings. */
  keyType?: 'position';
}

export type Key = string | bigint;

const CHECK_DIGITS = 7;

/** The checksum covers the list and its parent, so that damaged cursors and those of other lists are refused. */
export function encodeCursor(list: NamedList, key: Key): string {
  const kind = typeof key === 'bigint' ? '#' : '$';
  return Buffer.from(`${computeCheck(list, `${kind}${key}`)}${kind}${key}`).toString('base64url');
}

/** Returns null for anything but a cursor of the list. The checksum is no signature: a client can forge a cursor. */
export function decodeCursor(list: NamedList, cursor: string): Key | null {
  const text = Buffer.from(cursor, 'base64url').toString('utf8');
  const check = text.slice(0, CHECK_DIGITS);
  const key = text.slice(CHECK_DIGITS);
  if (check !== computeCheck(list, key)) return null;
  const value = list.keyType === 'position' ? parsePosition(key) : parseText(key);
  // Base64 decoding ignores invalid characters and surplus bits. Encoding the key again rejects other spellings.
  return value !== null && encodeCursor(list, value) === cursor ? value : null;
}

/** Returns null for a key that is not a position or does not fit the database's int8. */
function parsePosition(key: string): bigint | null {
  if (!/^#-?\d{1,19}$/.test(key)) return null;
  const value = BigInt(key.slice(1));
  return BigInt.asIntN(64, value) === value ? value : null;
}

/** Returns null for a key that is not a string or contains NUL, which the database can't compare. */
function parseText(key: string): string | null {
  return key.startsWith('$') && !key.includes('\0') ? key.slice(1) : null;
}

function computeCheck({ name, parentId = '' }: NamedList, key: string): string {
  return crc32(`${name}\n${parentId}\n${key}`).toString(36).padStart(CHECK_DIGITS, '0');
}
