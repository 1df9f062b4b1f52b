/** Inputs of a module: which values connecting an integration needs, their checks, and requests that use them. */
import { Readable } from 'node:stream';
import { beforeEach, expect, test, vi } from 'vitest';
import { CATALOG } from '../../../src/providers/catalog/all-entries.ts';
import type { Provider } from '../../../src/providers/contract.ts';
import { getSharedApp, type Tenant } from '../../support/app.ts';
import {
  createConnectionVariables,
  GENERATE_CONNECTION,
  generateConnection,
} from '../../support/fixtures/connections.ts';
import { createEndUser } from '../../support/fixtures/end-users.ts';
import {
  CREATE_INSTALLATION,
  createInstallation,
  createIntegration,
} from '../../support/fixtures/integrations.ts';
import { createProviderApp, START_CONNECT } from '../../support/providers/oauth.ts';

const linkedIn = CATALOG.find(({ name }) => name === 'linkedIn') as Provider;
const app = await getSharedApp({
  providers: [
    ...CATALOG,
    {
      ...linkedIn,
      name: 'optionalInput',
      modules: (linkedIn.modules ?? []).map(({ inputs = [], ...module }) => ({
        ...module,
        inputs: inputs.map((input) => ({ ...input, optional: true as const })),
      })),
    },
  ],
});
const { outbound } = app.app.services.providerAccess;
const stream = vi.fn();

beforeEach(() => {
  stream.mockReset();
  stream.mockResolvedValue({
    status: 200,
    headers: {},
    body: Readable.from([]),
    closed: Promise.resolve(),
  });
  vi.spyOn(outbound, 'stream').mockImplementation(stream);
});

const createContent = (name: string, provider: string, module?: string) => ({
  name,
  provider,
  ...(module && { module }),
  proxy: { enabled: true, useModule: module !== undefined },
});

const TOKEN = { oauth2AuthorizationCode: { accessToken: { token: 'token' } } };
const DESK = { zoho_desk_domain: 'desk.zoho.eu', zoho_desk_org_id: '2389290' };
const ACCOUNTS = { zoho_token_domain: 'accounts.zoho.eu' };
const ZOHO = { provider: 'zoho', providerWorkspaceRef: 'https://www.zohoapis.eu', ...TOKEN };

async function listIssues(tenant: Tenant, document: string, variables: object) {
  const refusal = await tenant.expectRefusal(document, { ...variables });
  return refusal.problem.issues?.map(
    (issue: { name: string; detail: string }) => `${issue.name}: ${issue.detail}`,
  );
}

test('an integration lists the inputs of its provider and of its module, also to end users', async () => {
  const tenant = await app.createTenant();
  await createIntegration(app, tenant, createContent('ads', 'linkedIn', 'ads'));
  await createIntegration(app, tenant, createContent('posts', 'linkedIn'));
  await createIntegration(app, tenant, createContent('desk', 'zoho', 'desk'));
  await createIntegration(app, tenant, createContent('sales', 'zoho', 'crm'));
  const endUser = await createEndUser(app, tenant);
  const { viewer } = await endUser.query(
    '{ viewer { project { integrations { nodes { name connectInputs { name } } } } } }',
  );
  const inputs = viewer.project.integrations.nodes.map(
    (node: { name: string; connectInputs: { name: string }[] }) => [
      node.name,
      node.connectInputs.map(({ name }) => name).join(', '),
    ],
  );
  expect(Object.fromEntries(inputs)).toEqual({
    ads: 'adAccountId',
    posts: '',
    desk: 'zoho_token_domain, zoho_desk_domain, zoho_desk_org_id',
    sales: 'zoho_token_domain',
  });
});

test('a connection with an unusable input of a module is refused, and one without it is not', async () => {
  const tenant = await app.createTenant();
  const providerMetadata = { ...ACCOUNTS, zoho_desk_domain: 'evil.example', zoho_desk_org_id: 7 };
  const issues = [
    expect.stringMatching(/^input\.providerMetadata\.zoho_desk_domain: must be desk\.zoho\./),
    'input.providerMetadata.zoho_desk_org_id: must be non-empty text.',
  ];
  const account = createConnectionVariables(tenant, { ...ZOHO, providerMetadata });
  expect(await listIssues(tenant, GENERATE_CONNECTION, account)).toEqual(issues);
  await createProviderApp(tenant, { provider: 'zoho' });
  const consent = createConnectionVariables(tenant, {
    provider: 'zoho',
    providerMetadata,
    scopes: ['read'],
  });
  expect(await listIssues(tenant, START_CONNECT, consent)).toEqual(issues);
  await generateConnection(tenant, { ...ZOHO, providerMetadata: ACCOUNTS });
});

test('an installation needs the inputs of its module, except for optional ones', async () => {
  const tenant = await app.createTenant();
  await createIntegration(app, tenant, createContent('ads', 'linkedIn', 'ads'));
  await generateConnection(tenant, { provider: 'linkedIn', ...TOKEN });
  const input = {
    projectIdOrName: tenant.projectId,
    groupRef: 'acme',
    integrationIdOrName: 'ads',
  };
  expect(await listIssues(tenant, CREATE_INSTALLATION, { input })).toEqual([
    expect.stringContaining('lacks providerMetadata.adAccountId, which the module ads needs.'),
  ]);
  await createIntegration(app, tenant, createContent('other', 'optionalInput', 'ads'));
  await generateConnection(tenant, { provider: 'optionalInput', ...TOKEN });
  await createInstallation(tenant, { integrationIdOrName: 'other' });
});

test("forwarded requests carry a module's inputs in the URL and in headers", async () => {
  const tenant = await app.createTenant();
  await createIntegration(app, tenant, createContent('desk', 'zoho', 'desk'));
  await generateConnection(tenant, { ...ZOHO, providerMetadata: { ...ACCOUNTS, ...DESK } });
  const { id } = await createInstallation(tenant, { integrationIdOrName: 'desk' });
  const response = await app.fetch(
    `/v1/projects/${tenant.projectId}/installations/${id}/proxy/api/v1/tickets?limit=1`,
    { headers: { 'x-api-key': tenant.apiKey } },
  );
  expect(response.status).toBe(200);
  expect(stream.mock.calls[0]?.[0]).toMatchObject({
    url: 'https://desk.zoho.eu/api/v1/tickets?limit=1',
    headers: { orgid: '2389290' },
  });
});
