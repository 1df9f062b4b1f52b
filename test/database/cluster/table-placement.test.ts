import { expect, test } from 'vitest';
import { PLACEMENTS } from '../../../src/database/cluster/table-placement.ts';
import { Prisma } from '../../../src/database/generated/client.ts';
import { createTestDatabase } from '../../support/app.ts';
import { queryRows } from '../../support/database/query.ts';

const LOCAL_TABLES: Prisma.ModelName[] = [
  'Builder',
  'ConsoleSession',
  'OrgMember',
  'BillingAccount',
  'Invite',
  'ClaimedDomain',
  'CallerRate',
  'SandboxLease',
  'ServerProcess',
];

test('keeps only the listed tables on the coordinator', () => {
  const tables = Object.values(Prisma.ModelName);
  expect([...PLACEMENTS.keys()].toSorted()).toEqual(tables.toSorted());
  const localTables = tables.filter((table) => PLACEMENTS.get(table) === 'local');
  expect(localTables.toSorted()).toEqual(LOCAL_TABLES.toSorted());
  expect(PLACEMENTS.get('Delivery')).toBe('distributed');
  expect(PLACEMENTS.get('Project')).toBe('reference');
});

test('requires projectId in every unique key of a distributed table', async () => {
  await using database = await createTestDatabase();
  const keys = await queryRows<{ table: string; columns: string[] }>(
    database,
    `select c.relname as "table", array_agg(a.attname::text) as "columns"
     from pg_index i join pg_class c on c.oid = i.indrelid
     join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey)
     where i.indisunique and c.relnamespace = 'public'::regnamespace and c.relname <> '_prisma_migrations'
     group by i.indexrelid, c.relname`,
    [],
  );
  const keysWithoutProject = keys.filter(
    ({ table, columns }) =>
      PLACEMENTS.get(table) === 'distributed' && !columns.includes('projectId'),
  );
  expect(keys.length).toBeGreaterThan(PLACEMENTS.size / 2);
  expect(keysWithoutProject).toEqual([]);
});
