import { expect, test } from 'vitest';
import { createSchemaDiff } from '../../../scripts/schema-diff.ts';
import { listMigrations } from '../../../src/database/migrate/migrate.ts';
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

test.skipIf(onPostgres)('stores accounts in lower case if their vendor ignores case', async () => {
  const database = await openUnmigratedPglite();
  const [firstMigration, ...laterMigrations] = listMigrations();
  await database.exec(firstMigration?.sql ?? '');
  await database.exec(`set session_replication_role = 'replica';
    insert into "ObjectSubscription" ("projectId", "installationId", "objectName", "provider", "connectionId", "account")
    values ('p', 'a', 'issues', 'github', 'c', 'Octo-Corp'), ('p', 'b', 'orders', 'shopify', 'c', 'My-Store.myshopify.com'),
      ('p', 'c', 'customers', 'stripe', 'c', 'acct_1aB'), ('p', 'd', 'issues', 'github', 'c', null);
    reset session_replication_role`);
  for (const { sql } of laterMigrations) await database.exec(sql);
  const { rows } = await database.query(
    'select "account" from "ObjectSubscription" order by "installationId"',
  );
  expect(rows.map((row) => (row as { account: string | null }).account)).toEqual([
    'octo-corp',
    'my-store.myshopify.com',
    'acct_1aB',
    null,
  ]);
  await database.close();
});
