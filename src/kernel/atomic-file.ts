import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';

/** The files contain keys and credentials, so only their owner may read them. */
const OWNER_ONLY = 0o600;

/** Replaces the text of a file. Readers see the old text or the new text, even after a crash. */
export function writeFileAtomically(path: string, text: string): void {
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
