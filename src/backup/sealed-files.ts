/**
 * Seals files of a data folder with a passphrase. A backup contains them in addition to the database: keys that decrypt
 * the database's secrets, and signing keys. Each guess of the passphrase costs 128 MiB of memory and a third of a
 * second.
 */
import { createCipheriv, createDecipheriv, randomBytes, scryptSync } from 'node:crypto';
import { StartRefused } from '../kernel/errors.ts';

const ALGORITHM = 'aes-256-gcm';
const KEY_BYTES = 32;
const NONCE_BYTES = 12;
const SALT_BYTES = 16;
const COST = { N: 2 ** 17, r: 8, p: 1, maxmem: 256 * 1024 * 1024 };
/** Guessing 16 random characters is infeasible at the cost of scrypt. */
const PASSPHRASE_CHARACTERS_MIN = 16;
/** Refuses repetitions such as `aaaaaaaaaaaaaaaa` and `1212121212121212`. */
const PASSPHRASE_DISTINCT_MIN = 8;

/** In Base64. */
export interface SealedFiles {
  salt: string;
  nonce: string;
  tag: string;
  sealed: string;
}

/** Contents by path in the data folder. */
export type Files = Record<string, string>;

export function sealFiles(files: Files, passphrase: string): SealedFiles {
  const salt = randomBytes(SALT_BYTES);
  const nonce = randomBytes(NONCE_BYTES);
  const cipher = createCipheriv(ALGORITHM, scryptSync(passphrase, salt, KEY_BYTES, COST), nonce);
  const sealed = Buffer.concat([cipher.update(JSON.stringify(files)), cipher.final()]);
  return {
    salt: salt.toString('base64'),
    nonce: nonce.toString('base64'),
    tag: cipher.getAuthTag().toString('base64'),
    sealed: sealed.toString('base64'),
  };
}

/** Throws StartRefused for a weak passphrase. Backups that were sealed with one can still be opened. */
export function refuseWeakPassphrase(passphrase: string): void {
  const characters = [...passphrase];
  if (
    characters.length >= PASSPHRASE_CHARACTERS_MIN &&
    new Set(characters).size >= PASSPHRASE_DISTINCT_MIN
  )
    return;
  throw new StartRefused(
    `BACKUP_PASSPHRASE must have at least ${PASSPHRASE_CHARACTERS_MIN} characters, ${PASSPHRASE_DISTINCT_MIN} of them different. ` +
      'Create one with `openssl rand -base64 24`.',
  );
}

/** Throws StartRefused if the passphrase is wrong. */
export function unsealFiles(files: SealedFiles, passphrase: string): Files {
  const decodeMember = (name: keyof SealedFiles) => Buffer.from(files[name], 'base64');
  const key = scryptSync(passphrase, decodeMember('salt'), KEY_BYTES, COST);
  const decipher = createDecipheriv(ALGORITHM, key, decodeMember('nonce')).setAuthTag(
    decodeMember('tag'),
  );
  try {
    const text = Buffer.concat([decipher.update(decodeMember('sealed')), decipher.final()]);
    return JSON.parse(text.toString());
  } catch (cause) {
    throw new StartRefused('BACKUP_PASSPHRASE is not the one that the keys were sealed with.', {
      cause,
    });
  }
}
