import { expect, test } from 'vitest';
import { getSharedApp } from '../../support/app.ts';
import { generateConnection, PROVIDERS } from '../../support/fixtures/connections.ts';
import {
  CREATE_INTEGRATION,
  createIntegration,
  createIntegrationContent,
  createIntegrationVariables,
  toRevision,
} from '../../support/fixtures/integrations.ts';
import { expectEqualIssues } from '../../support/rest/equal-refusals.ts';
import type { RestTenant } from '../../support/rest/rest-client.ts';
import { createRestTenantWithDestination } from '../../support/rest/rest-installation.ts';

const app = await getSharedApp({ providers: PROVIDERS });

const CONTENT_PATH = 'latestRevision.content';

/** Returns the issues of an integration with this content, which must be equal on both surfaces. */
function listIssues(rest: RestTenant, content: { name: string; provider: string }) {
  const { name, provider } = content;
  return expectEqualIssues(rest, 'createIntegration', {
    name,
    provider,
    latestRevision: toRevision(content),
  });
}

test('refuses to read or write objects of a provider that supports only the proxy', async () => {
  const rest = await createRestTenantWithDestination(app);
  const objects = [{ objectName: 'forms' }, { objectName: 'answers' }];
  const content = createIntegrationContent('survey', {
    provider: 'jotform',
    read: { objects: objects.map((object) => ({ ...object, destination: 'records' })) },
    write: { objects },
    subscribe: { objects: [{ objectName: 'forms', otherEvents: ['form.sent'] }] },
    proxy: { enabled: true },
  });
  const describeIssue = (capability: string) =>
    `needs ${capability}, which Jotform does not support: it supports only proxy.`;
  expect(await listIssues(rest, content)).toEqual([
    `${CONTENT_PATH}.read.objects[0].objectName: ${describeIssue('read')}`,
    `${CONTENT_PATH}.read.objects[1].objectName: ${describeIssue('read')}`,
    `${CONTENT_PATH}.write.objects[0].objectName: ${describeIssue('write')}`,
    `${CONTENT_PATH}.write.objects[1].objectName: ${describeIssue('write')}`,
  ]);
});

test('refuses to write a read-only object, also in a new revision', async () => {
  const rest = await createRestTenantWithDestination(app);
  const write = { objects: [{ objectName: 'user' }, { objectName: 'lead' }] };
  const content = createIntegrationContent('sales', {
    provider: 'close',
    read: undefined,
    proxy: { enabled: true },
  });
  const writeContent = { ...content, write };
  const writeIssue =
    'needs write, which Close supports for other objects: this one supports only read, metadata.';
  expect(await listIssues(rest, writeContent)).toEqual([
    `${CONTENT_PATH}.write.objects[0].objectName: ${writeIssue}`,
  ]);
  await createIntegration(app, rest.tenant, content);
  const revision = { integrationIdOrName: 'sales', revision: toRevision(writeContent) };
  expect(await expectEqualIssues(rest, 'createRevision', revision)).toEqual([
    `revision.content.write.objects[0].objectName: ${writeIssue}`,
  ]);
});

test('refuses a config that enables deletions that the provider does not support', async () => {
  const rest = await createRestTenantWithDestination(app);
  const { tenant } = rest;
  const content = createIntegrationContent('docs', {
    provider: 'github',
    read: undefined,
    write: { objects: [{ objectName: 'issues' }, { objectName: 'gists' }] },
  });
  await tenant.query(CREATE_INTEGRATION, createIntegrationVariables(tenant, content));
  await generateConnection(tenant, {
    provider: 'github',
    oauth2AuthorizationCode: { accessToken: { token: 'token' }, scopes: [] },
  });
  const write = ['issues', 'gists'].map((objectName) => ({ objectName, deletionEnabled: true }));
  const input = { integrationIdOrName: 'docs', groupRef: 'acme', config: { write } };
  expect(await expectEqualIssues(rest, 'createInstallation', input)).toEqual([
    'config.content.write.objects.issues.deletionSettings.enabled: must be false: GitHub does not delete issues.',
  ]);
});
