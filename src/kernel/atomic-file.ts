import { closeSync, fsyncSync, mkdirSync, openSync, renameSync, writeSync } from 'node:fs';
import { dirname } from 'node:path';

/** The files contain keys and credentials, so only their owner may read them. */
const OWNER_ONLY = 0o600;
const FOLDER_OF_OWNER = 0o700;

/**
 * Replaces the text of a file, and creates its folder if it is missing. Readers see the old text or the new text, even
 * after a crash.
 */
export function writeFileAtomically(path: string, text: string): void {
  mkdirSync(dirname(path), { recursive: true, mode: FOLDER_OF_OWNER });
  const temporary = `${path}.${process.pid}.new`;
  const file = openSync(temporary, 'w', OWNER_ONLY);
  try {
    writeSync(file, text);
    fsyncSync(file);
  } finally {
    closeSync(file);
  }
  renameSync(temporary, path);
}
