/** Reads outside the read layer hide the rows of a group or a consumer that is being erased, too. */
import { expect, test } from 'vitest';
import { inTransaction } from '../../../src/database/transactions/transaction.ts';
import { iterateInstallations } from '../../../src/domain/integrations/installation/check/revision-impacts.ts';
import { describeReadsOfObjects } from '../../../src/domain/integrations/installation/installed-object-revision.ts';
import { beginErasure } from '../../../src/domain/upkeep/erasure.ts';
import { getSharedApp } from '../../support/app.ts';
import { insertRows } from '../../support/database/insert-rows.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import { createEndUser } from '../../support/fixtures/end-users.ts';
import { createInstallation, createIntegration } from '../../support/fixtures/integrations.ts';

const app = await getSharedApp();
const { services } = app.app;
const { database } = services;
const insert = insertRows(app);

/** Begins an erasure, whose rows remain because no worker runs. */
async function hide(projectId: string, id: string): Promise<void> {
  await inTransaction(database, (tx) => beginErasure(tx, { projectId, id }));
  await services.erasedSubjects.refresh();
}

test('retryDelivery does not find a delivery of a hidden group', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const { group, consumer } = await generateConnection(tenant, { apiKey: 'sandbox-key' });
  const { id } = await insert.delivery({ projectId, groupId: group.id, consumerId: consumer.id });
  await hide(projectId, group.id);
  const retry =
    'mutation Retry($input: RetryDeliveryInput!) { retryDelivery(input: $input) { delivery { id } } }';
  const input = { projectIdOrName: projectId, deliveryId: id };
  expect(await tenant.expectRefusal(retry, { input })).toMatchObject({ code: 'NOT_FOUND' });
});

test('an end user does not see a hidden consumer of the group', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const parties = { groupRef: 'g', consumerRef: 'viewer' };
  const { consumer } = await generateConnection(tenant, {
    apiKey: 'sandbox-key',
    groupRef: 'g',
    consumerRef: 'other',
  });
  const endUser = await createEndUser(app, tenant, parties);
  const readConsumer = () =>
    endUser.query('query Read($id: ID!) { node(id: $id) { id } }', { id: consumer.id });
  expect(await readConsumer()).toEqual({ node: { id: consumer.id } });
  await hide(projectId, consumer.id);
  expect(await readConsumer()).toEqual({ node: null });
});

test('a new revision does not report installations of a hidden group', async () => {
  const tenant = await app.createTenant();
  const { projectId } = tenant;
  const integration = await createIntegration(app, tenant);
  const { group, id: connectionId } = await generateConnection(tenant, { apiKey: 'sandbox-key' });
  await createInstallation(tenant, { groupRef: group.groupRef, connectionId });
  const key = { projectId, integrationId: integration.id };
  const countReported = async () => ({
    installations: (await Array.fromAsync(iterateInstallations(database.prisma, key))).flat()
      .length,
    reads: (await describeReadsOfObjects(database.prisma, key, ['contacts'])).length,
  });
  expect(await countReported()).toEqual({ installations: 1, reads: 1 });
  await hide(projectId, group.id);
  expect(await countReported()).toEqual({ installations: 0, reads: 0 });
});
