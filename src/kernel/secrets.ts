/**
 * Encrypts secrets at rest. A sealed value is `v1.<key id>.<nonce, tag and ciphertext>`. It is bound to its location, so
 * that it can't be opened after it is copied to another row, column or project.
 */
import {
  createCipheriv,
  createDecipheriv,
  createHash,
  createSecretKey,
  hkdfSync,
  randomBytes,
  timingSafeEqual,
} from 'node:crypto';
import { inspect } from 'node:util';

const ALGORITHM = 'aes-256-gcm';
const NONCE_BYTES = 12;
const TAG_BYTES = 16;
export const KEY_BYTES = 32;

/** Replaces secrets in texts. Inputs that contain it are refused, so that it is never stored as a value. */
export const MASK = '***';

/** A value that prints as *** in logs. Only `reveal` returns it. */
export class Secret {
  readonly #value: string;

  constructor(value: string) {
    this.#value = value;
  }

  reveal(): string {
    return this.#value;
  }

  toString(): string {
    return MASK;
  }

  toJSON(): string {
    return MASK;
  }

  [inspect.custom](): string {
    return MASK;
  }
}

/** Compares a secret in a time that does not depend on its contents, only on its length. */
export function isSameSecret(received: Buffer, expected: Buffer): boolean {
  return received.length === expected.length && timingSafeEqual(received, expected);
}

/** The location of a sealed value. */
export interface SealedLocation {
  table: string;
  column: string;
  row: string;
  projectId: string;
}

export interface Vault {
  seal(value: string, location: SealedLocation): string;
  /** Throws if the value was changed or moved, or if this process lacks the key. */
  open(sealed: string, location: SealedLocation): string;
  /** Returns whether the current key sealed the value. */
  isCurrent(sealed: string): boolean;
  /** Returns whether this process has the key that sealed the value. */
  hasKeyOf(sealed: string): boolean;
  /** Returns derived keys for a purpose, one for each key of the vault, the current one first. */
  deriveKeys(purpose: string): readonly [DerivedKey, ...DerivedKey[]];
}

interface DerivedKey {
  /** The id of the vault key that it is derived from. */
  id: string;
  key: Uint8Array;
}

/** Creates a vault. The first key seals; all keys can open. */
export function createVault(keys: [Buffer, ...Buffer[]]): Vault {
  // A KeyObject is four times as fast as raw key bytes.
  const keysById = new Map(keys.map((key) => [getKeyId(key), createSecretKey(key)]));
  const currentId = getKeyId(keys[0]);
  const currentKey = createSecretKey(keys[0]);
  const derivedKeysByPurpose = new Map<string, [DerivedKey, ...DerivedKey[]]>();
  return {
    seal(value, location) {
      const nonce = randomBytes(NONCE_BYTES);
      const cipher = createCipheriv(ALGORITHM, currentKey, nonce).setAAD(
        formatAdditionalData(location),
      );
      const text = Buffer.concat([cipher.update(value, 'utf8'), cipher.final()]);
      const bytes = Buffer.concat([nonce, cipher.getAuthTag(), text]);
      return `v1.${currentId}.${bytes.toString('base64url')}`;
    },
    open(sealed, location) {
      const [version, id, body] = sealed.split('.');
      const name = `${location.table}.${location.column} of ${location.row}`;
      if (version !== 'v1' || !id || !body) throw new Error(`${name} is not a sealed value.`);
      const key = keysById.get(id);
      if (!key) {
        throw new Error(`${name} is sealed with the key ${id}, which this process lacks.`);
      }
      const bytes = Buffer.from(body, 'base64url');
      const decipher = createDecipheriv(ALGORITHM, key, bytes.subarray(0, NONCE_BYTES))
        .setAAD(formatAdditionalData(location))
        .setAuthTag(bytes.subarray(NONCE_BYTES, NONCE_BYTES + TAG_BYTES));
      const text = decipher.update(bytes.subarray(NONCE_BYTES + TAG_BYTES));
      return Buffer.concat([text, decipher.final()]).toString('utf8');
    },
    isCurrent: (sealed) => sealed.startsWith(`v1.${currentId}.`),
    hasKeyOf: (sealed) => keysById.has(sealed.split('.')[1] ?? ''),
    deriveKeys(purpose) {
      const cachedKeys = derivedKeysByPurpose.get(purpose);
      if (cachedKeys) return cachedKeys;
      const derivedKeys = keys.map((key) => deriveKey(key, purpose)) as [
        DerivedKey,
        ...DerivedKey[],
      ];
      derivedKeysByPurpose.set(purpose, derivedKeys);
      return derivedKeys;
    },
  };
}

/** Derives a key by HKDF. A leaked derived key reveals neither the vault's keys nor other derived keys. */
function deriveKey(key: Buffer, purpose: string): DerivedKey {
  const bytes = hkdfSync('sha256', key, Buffer.alloc(0), purpose, KEY_BYTES);
  return { id: getKeyId(key), key: new Uint8Array(bytes) };
}

/** Returns an id for a key that reveals nothing about it. */
function getKeyId(key: Buffer): string {
  return createHash('sha256').update('key id').update(key).digest('hex').slice(0, 8);
}

function formatAdditionalData({ table, column, row, projectId }: SealedLocation): Buffer {
  return Buffer.from(JSON.stringify([table, column, row, projectId]));
}
