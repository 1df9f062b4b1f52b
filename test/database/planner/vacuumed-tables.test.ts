/**
 * If PostgreSQL vacuumed a table but never analyzed it, its planner assumes that each project has one row. Even then,
 * no statement may join all rows. The embedded database has the same planner and gets the same statements.
 *
 * @module-tag all/rows
 */
import { beforeAll, describe, expect, test } from 'vitest';
import { startDueReads } from '../../../src/domain/data/operation/read/schedule.ts';
import { schema } from '../../../src/graphql/schema/schema.ts';
import { getSharedApp, onPostgres } from '../../support/app.ts';
import { fillProject, formatRowId } from '../../support/database/fill.ts';
import { fillOrg } from '../../support/database/filled-org.ts';
import { toQuery } from '../../support/database/query.ts';
import { countRowsRead } from '../../support/database/rows-read.ts';
import { listStoredNodeTypes, selectItem } from '../../support/fuzz/query-shapes.ts';

const ROW_COUNTS = { few: 14, connections: 196, installations: 196, operations: 400, events: 400 };
/**
 * Allows every row to be read once for each node. A join of all installations with their configs reads twice as many.
 */
const ROWS_MAX = 50 * ROW_COUNTS.operations;
const NODE_COUNT = 5;

describe.runIf(onPostgres)('after a vacuum', async () => {
  const app = await getSharedApp();
  const { services } = app.app;
  const query = toQuery(services.database);
  const tables = (
    await query<{ name: string }>(
      `select relname as "name" from pg_class where relkind = 'r' and relnamespace = 'public'::regnamespace`,
      [],
    )
  ).map(({ name }) => name);
  for (const table of tables) {
    await query(`alter table "${table}" set (autovacuum_enabled = off)`, []);
  }
  const { projectId, run } = await fillOrg(app, 2);

  beforeAll(async () => {
    await fillProject({ ...services, query }, { projectId, number: 0 }, ROW_COUNTS);
    // Autovacuum may have analyzed a table before it was turned off.
    await query(
      'delete from pg_statistic where starelid in (select oid from pg_class where relnamespace = current_schema()::regnamespace)',
      [],
    );
    await query('vacuum', []);
    const analyzed = await query(
      'select distinct tablename from pg_stats where schemaname = current_schema()',
      [],
    );
    expect(analyzed).toEqual([]);
  });

  async function expectFewRows(work: () => Promise<unknown>) {
    const counts = await countRowsRead(work, tables);
    const largest = counts.reduce((most, count) => (count.rows > most.rows ? count : most));
    expect(largest.rows, `${largest.mode}: ${largest.text}`).toBeLessThan(ROWS_MAX);
  }

  test.each(
    listStoredNodeTypes(schema),
  )('reads all relations of $name with indexes', async (type) => {
    const { name } = type;
    const table = name === 'ConnectedAccount' ? 'Connection' : name;
    const rows = await query<{ id: string }>(
      `select "id" from "${table}" order by "id" desc limit ${NODE_COUNT}`,
      [],
    );
    const ids = JSON.stringify(rows.map(({ id }) => id));
    await expectFewRows(() =>
      run(`query Nodes { nodes(ids: ${ids}) { ... on ${name} { ${selectItem(type, 2)} } } }`),
    );
  });

  test('reads the rows of a due read with indexes', async () => {
    const setDue = `update "InstalledObject" set "nextReadTime" = now() - interval '1 hour' where "installationId" = any($1)`;
    const clearDue = `update "InstalledObject" set "nextReadTime" = null`;
    await query(clearDue, []);
    await query(setDue, [
      Array.from({ length: NODE_COUNT }, (_, index) => formatRowId('ins', 0, index)),
    ]);
    await expectFewRows(() => startDueReads(services));
  });
});
