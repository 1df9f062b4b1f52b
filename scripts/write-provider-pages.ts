/** Writes the generated pages of docs/providers/: `npm run provider:pages`. */
import { readdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { providerPages, WRITTEN_BY_HAND } from './provider-pages.ts';

const folder = join(import.meta.dirname, '..', 'docs', 'providers');
for (const name of readdirSync(folder)) {
  if (!WRITTEN_BY_HAND.includes(name)) rmSync(join(folder, name));
}
for (const [name, text] of providerPages()) writeFileSync(join(folder, name), text);
