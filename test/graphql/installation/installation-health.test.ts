import { expect, test } from 'vitest';
import { newId } from '../../../src/ids.ts';
import { sharedApp } from '../../support/app.ts';
import { insertRows } from '../../support/database/rows.ts';
import { PROVIDERS } from '../../support/scenes/connections.ts';
import { installFor, integrate } from '../../support/scenes/integrations.ts';

const app = await sharedApp({ providers: PROVIDERS });
const insert = insertRows(app);
const { prisma } = app.app.services.database;

async function installed() {
  const tenant = await app.tenant();
  const { projectId } = tenant;
  const { id: installationId, connection } = await installFor(tenant, await integrate(app, tenant));
  return {
    connection,
    operations: async (...statuses: ('IN_PROGRESS' | 'SUCCESS' | 'FAILURE')[]) => {
      const rows = statuses.map((status) => ({
        id: newId('opr'),
        projectId,
        installationId,
        status,
      }));
      await insert.operations(rows);
      return rows.map(({ id }) => id);
    },
    look: async () => {
      const { node } = await tenant.query(
        `query ($id: ID!) { node(id: $id) { ... on Installation {
          healthStatus lastOperation { id }
        } } }`,
        { id: installationId },
      );
      return node;
    },
  };
}

test('the last operation is the newest of the installation', async () => {
  const { operations, look } = await installed();
  const other = await installed();
  const ids = await operations('SUCCESS', 'IN_PROGRESS');
  await other.operations('FAILURE');
  expect(await look()).toEqual({ healthStatus: 'HEALTHY', lastOperation: { id: ids[1] } });
});

test.each([
  ['HEALTHY', ['FAILURE', 'FAILURE']],
  ['HEALTHY', ['FAILURE', 'SUCCESS', 'FAILURE', 'FAILURE']],
  ['HEALTHY', ['FAILURE', 'FAILURE', 'FAILURE', 'SUCCESS']],
  ['UNHEALTHY', ['FAILURE', 'FAILURE', 'FAILURE']],
  ['UNHEALTHY', ['SUCCESS', 'FAILURE', 'FAILURE', 'FAILURE', 'IN_PROGRESS']],
] as const)('%s after %j: three operations that ended in a row count', async (health, statuses) => {
  const { operations, look } = await installed();
  await operations(...statuses);
  expect((await look()).healthStatus).toBe(health);
});

test('an installation with bad credentials is unhealthy', async () => {
  const { connection, operations, look } = await installed();
  await operations('SUCCESS');
  await prisma.connection.update({
    where: { id: connection.id },
    data: { status: 'BAD_CREDENTIALS' },
  });
  expect((await look()).healthStatus).toBe('UNHEALTHY');
});
