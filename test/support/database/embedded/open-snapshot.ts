/** Opens a snapshot as a database in memory. */
import { readFileSync } from 'node:fs';
import { PGlite, type PGliteOptions } from '@electric-sql/pglite';

export function openSnapshot(path: string, options: PGliteOptions = {}): Promise<PGlite> {
  const { buffer } = readFileSync(path);
  // A real blob would copy the bytes twice.
  const loadDataDir = Object.assign(new Blob(), { arrayBuffer: async () => buffer });
  return PGlite.create({ ...options, loadDataDir });
}
