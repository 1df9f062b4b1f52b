import { expect, test } from 'vitest';
import { findConnectionOfGroup } from '../../../../src/domain/connections/connection/connection-of-group.ts';
import { getSharedApp } from '../../../support/app.ts';
import { generateConnection, PROVIDERS } from '../../../support/fixtures/connections.ts';

const app = await getSharedApp({ providers: PROVIDERS });
const { prisma } = app.app.services.database;

test('returns the newest connection with valid credentials, or the newest connection if there is none', async () => {
  const tenant = await app.createTenant();
  const olderConnection = await generateConnection(tenant, {
    apiKey: 'sandbox-key',
    consumerRef: 'ann',
  });
  const newerConnection = await generateConnection(tenant, {
    apiKey: 'sandbox-key',
    consumerRef: 'bob',
  });
  await generateConnection(tenant, { apiKey: 'sandbox-key', provider: 'stripe' });
  await generateConnection(tenant, { apiKey: 'sandbox-key', groupRef: 'other' });
  const group = {
    projectId: tenant.projectId,
    provider: 'sandbox',
    groupId: olderConnection.group.id,
  };
  const setBadCredentials = (id: string) =>
    prisma.connection.updateMany({ where: { id }, data: { status: 'BAD_CREDENTIALS' } });

  expect((await findConnectionOfGroup(prisma, group))?.id).toBe(newerConnection.id);
  await setBadCredentials(newerConnection.id);
  expect((await findConnectionOfGroup(prisma, group))?.id).toBe(olderConnection.id);
  await setBadCredentials(olderConnection.id);
  expect((await findConnectionOfGroup(prisma, group))?.id).toBe(newerConnection.id);
  const groupWithoutConnection = { ...group, provider: 'slack' };
  expect(
    await prisma.$transaction((tx) => findConnectionOfGroup(tx, groupWithoutConnection)),
  ).toBeNull();
});
