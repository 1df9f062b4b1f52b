import { expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import {
  connectAndInstall,
  createIntegration,
  createIntegrationContent,
  UPDATE_INSTALLATION,
} from '../../support/fixtures/integrations.ts';
import { expectEqualIssues } from '../../support/rest/equal-refusals.ts';
import { createRestTenant } from '../../support/rest/rest-client.ts';

const app = await getSharedApp();

const [contacts] = createIntegrationContent().read.objects;
const read = {
  objects: [
    { ...contacts, enabled: 'ALWAYS' },
    { ...contacts, objectName: 'companies', requiredFields: [], optionalFields: [] },
  ],
};

test('refuses a config that disables or omits an object that is always read', async () => {
  const rest = await createRestTenant(app);
  const groupRef = 'acme';
  const integration = await createIntegration(
    app,
    rest.tenant,
    createIntegrationContent('crm', { read }),
  );
  const listFindings = (config: object) =>
    expectEqualIssues(rest, 'createInstallation', { integrationIdOrName: 'crm', groupRef, config });
  await generateConnection(rest.tenant, { apiKey: 'sandbox-key', groupRef });
  const [contacts, companies] = [{ objectName: 'contacts' }, { objectName: 'companies' }];
  const missingIssue = 'config.content.read.objects: must have contacts, which is always read.';
  expect(await listFindings({})).toEqual([missingIssue]);
  expect(await listFindings({ read: [companies] })).toEqual([missingIssue]);
  const disabled = { read: [companies, { ...contacts, disabled: true }] };
  expect(await listFindings(disabled)).toEqual([
    'config.content.read.objects.contacts.disabled: must be false: contacts is always read.',
  ]);

  const { id, config } = await connectAndInstall(rest.tenant, integration, {
    config: { read: [contacts] },
  });
  expect(config.read).toHaveLength(1);
  const update = { projectIdOrName: rest.tenant.projectId, installationId: id, config: disabled };
  const { problem } = await rest.tenant.expectRefusal(UPDATE_INSTALLATION, { input: update });
  expect(problem.issues).toMatchObject([{ name: 'input.config.read[1].disabled', value: true }]);
});
