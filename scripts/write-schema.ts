/** Writes schema.graphql, the schema as served, and docs/scopes.md: `npm run schema`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { refuseArguments } from '../src/commands/usage.ts';
import { schema } from '../src/graphql/schema/schema.ts';
import { formatScopesPage } from './scopes-page.ts';

refuseArguments('Usage: npm run schema');

const root = join(import.meta.dirname, '..');
const text = printSchema(lexicographicSortSchema(schema));
writeFileSync(join(root, 'schema.graphql'), `${text}\n`);
writeFileSync(join(root, 'docs/scopes.md'), formatScopesPage());
