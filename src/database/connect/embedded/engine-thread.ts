/** The thread of the database in the data folder, so that long statements do not block the rest of the process. */
import { constants, cpSync, existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { workerData } from 'node:worker_threads';
import { PGlite, type PGliteOptions } from '@electric-sql/pglite';
import { createDamageError, DATABASE_FOLDER, UNFINISHED_FOLDER } from './data-folder.ts';
import { runEngine } from './run-engine.ts';

const dataDir = workerData as string;
await runEngine(
  (options) => openFolder(dataDir, options),
  (to) => copyFiles(dataDir, to),
);

/**
 * Copies the files of an open database, as a crash at this moment would leave them. Nothing may be written until it
 * returns. The copy shares blocks with the original where the file system supports it.
 */
function copyFiles(dataDir: string, to: string): void {
  const mode = constants.COPYFILE_FICLONE;
  cpSync(join(dataDir, DATABASE_FOLDER), to, { recursive: true, mode, errorOnExist: true });
}

/**
 * Opens the database of the folder, or creates one. The process holds the folder's lock. A new database is created in
 * another folder and renamed when it is complete, so that an interrupted first start leaves nothing that looks like
 * damage.
 */
async function openFolder(dataDir: string, options: PGliteOptions): Promise<PGlite> {
  const folder = join(dataDir, DATABASE_FOLDER);
  const exists = existsSync(folder) && readdirSync(folder).length > 0;
  if (!exists) {
    const unfinishedFolder = join(dataDir, UNFINISHED_FOLDER);
    rmSync(unfinishedFolder, { recursive: true, force: true });
    const newDatabase = await PGlite.create({ ...options, dataDir: unfinishedFolder });
    await newDatabase.close();
    renameSync(unfinishedFolder, folder);
  }
  try {
    return await PGlite.create({ ...options, dataDir: folder });
  } catch (cause) {
    const { message } = cause as Error;
    throw createDamageError(folder, `can't be opened (${message})`, { cause });
  }
}
