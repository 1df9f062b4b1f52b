import { expect, test } from 'vitest';
import { createHubspotProvider } from '../../../src/providers/hubspot/hubspot-provider.ts';
import { createTestApp, getSharedApp } from '../../support/app.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import { connectCrm, startCrmApp } from '../../support/fixtures/crm.ts';
import {
  createInstallation,
  createIntegration,
  createIntegrationContent,
  UPDATE_INSTALLATION,
} from '../../support/fixtures/integrations.ts';
import {
  createHubspotFailure,
  startHubspotServer,
} from '../../support/providers/hubspot-server.ts';
import { expectEqualIssues } from '../../support/rest/equal-refusals.ts';
import { createRestTenant } from '../../support/rest/rest-client.ts';

const app = await getSharedApp();
const { app: crmApp } = await startCrmApp();

const [contacts] = createIntegrationContent().read.objects;
const optionalFields = [{ mapToName: 'owner' }];
const openContacts = { ...contacts, optionalFieldsAuto: 'ALL', optionalFields };

const createConfig = (selectedFields: string[], owner = 'lastname') => ({
  read: [
    {
      objectName: 'contacts',
      selectedFields,
      fieldMappings: [{ mapToName: 'owner', fieldName: owner }],
    },
  ],
});

test('accepts fields of the account, and reports fields that it lacks', async () => {
  const rest = await createRestTenant(app);
  const { tenant } = rest;
  await createIntegration(
    app,
    tenant,
    createIntegrationContent('crm', { read: { objects: [openContacts] } }),
  );
  await generateConnection(tenant, { apiKey: 'sandbox-key' });
  const target = { integrationIdOrName: 'crm', groupRef: 'acme' };
  const wrongFields = createConfig(['email', 'phone', 'fax'], 'owner_id');
  const contactsPath = 'config.content.read.objects.contacts';
  const missingDetail = 'is not a field of contacts in the account.';
  expect(
    await expectEqualIssues(rest, 'createInstallation', { ...target, config: wrongFields }),
  ).toEqual([
    `${contactsPath}.selectedFieldMappings.owner: ${missingDetail}`,
    `${contactsPath}.selectedFields.fax: ${missingDetail}`,
  ]);
  const { id, config } = await createInstallation(tenant, {
    ...target,
    config: createConfig(['phone', 'score']),
  });
  expect(config.read[0].selectedFields).toEqual(['phone', 'score']);

  const update = { projectIdOrName: tenant.projectId, installationId: id, config: wrongFields };
  const { problem } = await tenant.expectRefusal(UPDATE_INSTALLATION, { input: update });
  expect(problem.issues).toMatchObject([
    { name: 'input.config.read[0].selectedFields[2]', detail: missingDetail, value: 'fax' },
    { name: 'input.config.read[0].fieldMappings[0].fieldName', value: 'owner_id' },
  ]);
  const path = `${rest.base}/integrations/crm/installations/${id}`;
  const patch = {
    updateMask: ['config.content.read.objects.contacts.selectedFields'],
    installation: {
      config: { content: { read: { objects: { contacts: { selectedFields: { fax: true } } } } } },
    },
  };
  expect((await rest.expectRefusal('PATCH', path, patch)).issues).toMatchObject([
    { name: 'installation.config.content.read.objects.contacts.selectedFields.fax' },
  ]);
  expect((await rest.request('PATCH', `${path}?skipSampling=true`, patch)).status).toBe(200);
  await tenant.query(UPDATE_INSTALLATION, { input: { ...update, skipSampling: true } });
});

test('refuses an object that the account lacks, with or without a config', async () => {
  const rest = await connectCrm(crmApp, 'hubspot');
  const objects = ['contacts', 'p_planets'].map((objectName) => ({
    objectName,
    destination: 'records',
    optionalFieldsAuto: 'ALL',
  }));
  await createIntegration(crmApp, rest.tenant, {
    ...createIntegrationContent('crm', { read: { objects } }),
    provider: 'hubspot',
  });
  const target = { integrationIdOrName: 'crm', groupRef: 'acme' };
  const detail = /names something that the account does not have\. The provider says: /;
  const [issue, ...otherIssues] = await expectEqualIssues(rest, 'createInstallation', target);
  expect(issue).toMatch(/^config.content: /);
  expect(issue).toMatch(detail);
  expect(otherIssues).toEqual([]);
  const config = {
    read: [
      { objectName: 'contacts', selectedFields: ['firstname', 'shoe_size'] },
      { objectName: 'p_planets' },
    ],
  };
  const findings = await expectEqualIssues(rest, 'createInstallation', { ...target, config });
  expect(findings).toEqual([
    'config.content.read.objects.contacts.selectedFields.shoe_size: is not a field of contacts in the account.',
    expect.stringMatching(/^config.content.read.objects.p_planets: names something/),
  ]);
});

test.each([
  401, 403, 429, 503,
])('accepts any object and field if describing the account fails with %i', async (status) => {
  await using server = await startHubspotServer();
  await using failingApp = await createTestApp({
    env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
    providers: [createHubspotProvider({ baseUrl: server.url })],
  });
  const rest = await connectCrm(failingApp, 'hubspot');
  const read = { objects: [{ ...openContacts, objectName: 'deals', requiredFields: [] }] };
  await createIntegration(failingApp, rest.tenant, {
    ...createIntegrationContent('crm', { read }),
    provider: 'hubspot',
  });
  server.failNext(createHubspotFailure(status, { 'retry-after': '0' }), Number.POSITIVE_INFINITY);
  const { config } = await createInstallation(rest.tenant, {
    config: { read: [{ objectName: 'deals', selectedFields: ['nothing'] }] },
  });
  expect(config.read).toHaveLength(1);
  expect(server.requests.length).toBeGreaterThan(0);
});
