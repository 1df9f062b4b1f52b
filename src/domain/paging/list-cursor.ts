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

const CHECKSUM_DIGITS = 7;

/** The checksum covers the list and its parent, so that damaged cursors and cursors of other lists are refused. */
export function encodeCursor(list: NamedList, key: Key): string {
  const text = `${typeof key === 'bigint' ? '#' : '$'}${key}`;
  return Buffer.from(`${computeChecksum(list, text)}${text}`).toString('base64url');
}

/** Returns null if the text is not a cursor of the list. The checksum is not a signature: clients can forge cursors. */
export function decodeCursor(list: NamedList, cursor: string): Key | null {
  const decoded = Buffer.from(cursor, 'base64url').toString('utf8');
  const checksum = decoded.slice(0, CHECKSUM_DIGITS);
  const text = decoded.slice(CHECKSUM_DIGITS);
  if (checksum !== computeChecksum(list, text)) return null;
  const key = list.keyType === 'position' ? parsePosition(text) : parseString(text);
  // Base64 decoding ignores invalid characters and surplus bits. Encoding the key again rejects other spellings.
  return key !== null && encodeCursor(list, key) === cursor ? key : null;
}

/** Returns null if the text is not a position, or if the position does not fit the database's int8. */
function parsePosition(text: string): bigint | null {
  if (!/^#-?\d{1,19}$/.test(text)) return null;
  const position = BigInt(text.slice(1));
  return BigInt.asIntN(64, position) === position ? position : null;
}

/** Returns null if the text is not a string key, or contains NUL, which the database can't compare. */
function parseString(text: string): string | null {
  return text.startsWith('$') && !text.includes('\0') ? text.slice(1) : null;
}

function computeChecksum({ name, parentId = '' }: NamedList, text: string): string {
  return crc32(`${name}\n${parentId}\n${text}`).toString(36).padStart(CHECKSUM_DIGITS, '0');
}
