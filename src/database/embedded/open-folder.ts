/**
 * A new database is made beside its place and moved there when it is whole, so that a first start that was cut off
 * leaves nothing that looks like damage. Loads PGlite, which the thread of requests does without.
 */
import { existsSync, readdirSync, renameSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { PGlite, type PGliteOptions } from '@electric-sql/pglite';
import { DATABASE, damaged, UNFINISHED } from './data-folder.ts';

/** Opens the database of the folder; makes it if there is none. The process holds the folder's lock. */
export async function openFolder(dataDir: string, options: PGliteOptions): Promise<PGlite> {
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
