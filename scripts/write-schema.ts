/** Writes schema.graphql, the schema as served: `npm run schema`. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { lexicographicSortSchema, printSchema } from 'graphql';
import { refuseArguments } from '../src/commands/usage.ts';
import { schema } from '../src/graphql/schema/schema.ts';

refuseArguments('Usage: npm run schema');

const path = join(import.meta.dirname, '..', 'schema.graphql');
writeFileSync(path, `${printSchema(lexicographicSortSchema(schema))}\n`);
