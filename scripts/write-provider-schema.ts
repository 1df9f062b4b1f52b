/** Writes docs/provider.schema.json: `npm run provider:schema`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { refuseArguments } from '../src/commands/usage.ts';
import { createProviderSchema } from './provider-schema.ts';

refuseArguments('Usage: npm run provider:schema');
writeFileSync(
  join(import.meta.dirname, '..', 'docs', 'provider.schema.json'),
  createProviderSchema(),
);
