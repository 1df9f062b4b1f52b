/**
 * Counts the database statements of each list. A long page must take as many statements as a short one.
 *
 * @module-tag all/walk
 */
import { expect, test } from 'vitest';
import { ENDPOINTS } from '../../src/rest/endpoints.ts';
import { getSharedApp } from '../support/app.ts';
import { fillProject, formatRowId } from '../support/database/fill.ts';
import { toQuery } from '../support/database/query.ts';
import { CALLER_STATEMENTS, recordStatements } from '../support/database/statements.ts';
import { createRestTenant } from '../support/rest/rest-client.ts';

const SHORT_PAGE = 2;
const LONG_PAGE = 9;
/** More rows than a page of either size. */
const FEW_ROWS = LONG_PAGE + 2;
const MANY_ROWS = FEW_ROWS * FEW_ROWS * FEW_ROWS;

const app = await getSharedApp();
const { services } = app.app;
const rest = await createRestTenant(app);
await fillProject(
  { ...services, query: toQuery(services.database) },
  { projectId: rest.tenant.projectId, number: 0 },
  {
    few: FEW_ROWS,
    connections: FEW_ROWS * FEW_ROWS,
    installations: FEW_ROWS * FEW_ROWS,
    operations: MANY_ROWS,
    events: MANY_ROWS,
  },
);

const installation = await services.database.prisma.installation.findFirstOrThrow({
  where: { id: formatRowId('ins', 0, FEW_ROWS * FEW_ROWS - 1) },
});

/** Parents with many rows of the list. */
const PARENT_IDS: Record<string, string> = {
  projectIdOrName: rest.tenant.projectId,
  orgId: rest.tenant.orgId,
  integrationId: installation.integrationId,
  installationId: installation.id,
  connectionId: formatRowId('con', 0, 0),
  operationId: formatRowId('opr', 0, MANY_ROWS - 1),
  destination: formatRowId('dst', 0, 0),
  eventId: formatRowId('evt', 0, 0),
};

const lists = ENDPOINTS.filter(({ partSchemas: { query } }) => query && 'pageSize' in query.shape)
  .filter(({ path }) => path.includes('{projectIdOrName}'))
  .map(({ id, path }) => [
    id,
    path.replace(/\{(\w+)\}/g, (_all, name: string) => PARENT_IDS[name] ?? name),
  ]);

/** Lists that have too few rows for a long page. */
const NEVER_LONG = ['listEventDeliveries', 'listApiKeys'];

test.each(
  lists,
)('%s takes as many statements for a long page as for a short one', async (id, path) => {
  await rest.get(`${path}?pageSize=1`);
  const readPage = async (size: number) => {
    const { result, statements } = await recordStatements(() =>
      rest.get(`${path}?pageSize=${size}`),
    );
    const texts = statements
      .map(({ text }) => text)
      .filter((text) => !CALLER_STATEMENTS.test(text));
    return { rows: result.results ?? result, texts };
  };
  const [short, long] = [await readPage(SHORT_PAGE), await readPage(LONG_PAGE)];
  if (!NEVER_LONG.includes(String(id))) expect(long.rows).toHaveLength(LONG_PAGE);
  expect(long.texts.length, long.texts.join('\n')).toBe(short.texts.length);
});
