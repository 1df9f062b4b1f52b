/** Compares schema.prisma with the migrations, to write the next migration and to test that none is missing. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { PGlite } from '@electric-sql/pglite';
import { bindMigrationAwareSqlAdapterFactory } from '@prisma/driver-adapter-utils';
import { SchemaEngine } from '@prisma/schema-engine-wasm';
import { PrismaPGlite } from 'pglite-prisma-adapter';

const root = join(import.meta.dirname, '..');

/**
 * Returns the SQL that a database with all migrations needs to match schema.prisma. Empty if it needs none. The migrations
 * run in an empty database, which this function closes.
 */
export async function createSchemaDiff(
  openEmpty: () => Promise<PGlite> = () => PGlite.create(),
): Promise<string> {
  await using database = await openEmpty();
  const adapters = new PrismaPGlite(database);
  const schemaFile = {
    path: 'schema.prisma',
    content: readFileSync(join(root, 'schema.prisma'), 'utf8'),
  };
  const engine = await SchemaEngine.new(
    { datamodels: [[schemaFile.path, schemaFile.content]] },
    () => {},
    // The engine runs the migrations in a second database. The first one is empty, so it serves as both.
    bindMigrationAwareSqlAdapterFactory(
      Object.assign(adapters, { connectToShadowDb: () => adapters.connect() }),
    ),
  );
  const { stdout } = await engine.diff({
    from: { tag: 'migrations', ...listMigrations() },
    to: { tag: 'schemaDatamodel', files: [schemaFile] },
    script: true,
    exitCode: null,
    filters: { externalTables: [], externalEnums: [] },
  });
  const sql = stdout ?? '';
  return sql.includes('empty migration') ? '' : sql;
}

function listMigrations() {
  const baseDir = join(root, 'migrations');
  const names = readdirSync(baseDir, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
    .sort();
  return {
    baseDir,
    lockfile: { path: 'migration_lock.toml', content: 'provider = "postgresql"\n' },
    shadowDbInitScript: '',
    migrationDirectories: names.map((path) => ({
      path,
      migrationFile: {
        path: 'migration.sql',
        content: {
          tag: 'ok' as const,
          value: readFileSync(join(baseDir, path, 'migration.sql'), 'utf8'),
        },
      },
    })),
  };
}
