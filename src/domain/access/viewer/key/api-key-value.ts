/** Values of API keys: `ik_`, 32 random bytes and a checksum in base62. Only their hashes are stored. */
import { hash, randomBytes } from 'node:crypto';
import { crc32 } from 'node:zlib';
import { sqlStatement } from '../../../../database/statements/statements.ts';
import type { Services } from '../../call.ts';

const PREFIX = 'ik_';
const RANDOM_BYTES = 32;
/** The numbers of base62 digits for 32 bytes, and for a CRC-32. */
const RANDOM_DIGITS = 43;
const CHECKSUM_DIGITS = 6;
/** The number of characters that stay visible: enough to recognize a key, and far too few to guess it. */
const PREFIX_CHARACTERS = 10;
const DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';

export function createKeyValue(): string {
  const random = encodeBase62(
    BigInt(`0x${randomBytes(RANDOM_BYTES).toString('hex')}`),
    RANDOM_DIGITS,
  );
  return `${PREFIX}${random}${createChecksum(random)}`;
}

/**
 * True if the value has the form and the checksum of a key. The checksum rejects mistyped keys without a query, and lets
 * secret scanners verify a match.
 */
export function isKeyValue(value: string): boolean {
  const length = PREFIX.length + RANDOM_DIGITS + CHECKSUM_DIGITS;
  if (value.length !== length || !value.startsWith(PREFIX)) return false;
  const random = value.slice(PREFIX.length, -CHECKSUM_DIGITS);
  return value.slice(-CHECKSUM_DIGITS) === createChecksum(random);
}

export function hashKey(value: string): string {
  return hash('sha256', value, 'hex');
}

export function getKeyPrefix(value: string): string {
  return value.slice(0, PREFIX_CHARACTERS);
}

interface ApiKeyRow {
  id: string;
  projectId: string;
  orgId: string;
  scopes: string[];
  active: boolean;
  /** The allowed origins of the key's project. */
  allowedOrigins: string[];
}

interface StoredKey extends ApiKeyRow {
  lastUsedTime: Date | null;
}

const KEY_BY_HASH = sqlStatement<StoredKey>(`
  select key."id", key."projectId", key."scopes", key."active", key."lastUsedTime",
    project."orgId", project."allowedOrigins"
  from "ApiKey" as key join "Project" as project on project."id" = key."projectId"
  where key."hash" = $1`);

/** Finds the key with this value, even if it is inactive. Records the use of an active key. */
export async function findApiKeyByValue(
  { database, keyUses, now }: Services,
  value: string,
): Promise<ApiKeyRow | null> {
  if (!isKeyValue(value)) return null;
  const [key] = await database.run(KEY_BY_HASH, [hashKey(value)]);
  if (!key) return null;
  if (key.active) await keyUses.recordUse(key, now());
  return key;
}

function createChecksum(random: string): string {
  return encodeBase62(BigInt(crc32(random)), CHECKSUM_DIGITS);
}

function encodeBase62(value: bigint, digits: number): string {
  let text = '';
  for (let remaining = value; text.length < digits; remaining /= 62n) {
    text = DIGITS[Number(remaining % 62n)] + text;
  }
  return text;
}
