import { expect, test } from 'vitest';
import { startDueReads } from '../../../src/domain/data/operation/read/schedule.ts';
import { getSharedApp } from '../../support/app.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import {
  CREATE_REVISION,
  createIntegration,
  createIntegrationContent,
  toRevision,
  UPDATE_INSTALLATION,
} from '../../support/fixtures/integrations.ts';
import {
  installReads,
  POLLING,
  retryReadsNow,
  startReadJobs,
} from '../../support/fixtures/reads.ts';
import { expectEqualIssues, expectEqualRefusal } from '../../support/rest/equal-refusals.ts';
import { createRestTenant, type RestTenant } from '../../support/rest/rest-client.ts';

const app = await getSharedApp();
const { services, sandbox } = app.app;
sandbox.seed('contacts', 5);

const [contacts] = createIntegrationContent().read.objects;
const requiredFields = [{ fieldName: 'email' }, { mapToName: 'owner' }, { mapToName: 'rank' }];
const requiringContent = createIntegrationContent('crm', {
  read: { objects: [{ ...contacts, requiredFields }] },
});
const fieldMappings = [{ mapToName: 'owner', fieldName: 'lastname' }];
const completeMappings = [...fieldMappings, { mapToName: 'rank', fieldName: 'score' }];
const createConfig = (mappings: object[], overrides: object = {}) => ({
  read: [{ objectName: 'contacts', fieldMappings: mappings, ...overrides }],
});

test('refuses an installation or update without a required mapping, and reports each missing one', async () => {
  const rest = await createRestTenant(app);
  await createIntegration(app, rest.tenant, requiringContent);
  await generateConnection(rest.tenant, { apiKey: 'sandbox-key' });
  const listIssues = (overrides: object) =>
    expectEqualIssues(rest, 'createInstallation', {
      integrationIdOrName: 'crm',
      groupRef: 'acme',
      ...overrides,
    });
  expect(await listIssues({})).toEqual([
    'config.content: is required, because it must map owner of contacts to a field.',
  ]);
  const path = 'config.content.read.objects.contacts.selectedFieldMappings';
  const config = createConfig([]);
  expect(await listIssues({ config })).toEqual([
    `${path}: must map owner to a field: contacts requires it.`,
  ]);
  expect(await listIssues({ config: createConfig(fieldMappings) })).toEqual([
    `${path}: must map rank to a field: contacts requires it.`,
  ]);

  const integrationPath = `${rest.base}/integrations/crm`;
  const selectedFieldMappings = { owner: 'lastname', rank: 'score' };
  const installation = await rest.post(`${integrationPath}/installations`, {
    groupRef: 'acme',
    config: { content: { read: { objects: { contacts: { selectedFieldMappings } } } } },
  });
  const update = {
    projectIdOrName: rest.tenant.projectId,
    installationId: installation.id,
    config: createConfig(fieldMappings),
  };
  const { problem } = await rest.tenant.expectRefusal(UPDATE_INSTALLATION, { input: update });
  expect(problem.issues).toMatchObject([{ name: 'input.config.read[0].fieldMappings' }]);
  await rest.tenant.query(UPDATE_INSTALLATION, {
    input: { ...update, config: createConfig([], { disabled: true }) },
  });
});

const GET_HEALTH = `query Health($id: ID!) {
  node(id: $id) { ... on Installation { healthStatus healthReason } }
}`;

async function readHealth(rest: RestTenant, id: string) {
  const { node } = await rest.tenant.query(GET_HEALTH, { id });
  const response = await rest.get(`${rest.base}/integrations/crm/installations/${id}`);
  expect([response.healthStatus, response.healthReason ?? null]).toEqual([
    node.healthStatus.toLowerCase(),
    node.healthReason,
  ]);
  return node;
}

test('makes installations unhealthy if a revision adds a required mapping, and delays their reads', async () => {
  const rest = await createRestTenant(app);
  const { tenant } = rest;
  const reads = await installReads(app, tenant);
  const { id } = reads;
  await reads.makeDue();
  await startDueReads(services);
  const integrationKey = { projectIdOrName: tenant.projectId, integrationIdOrName: 'crm' };
  await tenant.query(CREATE_REVISION, {
    input: { ...integrationKey, revision: toRevision(requiringContent) },
  });
  expect(await readHealth(rest, id)).toEqual({
    healthStatus: 'UNHEALTHY',
    healthReason:
      'Its config maps no field to what the integration requires: contacts: owner, contacts: rank. Reads wait.',
  });

  await using _workers = await startReadJobs(app);
  const reason =
    "The installation's config maps no field to owner, rank, which the integration requires of contacts.";
  const findResult = async () => (await reads.listOperations())[0]?.result;
  await expect.poll(findResult, POLLING).toBe(`[contacts] ${reason}`);
  await reads.makeDue();
  await startDueReads(services);
  expect(await reads.listOperations()).toMatchObject([{ status: 'IN_PROGRESS' }]);
  const trigger = { integrationIdOrName: 'crm', groupRef: 'acme', objectName: 'contacts' };
  expect(await expectEqualRefusal(rest, 'triggerRead', trigger)).toMatchObject({
    status: 422,
    detail: reason,
  });

  const update = {
    projectIdOrName: tenant.projectId,
    installationId: id,
    config: createConfig(completeMappings),
  };
  await tenant.query(UPDATE_INSTALLATION, { input: update });
  expect(await readHealth(rest, id)).toEqual({ healthStatus: 'HEALTHY', healthReason: null });
  await retryReadsNow(app, tenant);
  expect(await reads.waitForOperations(1)).toMatchObject([
    { status: 'SUCCESS', result: '[contacts] Read completed (5 records)' },
  ]);
  const [message] = await reads.listMessages();
  expect(Object.keys(message?.result[0]?.mappedFields ?? {})).toEqual(['owner', 'rank']);
});
