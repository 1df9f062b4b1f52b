/** Misspelled names in manifests are accepted, and every response and plan suggests the names that were meant. */
import { expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';
import { PROVIDERS } from '../../support/fixtures/connections.ts';
import { createIntegrationContent, toRevision } from '../../support/fixtures/integrations.ts';
import { planAndApply, planDocument } from '../../support/fixtures/project-documents.ts';
import { createRestTenant } from '../../support/rest/rest-client.ts';
import { createRestTenantWithDestination } from '../../support/rest/rest-installation.ts';

const app = await getSharedApp({ providers: PROVIDERS });

const createContent = (fieldName = 'lastnaem') =>
  createIntegrationContent('marketing', {
    provider: 'hubspot',
    read: {
      objects: [
        { objectName: 'contacts', destination: 'records', requiredFields: [{ fieldName }] },
        { objectName: 'compannies', destination: 'records' },
      ],
    },
  });
/** The paths of warnings begin at the content. */
const WARNINGS = [
  'read.objects[1].objectName: compannies is not a standard object of HubSpot. Did you mean companies? Ignore this warning if accounts have a custom object of this name.',
  'read.objects[0].requiredFields[0].fieldName: lastnaem is not a standard field of contacts. Did you mean lastname? Ignore this warning if accounts have a custom field of this name.',
];
const listWarnings = (path: string) => WARNINGS.map((text) => `${path}.${text}`);
const formatHeader = (path: string) =>
  listWarnings(path)
    .map((text) => `299 - "${text}"`)
    .join(', ');

test('warns when an integration is created, revised and deployed with GraphQL', async () => {
  const { tenant } = await createRestTenantWithDestination(app);
  const { projectId: projectIdOrName } = tenant;
  const { createIntegration } = await tenant.query(
    `mutation CreateIntegration($input: CreateIntegrationInput!) {
      createIntegration(input: $input) { warnings }
    }`,
    {
      input: {
        projectIdOrName,
        name: 'marketing',
        provider: 'hubspot',
        latestRevision: toRevision(createContent()),
      },
    },
  );
  expect(createIntegration.warnings).toEqual(listWarnings('latestRevision.content'));
  const { createRevision } = await tenant.query(
    `mutation CreateRevision($input: CreateRevisionInput!) {
      createRevision(input: $input) { warnings }
    }`,
    {
      input: {
        projectIdOrName,
        integrationIdOrName: 'marketing',
        revision: toRevision(createContent()),
      },
    },
  );
  expect(createRevision.warnings).toEqual(listWarnings('revision.content'));
  const { upsertIntegrations } = await tenant.query(
    `mutation UpsertIntegrations($input: UpsertIntegrationsInput!) {
      upsertIntegrations(input: $input) { warnings }
    }`,
    { input: { projectIdOrName, specVersion: '1.0.0', integrations: [createContent()] } },
  );
  expect(upsertIntegrations.warnings).toEqual(listWarnings('integrations[0]'));
});

test('warns in a header when an integration is created, revised and deployed over REST', async () => {
  const rest = await createRestTenantWithDestination(app);
  const path = `${rest.base}/integrations`;
  const content = createContent();
  const created = await rest.request('POST', path, {
    name: 'marketing',
    provider: 'hubspot',
    latestRevision: toRevision(content),
  });
  expect(created).toMatchObject({ status: 201 });
  expect(created.headers.warning).toBe(formatHeader('latestRevision.content'));
  const revised = await rest.request('POST', `${path}/marketing/revisions`, {
    revision: toRevision(content),
  });
  expect(revised.headers.warning).toBe(formatHeader('revision.content'));
  const deployed = await rest.request('PUT', `${path}:batch`, {
    specVersion: '1.0.0',
    integrations: [content],
  });
  expect(deployed.headers.warning).toBe(formatHeader('integrations[0]'));
});

test('reports the names as findings of a plan, which can be applied', async () => {
  const rest = await createRestTenant(app);
  const document = JSON.stringify({
    specVersion: '1.0.0',
    destinations: [{ name: 'records', type: 'stream' }],
    integrations: [createContent()],
  });
  const plan = await planDocument(rest, document);
  const messages = plan.findings.map(({ severity, message }: Record<string, string>) => [
    severity,
    message,
  ]);
  expect(messages).toEqual(listWarnings('integrations[0]').map((text) => ['warning', text]));
  await planAndApply(rest, document);
});
