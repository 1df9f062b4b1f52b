/** Where the engine of a cluster may be named, and which files may write SQL or import a driver. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';

const src = join(import.meta.dirname, '..', '..', 'src');
const files = globSync('**/*.ts', { cwd: src }).filter((file) => !file.includes('generated'));
const textOf = (file: string) => readFileSync(join(src, file), 'utf8');

test('only database/citus/ and its seam name Citus', () => {
  const naming = files.filter((file) => /citus/i.test(textOf(file)));
  expect(naming.filter((file) => !file.startsWith('database/citus/'))).toEqual([
    'database/cluster.ts',
  ]);
});

test('only the seam imports database/citus/', () => {
  const importers = files.filter((file) => /from '[^']*citus\//.test(textOf(file)));
  expect(importers).toEqual(['database/cluster.ts']);
});
