/** Integrations may name objects and modules as the reference API's catalog does. */
import { afterAll, expect, test } from 'vitest';
import { readIntegrationContent } from '../../../src/domain/integrations/integration/integration-content.ts';
import type { Provider } from '../../../src/providers/contract.ts';
import { createDeclarativeProvider } from '../../../src/providers/declarative/declarative-provider.ts';
import { DECLARATIONS, DECLARED } from '../../../src/providers/declared/all.ts';
import { getSharedApp } from '../../support/app.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import {
  CREATE_INTEGRATION,
  CREATE_REVISION,
  createInstallation,
  createIntegrationContent,
  createIntegrationVariables,
  toRevision,
  UPDATE_INSTALLATION,
} from '../../support/fixtures/integrations.ts';
import { POLLING, startReadJobs, TRIGGER_READ } from '../../support/fixtures/reads.ts';
import { WRITE_RECORDS } from '../../support/fixtures/writes.ts';
import { expectEqualIssues } from '../../support/rest/equal-refusals.ts';
import type { RestTenant } from '../../support/rest/rest-client.ts';
import { createRestTenantWithDestination } from '../../support/rest/rest-installation.ts';
import { getDeclaration } from '../../support/wire/declarations.ts';
import { startVendorServer } from '../../support/wire/vendor-server.ts';
import { atlassian as wire } from '../../support/wire/vendors/work/atlassian-wire.ts';
import { TOKEN } from '../../support/wire/wire-format.ts';

const jira = await startVendorServer(wire.fixture);
const app = await getSharedApp({
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  providers: [...DECLARED.filter(({ name }) => name !== 'atlassian'), createAtlassian(jira.url)],
});
afterAll(() => jira[Symbol.asyncDispose]());

function createAtlassian(baseUrl: string): Provider {
  return createDeclarativeProvider({
    ...getDeclaration('atlassian'),
    baseUrl,
    authSchemes: ['API_KEY'],
    apiKey: { in: 'header', name: 'Authorization', valuePrefix: 'Bearer ' },
    oauth2: undefined,
    limits: { requestsPerSecond: 1_000 },
  });
}

const ALIASES = DECLARATIONS.flatMap(({ name: provider, api }) =>
  Object.entries(api.objects).flatMap(([objectName, object]) =>
    (object.aliases ?? []).map((alias) => ({ provider, alias, objectName, object })),
  ),
);

const createReadContent = (...objectNames: string[]) => ({
  objects: objectNames.map((objectName) => ({ objectName, destination: 'records' })),
});

async function listStoredContents({ tenant: { projectId } }: RestTenant) {
  const { prisma } = app.app.services.database;
  const revisions = await prisma.revision.findMany({
    where: { projectId },
    orderBy: { id: 'asc' },
  });
  return revisions.map(readIntegrationContent);
}

test.each(ALIASES)('stores $alias of $provider as $objectName', async ({
  provider,
  alias,
  objectName,
  object,
}) => {
  const rest = await createRestTenantWithDestination(app);
  const content = {
    name: 'crm',
    provider,
    read: createReadContent(alias),
    ...((object.create ?? object.update) && { write: { objects: [{ objectName: alias }] } }),
  };
  const manifest = { specVersion: '1.0.0', integrations: [content] };
  const path = `${rest.base}/integrations:batch`;
  // The second deployment changes nothing, so it creates no revision.
  for (let deployment = 1; deployment <= 2; deployment += 1) {
    expect((await rest.request('PUT', path, manifest)).status).toBe(200);
  }
  const contents = await listStoredContents(rest);
  expect(contents).toHaveLength(1);
  expect(contents[0]?.read?.objects).toMatchObject([{ objectName, mapToName: alias }]);
  for (const writtenObject of contents[0]?.write?.objects ?? []) {
    expect(writtenObject).toMatchObject({ objectName });
  }
});

test.each([
  ['zoho', 'root', 'crm'],
  ['zoho', 'crm', 'crm'],
  ['pipedrive', 'root', 'crm'],
  ['pipedrive', 'crm', 'crm'],
  ['atlassian', 'jira', 'jira'],
])('stores the module %s/%s as %s', async (provider, module, storedModule) => {
  const rest = await createRestTenantWithDestination(app);
  const content = { name: 'crm', provider, module, proxy: { enabled: true, useModule: true } };
  await rest.tenant.query(CREATE_INTEGRATION, createIntegrationVariables(rest.tenant, content));
  expect(await listStoredContents(rest)).toMatchObject([{ module: storedModule }]);
});

