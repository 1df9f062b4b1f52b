import { expect, test } from 'vitest';
import {
  getPlacement,
  listTablesToDistribute,
} from '../../../src/database/citus/table-placement.ts';
import { Prisma } from '../../../src/database/generated/client.ts';
import { createTestDatabase } from '../../support/app.ts';

const TABLES = Object.values(Prisma.ModelName);

test('assigns each table one placement', () => {
  const placements = new Map(TABLES.map((table) => [table, getPlacement(table)]));
  expect(placements.get('Delivery')).toBe('distributed');
  expect(placements.get('Project')).toBe('reference');
  expect(placements.get('Builder')).toBe('local');
  const tables = listTablesToDistribute();
  expect(new Set(tables).size).toBe(tables.length);
  expect(tables.toSorted()).toEqual(
    TABLES.filter((table) => getPlacement(table) !== 'local').toSorted(),
  );
});

test('requires projectId in every unique key of a distributed table', async () => {
  await using database = await createTestDatabase();
  const keys = await database.rows.query<{ table: string; columns: string[] }>(
    `select c.relname as "table", array_agg(a.attname::text) as "columns"
     from pg_index i join pg_class c on c.oid = i.indrelid
     join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey)
     where i.indisunique and c.relnamespace = 'public'::regnamespace and c.relname <> '_prisma_migrations'
     group by i.indexrelid, c.relname`,
    [],
  );
  const keysWithoutProject = keys.filter(
    ({ table, columns }) =>
      getPlacement(table as Prisma.ModelName) === 'distributed' && !columns.includes('projectId'),
  );
  expect(keys.length).toBeGreaterThan(TABLES.length / 2);
  expect(keysWithoutProject).toEqual([]);
});
