/** Tests that the pages of docs/providers/ match the declarations. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { createProviderPages, MANUAL_PAGES } from '../../scripts/providers/provider-pages.ts';

const folder = join(import.meta.dirname, '..', '..', 'docs', 'providers');

test('the pages are current: `npm run provider:pages` writes them', () => {
  const pages = createProviderPages();
  expect(readdirSync(folder).toSorted()).toEqual([...pages.keys(), ...MANUAL_PAGES].toSorted());
  for (const [name, text] of pages) expect(readFileSync(join(folder, name), 'utf8')).toBe(text);
});
