/** Writes docs/provider.schema.json and docs/providers/document.md: `npm run provider:schema`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { refuseArguments } from '../../src/commands/usage.ts';
import { createProviderReference } from './provider-reference.ts';
import { createProviderSchema } from './provider-schema.ts';

refuseArguments('Usage: npm run provider:schema');
const docs = join(import.meta.dirname, '..', '..', 'docs');
writeFileSync(join(docs, 'provider.schema.json'), createProviderSchema());
writeFileSync(join(docs, 'providers', 'document.md'), createProviderReference());
