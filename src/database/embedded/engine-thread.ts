/** The thread of the database in the data folder: what takes long there holds up nothing else of the process. */
import { constants, cpSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { workerData } from 'node:worker_threads';
import { PGlite, type PGliteOptions } from '@electric-sql/pglite';
import { DATABASE, damaged, UNFINISHED } from './data-folder.ts';
import { runEngine } from './run-engine.ts';

const dataDir = workerData as string;
await runEngine(
  (options) => openFolder(dataDir, options),
  (to) => copyFiles(dataDir, to),
);

/** The files of a database that is open, as a crash at this moment would leave them. */

/** Returns when they are there: nothing may be written meanwhile. Where the file system can, they share its blocks. */
function copyFiles(dataDir: string, to: string): void {
  const mode = constants.COPYFILE_FICLONE;
  cpSync(join(dataDir, DATABASE), to, { recursive: true, mode, errorOnExist: true });
}

/**
 * A new database is made beside its place and moved there when it is whole, so that a first start that was cut off
 * leaves nothing that looks like damage. Loads PGlite, which the thread of requests does without.
 */

/** Opens the database of the folder; makes it if there is none. The process holds the folder's lock. */
async function openFolder(dataDir: string, options: PGliteOptions): Promise<PGlite> {
  const folder = join(dataDir, DATABASE);
  const isThere = existsSync(folder) && readdirSync(folder).length > 0;
  if (!isThere) {
    const unfinished = join(dataDir, UNFINISHED);
    rmSync(unfinished, { recursive: true, force: true });
    const made = await PGlite.create({ ...options, dataDir: unfinished });
    await made.close();
    renameSync(unfinished, folder);
  }
  try {
    return await PGlite.create({ ...options, dataDir: folder });
  } catch (cause) {
    const { message } = cause as Error;
    throw damaged(folder, `can't be opened (${message})`, { cause });
  }
}
