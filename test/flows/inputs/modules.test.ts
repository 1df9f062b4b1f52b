import { afterAll, expect, test } from 'vitest';
import { createHubspotProvider } from '../../../src/providers/hubspot/hubspot-provider.ts';
import { createSalesforceProvider } from '../../../src/providers/salesforce/salesforce-provider.ts';
import { getSharedApp } from '../../support/app.ts';
import { generateConnection } from '../../support/fixtures/connections.ts';
import {
  createInstallation,
  createIntegration,
  createIntegrationContent,
  toRevision,
} from '../../support/fixtures/integrations.ts';
import { POLLING, startReadJobs, TRIGGER_READ } from '../../support/fixtures/reads.ts';
import { startWriteJobs, WRITE_RECORDS } from '../../support/fixtures/writes.ts';
import { startHubspotServer } from '../../support/providers/hubspot-server.ts';
import { startSalesforceServer } from '../../support/providers/salesforce-server.ts';
import { expectEqualIssues } from '../../support/rest/equal-refusals.ts';
import { startRawClient } from '../../support/rest/proxy-installation.ts';
import type { RestTenant } from '../../support/rest/rest-client.ts';
import { createRestTenantWithDestination } from '../../support/rest/rest-installation.ts';
import { accountEngagement } from '../../support/wire/account-engagement.ts';
import { startVendorServer } from '../../support/wire/vendor-server.ts';
import { TOKEN } from '../../support/wire/wire-format.ts';

const servers = await Promise.all([
  startSalesforceServer({ token: TOKEN }),
  startVendorServer(accountEngagement.fixture),
  startHubspotServer({ token: TOKEN }),
]);
const [salesforce, engagement, hubspot] = servers;
const app = await getSharedApp({
  env: { ALLOWED_PRIVATE_TARGETS: '127.0.0.0/8' },
  providers: [
    createSalesforceProvider({ baseUrl: salesforce.url, engagementUrl: engagement.url }),
    createHubspotProvider({ baseUrl: hubspot.url }),
  ],
});
const rawClient = await startRawClient(app);
afterAll(async () => {
  await rawClient[Symbol.asyncDispose]();
  await Promise.all(servers.map((server) => server[Symbol.asyncDispose]()));
});

const PROSPECTS = {
  module: 'account-engagement',
  read: { objects: [{ objectName: 'prospects', destination: 'records' }] },
  write: { objects: [{ objectName: 'prospects' }] },
  proxy: { enabled: true, useModule: true },
};

async function connect(provider: string, providerMetadata?: object): Promise<RestTenant> {
  const rest = await createRestTenantWithDestination(app);
  await generateConnection(rest.tenant, {
    provider,
    providerMetadata,
    oauth2AuthorizationCode: { accessToken: { token: TOKEN } },
  });
  return rest;
}

async function install(rest: RestTenant, content: { name: string; provider: string }) {
  await createIntegration(app, rest.tenant, content);
  const { id } = await createInstallation(rest.tenant, { integrationIdOrName: content.name });
  return id as string;
}

/** Sends a GET request through the installation's proxy. */
async function callProxy({ base, tenant }: RestTenant, id: string, target: string) {
  const headers = { 'x-api-key': tenant.apiKey };
  return rawClient.send(`/v1${base}/installations/${id}/proxy${target}`, { headers });
}

test('refuses a module that the provider lacks, and an object that the module lacks', async () => {
  const rest = await connect('salesforce');
  const listFindings = (overrides: object) => {
    const content = createIntegrationContent('crm', {
      provider: 'salesforce',
      read: undefined,
      ...overrides,
    });
    const latestRevision = toRevision(content);
    const input = { name: 'crm', provider: 'salesforce', latestRevision };
    return expectEqualIssues(rest, 'createIntegration', input);
  };
  const path = 'latestRevision.content';
  expect(await listFindings({ module: 'cmr', proxy: { enabled: true } })).toEqual([
    `${path}.module: is not a module of Salesforce, which has crm, account-engagement, account-engagement-demo.`,
  ]);
  const write = { objects: [{ objectName: 'Account' }] };
  expect(await listFindings({ module: 'account-engagement', write })).toEqual([
    `${path}.write.objects[0].objectName: is not an object of the module account-engagement, which has prospects, lists, tags, emails, campaigns, opportunities, list-memberships, visitor-activities.`,
  ]);
});

test('refuses an installation if its connection lacks an input of the module', async () => {
  const rest = await connect('salesforce');
  await createIntegration(
    app,
    rest.tenant,
    createIntegrationContent('ae', { provider: 'salesforce', ...PROSPECTS }),
  );
  const input = { integrationIdOrName: 'ae', groupRef: 'acme' };
  expect(await expectEqualIssues(rest, 'createInstallation', input)).toEqual([
    'connectionId: is a connection that lacks providerMetadata.businessUnitId, which the module account-engagement needs. Set it with updateConnection.',
  ]);
});

