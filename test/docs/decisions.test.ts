/** The index of the decision records lists every record once, under its own title. */
import { globSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { ROOT } from '../support/documents.ts';

const folder = join(ROOT, 'docs/decisions');

test('the index lists every decision record under its title', () => {
  const index = readFileSync(join(folder, 'README.md'), 'utf8');
  const listed = [...index.matchAll(/^- \[(.*)\]\((.*)\)$/gm)].map(([, title, file]) => [
    file,
    title,
  ]);
  const records = globSync('0*.md', { cwd: folder }).map((file) => {
    const [heading = ''] = readFileSync(join(folder, file), 'utf8').split('\n');
    return [file, heading.replace('# ', '')];
  });
  expect(listed.toSorted()).toEqual(records.toSorted());
});