test("stores an alias as the object's name in a new revision, and keeps its mapped name", async () => {
  const rest = await createRestTenantWithDestination(app);
  const createXeroContent = (object: object) => ({
    name: 'crm',
    provider: 'xero',
    read: { objects: [{ destination: 'records', ...object }] },
  });
  const { tenant } = rest;
  const creation = createIntegrationVariables(
    tenant,
    createXeroContent({ objectName: 'Contacts' }),
  );
  await tenant.query(CREATE_INTEGRATION, creation);
  const changedContent = createXeroContent({ objectName: 'contacts', mapToName: 'people' });
  const input = { projectIdOrName: tenant.projectId, integrationIdOrName: 'crm' };
  await tenant.query(CREATE_REVISION, {
    input: { ...input, revision: toRevision(changedContent) },
  });
  const contents = await listStoredContents(rest);
  expect(contents.map(({ read }) => read?.objects)).toMatchObject([
    [{ objectName: 'Contacts', mapToName: null }],
    [{ objectName: 'Contacts', mapToName: 'people' }],
  ]);
});

test("refuses an alias together with the object's name", async () => {
  const rest = await createRestTenantWithDestination(app);
  const listFindings = (overrides: object) => {
    const content = createIntegrationContent('crm', { provider: 'xero', ...overrides });
    const input = { name: 'crm', provider: 'xero', latestRevision: toRevision(content) };
    return expectEqualIssues(rest, 'createIntegration', input);
  };
  const path = 'latestRevision.content';
  const describeDuplicate = (name: string, duplicate: string) =>
    `is the same object as ${name}. Use either ${name} or ${duplicate}.`;
  expect(await listFindings({ read: createReadContent('contacts', 'Contacts') })).toEqual([
    `${path}.read.objects[1].objectName: ${describeDuplicate('contacts', 'Contacts')}`,
  ]);
  const write = { objects: [{ objectName: 'contacts' }] };
  expect(await listFindings({ read: createReadContent('Contacts'), write })).toEqual([
    `${path}.write.objects[0].objectName: ${describeDuplicate('Contacts', 'contacts')}`,
  ]);
  const duplicates = { objects: [{ objectName: 'contacts' }, { objectName: 'contacts' }] };
  expect(await listFindings({ write: duplicates })).toEqual([
    `${path}.write.objects[1].objectName: is named twice.`,
  ]);
});

test('accepts an alias in configs, reads and writes, and uses it in messages', async () => {
  jira.store.create({ summary: 'From the account' }, new Date());
  const rest = await createRestTenantWithDestination(app);
  const { tenant } = rest;
  const content = {
    name: 'crm',
    provider: 'atlassian',
    module: 'jira',
    read: {
      objects: [
        { ...createReadContent('issue').objects[0], requiredFields: [{ fieldName: 'summary' }] },
      ],
    },
    write: { objects: [{ objectName: 'issue' }] },
  };
  await tenant.query(CREATE_INTEGRATION, createIntegrationVariables(tenant, content));
  await generateConnection(tenant, {
    provider: 'atlassian',
    apiKey: TOKEN,
    providerWorkspaceRef: 'ws',
    providerMetadata: { cloudId: { value: 'site' } },
  });
  const { projectId: projectIdOrName } = tenant;
  const target = { projectIdOrName, integrationIdOrName: 'crm', groupRef: 'acme' };
  const config = { read: [{ objectName: 'issue' }], write: [{ objectName: 'issue' }] };
  const { id, config: storedConfig } = await createInstallation(tenant, { config });
  expect(storedConfig).toMatchObject({
    read: [{ objectName: 'issues' }],
    write: [{ objectName: 'issues' }],
  });
  const update = { projectIdOrName, installationId: id, config };
  const updateResult = await tenant.query(UPDATE_INSTALLATION, { input: update });
  expect(updateResult.updateInstallation.installation.config).toMatchObject({
    read: [{ objectName: 'issues' }],
    write: [{ objectName: 'issues' }],
  });

  const write = {
    ...target,
    objectName: 'issue',
    type: 'CREATE',
    records: { record: { summary: 'Written' } },
  };
  const { writeRecords } = await tenant.query(WRITE_RECORDS, { input: write });
  expect(writeRecords.result).toMatchObject({ success: true });

  await using _workers = await startReadJobs(app);
  await tenant.query(TRIGGER_READ, { input: { ...target, objectName: 'issue' } });
  const { prisma } = app.app.services.database;
  const listDeliveries = () =>
    prisma.delivery.findMany({ where: { projectId: projectIdOrName, operationId: { not: null } } });
  await expect.poll(async () => (await listDeliveries()).length, POLLING).toBeGreaterThan(0);
  const [message] = await listDeliveries();
  expect(JSON.parse(message?.body ?? '{}')).toMatchObject({ objectName: 'issue' });
});
