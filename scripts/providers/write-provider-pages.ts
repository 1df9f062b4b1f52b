/** Writes the generated pages of docs/providers/: `npm run provider:pages`. */
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { refuseArguments } from '../../src/commands/usage.ts';
import { createProviderPages, MANUAL_PAGES } from './provider-pages.ts';

refuseArguments('Usage: npm run provider:pages');

const folder = join(import.meta.dirname, '..', '..', 'docs', 'providers');
for (const name of readdirSync(folder)) {
  if (!MANUAL_PAGES.includes(name)) rmSync(join(folder, name));
}
for (const [name, text] of createProviderPages()) writeFileSync(join(folder, name), text);
