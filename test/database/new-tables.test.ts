/** The planner knows a new table's rows before autovacuum looks. */
import { expect, test } from 'vitest';
import { analyzeNewTables } from '../../src/database/postgres/new-tables.ts';
import { newId } from '../../src/ids.ts';
import { createLog } from '../../src/log.ts';
import { onCitus, onPostgres, testDatabase } from '../support/app.ts';

const ROWS = 300;
const TABLE = 'public."Delivery"';

test.runIf(onPostgres && !onCitus)(
  'a look-up by key walks its key, and not all of the project, as soon as a table has rows',
  async () => {
    await using database = await testDatabase(createLog('silent'));
    const { prisma, rows } = database;
    const org = await prisma.org.create({ data: { id: newId('org'), label: 'org' } });
    const named = { id: newId('prj'), orgId: org.id, name: 'project', appName: 'app' };
    const { id: projectId } = await prisma.project.create({ data: named });
    expect(await analyzeNewTables(rows.query)).not.toContain(TABLE);
    const about = { projectId, destinationId: newId('dst') };
    await prisma.delivery.createMany({
      data: Array.from({ length: ROWS }, () => ({
        ...about,
        id: newId('dlv'),
        eventType: 'CONNECTION_CREATED' as const,
        body: '{}',
      })),
    });
    // PostgreSQL counts rows a moment after their commit.
    await expect.poll(() => analyzeNewTables(rows.query)).toContain(TABLE);
    expect(await analyzeNewTables(rows.query)).not.toContain(TABLE);
    const plan = await prisma.$queryRaw`
      explain select 1 from "Delivery" where "projectId" = ${projectId} and "id" = ${newId('dlv')}`;
    expect(JSON.stringify(plan)).toContain('Delivery_pkey');
  },
);
