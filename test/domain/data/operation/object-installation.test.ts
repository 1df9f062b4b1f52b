/** Finds objects of a group with as many installations as a contract may cover, and with one more. */
import { expect, test } from 'vitest';
import { newId } from '../../../../src/kernel/ids.ts';
import type { Tenant } from '../../../support/app.ts';
import { createAgent, createProposalClient } from '../../../support/fixtures/agents.ts';
import { createEndUser } from '../../../support/fixtures/end-users.ts';
import { createInstallation, createIntegration } from '../../../support/fixtures/integrations.ts';
import {
  createTypedClient,
  installPeople,
  startTypedApi,
} from '../../../support/fixtures/typed-api.ts';
import { connectMcp } from '../../../support/mcp/mcp-client.ts';

const INSTALLATIONS_MAX = 1_000;
const TOO_MANY = `The group acme has more than ${INSTALLATIONS_MAX} installations`;

const app = await startTypedApi();
app.sandbox.seed('contacts', 1);
const { prisma } = app.app.services.database;
const tenant = await app.createTenant();
await installPeople(app, tenant, {
  integration: 'crm',
  provider: 'sandbox',
  groupRef: 'acme',
});
await createIntegration(app, tenant, { name: 'companies', provider: 'sandbox', read: companies() });
await createInstallation(tenant, {
  projectIdOrName: tenant.projectId,
  integrationIdOrName: 'companies',
  groupRef: 'acme',
  config: { read: [{ objectName: 'companies' }] },
});
await copyInstallation(tenant, INSTALLATIONS_MAX - 3);
const agent = await createAgent(app, tenant);
const people = { objectName: 'people', type: 'DELETE', recordId: '1' };

function companies() {
  return {
    objects: [
      { objectName: 'companies', destination: 'records', requiredFields: [], optionalFields: [] },
    ],
  };
}

/** Inserts copies of the integration `companies` and of its installation. */
async function copyInstallation({ projectId }: Tenant, count: number): Promise<void> {
  const integration = await prisma.integration.findFirstOrThrow({
    where: { projectId, name: 'companies' },
  });
  const installation = await prisma.installation.findFirstOrThrow({
    where: { projectId, integrationId: integration.id },
  });
  const integrations = Array.from({ length: count }, () => {
    const id = newId('int');
    return { ...integration, id, name: id };
  });
  await prisma.integration.createMany({ data: integrations });
  await prisma.installation.createMany({
    data: integrations.map(({ id: integrationId }) => ({
      ...installation,
      id: newId('ins'),
      integrationId,
    })),
  });
}

test('finds an object among the maximum number of installations, and refuses more', async () => {
  await copyInstallation(tenant, 1);
  const { call } = await connectMcp(app, agent);
  const found = await call('search_objects', { words: 'people' });
  expect(found.data).toMatchObject({ total: 1 });
  const { people: page } = await createTypedClient(app, tenant).query(
    '{ people(group: "acme") { nodes { id } } }',
  );
  expect(page.nodes).toHaveLength(1);

  await copyInstallation(tenant, 1);
  const refusal = { code: 'UNPROCESSABLE', detail: expect.stringContaining(TOO_MANY) };
  for (const [tool, members] of [
    ['search_objects', {}],
    ['read_records', { objectName: 'people' }],
    ['propose_write', people],
  ] as const) {
    expect(await call(tool, members)).toMatchObject({ isError: true, data: refusal });
  }
  const proposals = createProposalClient(tenant);
  const { code, problem } = await proposals.getCreateRefusal(tenant, {
    ...people,
    groupRef: 'acme',
  });
  expect({ code, ...problem }).toMatchObject(refusal);
});

test('counts only the installations that the caller may see', async () => {
  await copyInstallation(tenant, 2);
  const { data } = await createTypedClient(app, tenant).request('{ _contract }');
  expect(data).toBeUndefined();
  const endUser = await createEndUser(app, tenant, {
    integrations: ['crm'],
    permissions: ['READ'],
  });
  const client = createTypedClient(app, tenant, endUser.headers);
  const { people: page } = await client.query('{ people { nodes { id } } }');
  expect(page.nodes).toHaveLength(1);
});
