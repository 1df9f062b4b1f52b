/** The planner knows a new table's rows before autovacuum looks. */
import { expect, test } from 'vitest';
import { analyzeNewTables, NEW_TABLE_DUE } from '../../src/database/postgres/new-tables.ts';
import { createLog } from '../../src/log.ts';
import { onCitus, onPostgres, testDatabase } from '../support/app.ts';

const TABLE = 'public."Fresh"';

test.runIf(onPostgres && !onCitus)('a new table is analyzed once it has rows', async () => {
  await using database = await testDatabase(createLog('silent'));
  const { query } = database.rows;
  const known = async () => {
    const text = `select n_distinct::int as "count" from pg_stats where tablename = 'Fresh' and attname = 'projectId'`;
    return query(text, []);
  };
  await query('create table "Fresh" ("projectId" text, "id" text)', []);
  expect(await analyzeNewTables(query)).not.toContain(TABLE);
  await query(`insert into "Fresh" select 'prj', n::text from generate_series(1, 300) n`, []);
  // PostgreSQL counts rows a moment after their commit.
  await expect.poll(() => query(NEW_TABLE_DUE, [])).toHaveLength(1);
  await expect.poll(() => analyzeNewTables(query)).toContain(TABLE);
  expect(await known()).toEqual([{ count: 1 }]);
  expect(await analyzeNewTables(query)).not.toContain(TABLE);
  await query('drop table "Fresh"', []);
});
