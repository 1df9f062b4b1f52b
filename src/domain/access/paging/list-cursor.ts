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
const DIGITS = '0123456789abcdefghijklmnopqrstuvwxyz';

/** Longer than most cursors, before base64. */
const CURSOR_BYTES = 256;
/** Cursors are encoded here. With a buffer for each cursor, a long page would need a sixth more memory. */
const sharedBytes = Buffer.allocUnsafe(CURSOR_BYTES);

export function encodeCursor(list: NamedList, key: Key): string {
  return createCursorEncoder(list)(key);
}

/**
 * Returns a function that encodes keys of the list. The checksum covers the list and its parent, so that damaged cursors
 * and cursors of other lists are refused.
 */
export function createCursorEncoder({ name, parentId = '' }: NamedList): (key: Key) => string {
  const listChecksum = crc32(`${name}\n${parentId}\n`);
  return (key) => {
    const text = `${typeof key === 'bigint' ? '#' : '$'}${key}`;
    const size = CHECKSUM_DIGITS + Buffer.byteLength(text);
    const bytes = size <= CURSOR_BYTES ? sharedBytes : Buffer.allocUnsafe(size);
    writeChecksum(bytes, crc32(text, listChecksum));
    bytes.write(text, CHECKSUM_DIGITS);
    return bytes.toString('base64url', 0, size);
  };
}

/** Writes a checksum in base 36. `>>> 0` keeps V8 from computing with floating-point numbers. */
function writeChecksum(bytes: Buffer, checksum: number): void {
  let remainder = checksum >>> 0;
  for (let index = CHECKSUM_DIGITS - 1; index >= 0; index -= 1) {
    bytes[index] = DIGITS.charCodeAt(remainder % 36);
    remainder = (remainder / 36) >>> 0;
  }
}

/** Returns null if the text is not a cursor of the list. The checksum is not a signature: clients can forge cursors. */
export function decodeCursor(list: NamedList, cursor: string): Key | null {
  const text = Buffer.from(cursor, 'base64url').toString('utf8').slice(CHECKSUM_DIGITS);
  const key = list.keyType === 'position' ? parsePosition(text) : parseString(text);
  // Encoding the key again verifies the checksum, and rejects other base64 texts that decode to the same bytes.
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
