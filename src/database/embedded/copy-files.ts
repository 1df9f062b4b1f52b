/** The files of a database that is open, as a crash at this moment would leave them. */
import { constants, cpSync } from 'node:fs';
import { join } from 'node:path';
import { DATABASE } from './data-folder.ts';

/** Returns when they are there: nothing may be written meanwhile. Where the file system can, they share its blocks. */
export function copyFiles(dataDir: string, to: string): void {
  const mode = constants.COPYFILE_FICLONE;
  cpSync(join(dataDir, DATABASE), to, { recursive: true, mode, errorOnExist: true });
}
