/**
 * Tables that have grown are analyzed before autovacuum analyzes them.
 *
 * @module-tag all/rows
 */
import { expect, test } from 'vitest';
import {
  analyzeOutgrownTables,
  OUTGROWN_TABLE_DUE,
} from '../../../src/database/statements/outgrown-tables.ts';
import { createLog } from '../../../src/kernel/log.ts';
import { createTestDatabase, onCitus, onPostgres } from '../../support/app.ts';
import { toQuery } from '../../support/database/query.ts';

const TABLE = 'public."Fresh"';

test.runIf(onPostgres && !onCitus)(
  'analyzes a table when it gets its first rows, and when it outgrows its statistics',
  async () => {
    await using database = await createTestDatabase(createLog('silent'));
    const query = toQuery(database);
    const readStatistics = async () => {
      const text = `select n_distinct::int as "count" from pg_stats where tablename = 'Fresh' and attname = 'projectId'`;
      return query(text, []);
    };
    const readChangeCount = async () => {
      const text = `select n_mod_since_analyze::int as "count" from pg_stat_user_tables where relname = 'Fresh'`;
      const [row] = await query<{ count: number }>(text, []);
      return row?.count;
    };
    // Autovacuum would run at an unpredictable time.
    const autovacuumOff = 'with (autovacuum_enabled = false)';
    await query(`create table "Fresh" ("projectId" text, "id" text) ${autovacuumOff}`, []);
    expect(await analyzeOutgrownTables(database)).not.toContain(TABLE);
    await query(`insert into "Fresh" select 'prj', n::text from generate_series(1, 300) n`, []);
    // PostgreSQL updates its counts shortly after the commit.
    await expect.poll(() => query(OUTGROWN_TABLE_DUE, [])).toHaveLength(1);
    // A vacuum records only the number of rows.
    await query('vacuum "Fresh"', []);
    expect(await readStatistics()).toEqual([]);
    await expect.poll(() => analyzeOutgrownTables(database)).toContain(TABLE);
    expect(await readStatistics()).toEqual([{ count: 1 }]);
    expect(await analyzeOutgrownTables(database)).not.toContain(TABLE);

    await query(
      `insert into "Fresh" select 'prj' || n, n::text from generate_series(301, 500) n`,
      [],
    );
    await expect.poll(readChangeCount).toBe(200);
    expect(await analyzeOutgrownTables(database)).not.toContain(TABLE);
    await query('update "Fresh" set "id" = "id"', []);
    await expect.poll(readChangeCount).toBe(700);
    expect(await analyzeOutgrownTables(database)).not.toContain(TABLE);
    await query(
      `insert into "Fresh" select 'prj' || n, n::text from generate_series(501, 700) n`,
      [],
    );
    await expect.poll(() => analyzeOutgrownTables(database)).toContain(TABLE);
    expect(await readChangeCount()).toBe(0);
    await query('drop table "Fresh"', []);
  },
);
