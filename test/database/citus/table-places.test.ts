import { expect, test } from 'vitest';
import { placeOf, tablesToPlace } from '../../../src/database/citus/table-places.ts';
import { Prisma } from '../../../src/database/generated/client.ts';
import { testDatabase } from '../../support/app.ts';

const TABLES = Object.values(Prisma.ModelName);

test('each table has a place, and who has none is named', () => {
  const places = new Map(TABLES.map((table) => [table, placeOf(table)]));
  expect(places.get('Delivery')).toBe('distributed');
  expect(places.get('Project')).toBe('reference');
  expect(places.get('Builder')).toBe('local');
  const toPlace = tablesToPlace();
  expect(new Set(toPlace).size).toBe(toPlace.length);
  expect(toPlace.toSorted()).toEqual(
    TABLES.filter((table) => placeOf(table) !== 'local').toSorted(),
  );
});

test("every unique key of a distributed table has the project's id", async () => {
  await using database = await testDatabase();
  const keys = await database.rows.query<{ table: string; columns: string[] }>(
    `select c.relname as "table", array_agg(a.attname::text) as "columns"
     from pg_index i join pg_class c on c.oid = i.indrelid
     join pg_attribute a on a.attrelid = c.oid and a.attnum = any(i.indkey)
     where i.indisunique and c.relnamespace = 'public'::regnamespace and c.relname <> '_prisma_migrations'
     group by i.indexrelid, c.relname`,
    [],
  );
  const apart = keys.filter(
    ({ table, columns }) =>
      placeOf(table as Prisma.ModelName) === 'distributed' && !columns.includes('projectId'),
  );
  expect(keys.length).toBeGreaterThan(TABLES.length / 2);
  expect(apart).toEqual([]);
});
