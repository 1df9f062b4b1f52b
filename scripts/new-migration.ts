/** Writes the migration that schema.prisma needs: `npm run migration -- <name-in-kebab-case>`. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { answerHelp } from '../src/commands/usage.ts';
import { createSchemaDiff } from './schema-diff.ts';

const USAGE = 'Usage: npm run migration -- <name>, of small letters, digits and dashes';

answerHelp(USAGE);
const name = process.argv[2]?.replaceAll('-', '_');
if (!name || process.argv.length > 3 || !/^[a-z0-9]+(_[a-z0-9]+)*$/.test(name)) {
  console.error(USAGE);
  process.exit(2);
}

const sql = await createSchemaDiff();
if (sql === '') {
  console.log('The migrations already agree with schema.prisma.');
  process.exit(0);
}

// Pages and cursors rely on ids being compared byte by byte, whatever the locale of the database.
const collated = sql.replaceAll(/"(id|\w+Id)" TEXT/g, '"$1" TEXT COLLATE "C"');
const time = new Date().toISOString().replaceAll(/\D/g, '').slice(0, 14);
const folder = join(import.meta.dirname, '..', 'migrations', `${time}_${name}`);
mkdirSync(folder, { recursive: true });
writeFileSync(join(folder, 'migration.sql'), collated);
console.log(`Wrote ${folder}/migration.sql: read it before you commit it.`);
