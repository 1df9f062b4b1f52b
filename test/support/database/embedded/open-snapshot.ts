/** A snapshot as a database in memory. */
import { readFileSync } from 'node:fs';
import { PGlite, type PGliteOptions } from '@electric-sql/pglite';

export function openSnapshot(path: string, options: PGliteOptions = {}): Promise<PGlite> {
  const { buffer } = readFileSync(path);
  // A blob with these bytes would give a copy of a copy.
  const loadDataDir = Object.assign(new Blob(), { arrayBuffer: async () => buffer });
  return PGlite.create({ ...options, loadDataDir });
}
