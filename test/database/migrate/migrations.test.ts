import { expect, test } from 'vitest';
import { createSchemaDiff } from '../../../scripts/schema-diff.ts';
import { createTestDatabase, onPostgres } from '../../support/app.ts';
import { openUnmigratedPglite } from '../../support/database/embedded/embedded-databases.ts';
import { queryRows } from '../../support/database/query.ts';

// Creates the schema on the embedded database in either run.
test.skipIf(onPostgres)(
  'creates the schema that schema.prisma describes',
  { tags: ['all/rows'] },
  async () => {
    expect(await createSchemaDiff(openUnmigratedPglite)).toBe('');
  },
);

test('compares ids byte by byte', async () => {
  await using database = await createTestDatabase();
  const columns = await queryRows<{ name: string }>(
    database,
    `select table_name || '.' || column_name as name from information_schema.columns
     where table_schema = 'public' and table_name <> '_prisma_migrations' and data_type = 'text'
       and (column_name = 'id' or column_name like '%Id') and collation_name is distinct from 'C'`,
    [],
  );
  expect(columns).toEqual([]);
});
