/** Loads the keys that encrypt secrets, from the environment or from a file that the first start creates. */
import { randomBytes } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { writeFileAtomically } from '../../../kernel/atomic-file.ts';
import { StartRefused } from '../../../kernel/errors.ts';
import { KEY_BYTES } from '../../../kernel/secrets.ts';
import type { Config } from '../../../settings/config.ts';

type Keys = [Buffer, ...Buffer[]];

/** Returns the keys: the first one encrypts, and all of them decrypt. Creates a key if there is none. */
export function loadEncryptionKeys(config: Config): Keys {
  return findEncryptionKeys(config) ?? [...addEncryptionKey(config), ...readRetiredKeys(config)];
}

/** Returns null if there is no key yet. Throws StartRefused if the file contains anything but keys. */
export function findEncryptionKeys(config: Config): Keys | null {
  const retiredKeys = readRetiredKeys(config);
  if (config.ENCRYPTION_KEY) {
    return [Buffer.from(config.ENCRYPTION_KEY.reveal(), 'base64'), ...retiredKeys];
  }
  const keys = readKeyFile(getKeyFilePath(config));
  return keys && [...keys, ...retiredKeys];
}

function readRetiredKeys(config: Config): Buffer[] {
  return config.ENCRYPTION_KEYS_RETIRED.map((key) => Buffer.from(key.reveal(), 'base64'));
}

/** Adds a new current key to the data folder. Older keys are kept to decrypt existing secrets. */
export function addEncryptionKey(config: Config): Keys {
  const keys: Keys = [randomBytes(KEY_BYTES), ...(readKeyFile(getKeyFilePath(config)) ?? [])];
  writeFileAtomically(getKeyFilePath(config), formatKeyFile(keys));
  return keys;
}

/** Formats a key file: one key in each line, the current key first. */
export function formatKeyFile(keys: Buffer[]): string {
  return keys.map((key) => `${key.toString('base64')}\n`).join('');
}

function getKeyFilePath(config: Config): string {
  return join(config.DATA_DIR, 'encryption-keys');
}

function readKeyFile(path: string): Keys | null {
  let text: string;
  try {
    text = readFileSync(path, 'utf8');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return null;
    throw error;
  }
  const keys = text
    .split('\n')
    .filter(Boolean)
    .map((line) => Buffer.from(line, 'base64'));
  if (keys.length === 0 || keys.some((key) => key.length !== KEY_BYTES)) {
    throw new StartRefused(
      `${path} does not contain keys of ${KEY_BYTES} bytes in base64, one in each line. Restore it from a backup.`,
    );
  }
  return keys as Keys;
}
