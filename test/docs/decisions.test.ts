/** Tests that the index of the decision records lists every record once, with its title. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../support/documents.ts';

const folder = join(ROOT, 'docs/decisions');

test('lists every decision record in the index, with its title', () => {
  const index = readFileSync(join(folder, 'README.md'), 'utf8');
  const entries = [...index.matchAll(/^- \[(.*)\]\((.*)\)$/gm)].map(([, title, file]) => [
    file,
    title,
  ]);
  const records = globSync('0*.md', { cwd: folder }).map((file) => {
    const [heading = ''] = readFileSync(join(folder, file), 'utf8').split('\n');
    return [file, heading.replace('# ', '')];
  });
  expect(entries.toSorted()).toEqual(records.toSorted());
});
