/** The files of a data folder that a backup contains in addition to the database. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Files } from './sealed-files.ts';

/** The token journal is a folder. */
const BACKED_UP_FILES = ['encryption-keys', 'issuer-key.json', 'demo.json', 'token-journal'];
const OWNER_ONLY = 0o600;

export function readDataFiles(dataDir: string): Files {
  const paths = BACKED_UP_FILES.flatMap((name) => {
    if (!existsSync(join(dataDir, name))) return [];
    return name === 'token-journal'
      ? readdirSync(join(dataDir, name)).map((entry) => join(name, entry))
      : [name];
  });
  return Object.fromEntries(paths.map((path) => [path, readFileSync(join(dataDir, path), 'utf8')]));
}

/** Writes the files that do not exist. Returns the paths of files that exist with other content, which are unchanged. */
export function writeDataFiles(dataDir: string, files: Files): string[] {
  const skippedFiles: string[] = [];
  for (const [path, text] of Object.entries(files)) {
    const file = join(dataDir, path);
    if (existsSync(file)) {
      if (readFileSync(file, 'utf8') !== text) skippedFiles.push(path);
      continue;
    }
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 });
    writeFileSync(file, text, { mode: OWNER_ONLY, flush: true });
  }
  return skippedFiles;
}
