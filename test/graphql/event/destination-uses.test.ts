import { expect, test } from 'vitest';
import { sharedApp, type Tenant } from '../../support/app.ts';
import { PROVIDERS } from '../../support/scenes/connections.ts';
import {
  CREATE_INTEGRATION,
  CREATE_REVISION,
  contentFor,
  insertDestination,
  installFor,
  integrate,
  integrationInput,
  revisionOf,
  UPDATE_INSTALLATION,
} from '../../support/scenes/integrations.ts';

const app = await sharedApp({ providers: PROVIDERS });
const { prisma } = app.app.services.database;

const rename = `mutation ($input: UpdateDestinationInput!) {
  updateDestination(input: $input) { destination { name } }
}`;
const remove = `mutation ($input: DeleteDestinationInput!) {
  deleteDestination(input: $input) { deletedId }
}`;

async function named(tenant: Tenant, name: string) {
  const where = { projectId_name: { projectId: tenant.projectId, name } };
  const { id: destinationId } = await prisma.destination.findUniqueOrThrow({ where });
  return { projectIdOrName: tenant.projectId, destinationId };
}

async function refusals(tenant: Tenant, name: string) {
  const input = await named(tenant, name);
  const found = await tenant.refusal(rename, { input: { ...input, name: 'other' } });
  const refused = await tenant.refusal(remove, { input });
  const { instance } = refused.problem;
  expect(refused).toEqual({ ...found, problem: { ...found.problem, instance } });
  return found;
}

test('a destination that a latest revision names is neither renamed nor deleted', async () => {
  const tenant = await app.tenant();
  await integrate(app, tenant, contentFor('crm'));
  const { code, problem } = await refusals(tenant, 'records');
  expect(code).toBe('CONFLICT');
  expect(problem.detail).toContain('integration crm');
});

test('one that only subscribed events name is used too; an earlier revision does not count', async () => {
  const tenant = await app.tenant();
  await insertDestination(app, tenant, 'events');
  const subscribe = {
    objects: [{ objectName: 'contacts', destination: 'events', otherEvents: ['merged'] }],
  };
  await integrate(app, tenant, contentFor('crm', { subscribe }));
  expect(await refusals(tenant, 'events')).toMatchObject({ code: 'CONFLICT' });
  const revision = revisionOf(contentFor('crm'));
  const change = { projectIdOrName: tenant.projectId, integrationIdOrName: 'crm', revision };
  await tenant.query(CREATE_REVISION, { input: change });
  const input = await named(tenant, 'events');
  expect(await tenant.query(remove, { input })).toMatchObject({
    deleteDestination: { deletedId: input.destinationId },
  });
});

test('one that a config in force names is used; one of an earlier config is free', async () => {
  const tenant = await app.tenant();
  await insertDestination(app, tenant, 'special');
  const config = { read: [{ objectName: 'contacts', destination: 'special' }] };
  const { id } = await installFor(tenant, await integrate(app, tenant), { config });
  const { code, problem } = await refusals(tenant, 'special');
  expect(code).toBe('CONFLICT');
  expect(problem.detail).toContain(`installation ${id}`);
  await tenant.query(UPDATE_INSTALLATION, {
    input: { projectIdOrName: tenant.projectId, installationId: id, config: {} },
  });
  const input = { ...(await named(tenant, 'special')), name: 'renamed' };
  expect(await tenant.query(rename, { input })).toEqual({
    updateDestination: { destination: { name: 'renamed' } },
  });
});

test("another project's destination of the same name is free", async () => {
  const [a, b] = [await app.tenant(), await app.tenant()];
  await integrate(app, a);
  await insertDestination(app, b);
  const input = await named(b, 'records');
  expect(await b.query(remove, { input })).toMatchObject({ deleteDestination: {} });
});

test('a destination is never deleted while an integration comes to name it', async () => {
  const tenant = await app.tenant();
  for (let round = 0; round < 5; round += 1) {
    const name = `round-${round}`;
    await insertDestination(app, tenant, name);
    const read = { objects: [{ objectName: 'contacts', destination: name }] };
    const input = await named(tenant, name);
    const answers = await Promise.all([
      tenant.request(CREATE_INTEGRATION, integrationInput(tenant, contentFor(name, { read }))),
      tenant.request(remove, { input }),
    ]);
    expect(answers.filter(({ errors }) => errors)).toHaveLength(1);
  }
});
