/** Writes docs/providers/ from the declarations: `npm run provider:pages`. */
import { mkdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { providerPages } from './provider-pages.ts';

const folder = join(import.meta.dirname, '..', 'docs', 'providers');
rmSync(folder, { recursive: true, force: true });
mkdirSync(folder, { recursive: true });
for (const [name, text] of providerPages()) writeFileSync(join(folder, name), text);
