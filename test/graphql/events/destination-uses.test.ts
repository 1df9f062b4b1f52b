import { expect, test } from 'vitest';
import { getSharedApp, type Tenant } from '../../support/app.ts';
import { PROVIDERS } from '../../support/fixtures/connections.ts';
import {
  CREATE_INTEGRATION,
  CREATE_REVISION,
  connectAndInstall,
  createIntegration,
  createIntegrationContent,
  createIntegrationVariables,
  insertDestination,
  toRevision,
  UPDATE_INSTALLATION,
} from '../../support/fixtures/integrations.ts';

const app = await getSharedApp({ providers: PROVIDERS });
const { prisma } = app.app.services.database;

const RENAME_DESTINATION = `mutation UpdateDestination($input: UpdateDestinationInput!) {
  updateDestination(input: $input) { destination { name } }
}`;
const DELETE_DESTINATION = `mutation DeleteDestination($input: DeleteDestinationInput!) {
  deleteDestination(input: $input) { deletedId }
}`;

async function findDestinationKey(tenant: Tenant, name: string) {
  const where = { projectId_name: { projectId: tenant.projectId, name } };
  const { id: destinationId } = await prisma.destination.findUniqueOrThrow({ where });
  return { projectIdOrName: tenant.projectId, destinationId };
}

/** Returns the error of a rename, and expects the same error of a deletion. */
async function expectSameRefusal(tenant: Tenant, name: string) {
  const input = await findDestinationKey(tenant, name);
  const renameRefusal = await tenant.expectRefusal(RENAME_DESTINATION, {
    input: { ...input, name: 'other' },
  });
  const deletionRefusal = await tenant.expectRefusal(DELETE_DESTINATION, { input });
  const { instance } = deletionRefusal.problem;
  expect(deletionRefusal).toEqual({
    ...renameRefusal,
    problem: { ...renameRefusal.problem, instance },
  });
  return renameRefusal;
}

test('refuses to rename or delete a destination that a latest revision names', async () => {
  const tenant = await app.createTenant();
  await createIntegration(app, tenant, createIntegrationContent('crm'));
  const { code, problem } = await expectSameRefusal(tenant, 'records');
  expect(code).toBe('CONFLICT');
  expect(problem.detail).toContain('integration crm');
});

test('treats the destination of an event as used while the latest revision subscribes to the event', async () => {
  const tenant = await app.createTenant();
  await insertDestination(app, tenant, 'events');
  const subscribe = {
    objects: [{ objectName: 'contacts', destination: 'events', otherEvents: ['merged'] }],
  };
  await createIntegration(app, tenant, createIntegrationContent('crm', { subscribe }));
  expect(await expectSameRefusal(tenant, 'events')).toMatchObject({ code: 'CONFLICT' });
  const revision = toRevision(createIntegrationContent('crm'));
  const change = { projectIdOrName: tenant.projectId, integrationIdOrName: 'crm', revision };
  await tenant.query(CREATE_REVISION, { input: change });
  const input = await findDestinationKey(tenant, 'events');
  expect(await tenant.query(DELETE_DESTINATION, { input })).toMatchObject({
    deleteDestination: { deletedId: input.destinationId },
  });
});

test('treats the destination of a config as used until the config is replaced', async () => {
  const tenant = await app.createTenant();
  await insertDestination(app, tenant, 'special');
  const config = { read: [{ objectName: 'contacts', destination: 'special' }] };
  const { id } = await connectAndInstall(tenant, await createIntegration(app, tenant), { config });
  const { code, problem } = await expectSameRefusal(tenant, 'special');
  expect(code).toBe('CONFLICT');
  expect(problem.detail).toContain(`installation ${id}`);
  await tenant.query(UPDATE_INSTALLATION, {
    input: { projectIdOrName: tenant.projectId, installationId: id, config: {} },
  });
  const input = { ...(await findDestinationKey(tenant, 'special')), name: 'renamed' };
  expect(await tenant.query(RENAME_DESTINATION, { input })).toEqual({
    updateDestination: { destination: { name: 'renamed' } },
  });
});

test('deletes a destination whose name another project uses', async () => {
  const [tenant, otherTenant] = [await app.createTenant(), await app.createTenant()];
  await createIntegration(app, tenant);
  await insertDestination(app, otherTenant);
  const input = await findDestinationKey(otherTenant, 'records');
  expect(await otherTenant.query(DELETE_DESTINATION, { input })).toMatchObject({
    deleteDestination: {},
  });
});

test('either deletes a destination or accepts an integration that names it, if both happen at the same time', async () => {
  const tenant = await app.createTenant();
  for (let round = 0; round < 5; round += 1) {
    const name = `round-${round}`;
    await insertDestination(app, tenant, name);
    const read = { objects: [{ objectName: 'contacts', destination: name }] };
    const input = await findDestinationKey(tenant, name);
    const responses = await Promise.all([
      tenant.request(
        CREATE_INTEGRATION,
        createIntegrationVariables(tenant, createIntegrationContent(name, { read })),
      ),
      tenant.request(DELETE_DESTINATION, { input }),
    ]);
    expect(responses.filter(({ errors }) => errors)).toHaveLength(1);
  }
});