test("sends reads, writes and proxied requests to the module's address", async () => {
  const rest = await connect('salesforce', { businessUnitId: { value: '0UvA' } });
  const id = await install(
    rest,
    createIntegrationContent('ae', { provider: 'salesforce', ...PROSPECTS }),
  );
  const input = {
    projectIdOrName: rest.tenant.projectId,
    integrationIdOrName: 'ae',
    groupRef: 'acme',
    objectName: 'prospects',
  };
  const write = { ...input, type: 'CREATE', records: { record: { firstName: 'Ada' } } };
  const { writeRecords } = await rest.tenant.query(WRITE_RECORDS, { input: write });
  expect(writeRecords.result).toMatchObject({ success: true, data: { firstName: 'Ada' } });
  await using _writers = await startWriteJobs(app);
  const asynchronousWrite = {
    ...write,
    mode: 'ASYNCHRONOUS',
    records: { record: { firstName: 'Grace' } },
  };
  await rest.tenant.query(WRITE_RECORDS, { input: asynchronousWrite });
  const salesforceCountBefore = salesforce.requests.length;
  const listNames = () => engagement.store.records.map(({ values }) => values.firstName);
  await expect.poll(listNames, POLLING).toEqual(['Ada', 'Grace']);

  const { triggerRead } = await rest.tenant.query(TRIGGER_READ, { input });
  await using _workers = await startReadJobs(app);
  const { prisma } = app.app.services.database;
  const where = { id: triggerRead.operation.id };
  const findOperation = () => prisma.operation.findFirstOrThrow({ where });
  await expect.poll(async () => (await findOperation()).status, POLLING).toBe('SUCCESS');
  expect((await findOperation()).metadata).toMatchObject({ progress: { recordsProcessed: 2 } });

  const response = await callProxy(rest, id, '/api/v5/objects/prospects?fields=id&orderBy=id');
  expect(response.status).toBe(200);
  expect(engagement.requests.at(-1)?.headers).toMatchObject({
    authorization: `Bearer ${TOKEN}`,
    'pardot-business-unit-id': '0UvA',
  });
  expect(salesforce.requests.length).toBe(salesforceCountBefore);
});

test("sends proxied requests to the provider's address without useModule", async () => {
  const rest = await connect('salesforce', { businessUnitId: { value: '0UvA' } });
  const proxy = { enabled: true };
  const content = createIntegrationContent('ae', { provider: 'salesforce', ...PROSPECTS, proxy });
  const id = await install(rest, content);
  const countBefore = engagement.requests.length;
  await callProxy(rest, id, '/services/data/v60.0/limits');
  expect(salesforce.requests.at(-1)?.path).toBe('/services/data/v60.0/limits');
  expect(engagement.requests.length).toBe(countBefore);
});

test("adds the module's base path to proxied requests", async () => {
  const rest = await connect('hubspot');
  const content = { provider: 'hubspot', read: undefined };
  const proxy = { enabled: true, useModule: true };
  const id = await install(rest, createIntegrationContent('hub', { ...content, proxy }));
  await callProxy(rest, id, '/v3/objects/contacts?limit=1');
  expect(hubspot.requests.at(-1)?.path).toBe('/crm/v3/objects/contacts');
});

test('lists the modules of providers, on both surfaces', async () => {
  const { tenant, get } = await connect('salesforce');
  const { provider } = await tenant.query(`query Provider { provider(name: "salesforce") {
    modules { name displayName baseUrl supports objects { name } inputs { name } }
  } }`);
  expect(provider.modules).toMatchObject([
    { name: 'crm', baseUrl: salesforce.url, inputs: [] },
    { name: 'account-engagement', baseUrl: engagement.url, inputs: [{ name: 'businessUnitId' }] },
    { name: 'account-engagement-demo', displayName: 'Account Engagement (demo)' },
  ]);
  expect(provider.modules[1].supports).toEqual([
    'READ',
    'WRITE',
    'DELETE',
    'BATCH_WRITE',
    'METADATA',
    'PROXY',
  ]);
  const response = await get('/providers/salesforce');
  expect(response).toMatchObject({
    defaultModule: 'crm',
    modules: { 'account-engagement': { baseURL: engagement.url, support: { batchWrite: {} } } },
  });
  expect(response.metadata.input).toMatchObject([
    { name: 'workspace' },
    {
      name: 'businessUnitId',
      moduleDependencies: { 'account-engagement': {}, 'account-engagement-demo': {} },
    },
  ]);
});
