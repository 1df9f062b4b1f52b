import { closeSync, fsyncSync, openSync, renameSync, writeSync } from 'node:fs';

/** Only the owner may read the files, which contain keys and the demo's credentials. */
const OWNER_ONLY = 0o600;

/** Readers see the old text or the new one, also after a crash. */
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
