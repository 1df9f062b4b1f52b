import { expect, test } from 'vitest';
import { CATALOG } from '../../../../src/providers/catalog/all-entries.ts';
import type { Provider } from '../../../../src/providers/contract.ts';
import { createTestApp, getSharedApp } from '../../../support/app.ts';
import { UNDOCUMENTED } from '../../../support/providers/provider-session.ts';

const template = CATALOG.at(-1) as Provider;
const createProvider = (name: string, facts: Partial<Provider> = {}): Provider => ({
  ...template,
  name,
  displayName: name.toUpperCase(),
  ...facts,
});

const app = await getSharedApp({
  providers: [
    createProvider('delta'),
    createProvider('alpha', {
      baseUrl: 'https://{{workspace}}.alpha.test',
      authSchemes: ['OAUTH2_CLIENT_CREDENTIALS', 'API_KEY'],
      capabilities: {
        getBehavior: () => UNDOCUMENTED,
        readPage: async () => ({ records: [], nextCursor: null, estimatedTotal: null }),
        proxy: true,
      },
    }),
    createProvider('bravo', { capabilities: {} }),
    createProvider('charlie'),
  ],
});
const tenant = await app.createTenant();

const LIST_PROVIDERS = `query ListProviders($first: Int, $after: String, $last: Int, $before: String) {
  providers(first: $first, after: $after, last: $last, before: $before) {
    totalCount nodes { name } pageInfo { hasNextPage hasPreviousPage startCursor endCursor }
  }
}`;

test('finds a provider by name, with its supported operations', async () => {
  const query = `query GetProvider($name: String!) {
    provider(name: $name) { name displayName baseUrl authSchemes supports }
  }`;
  expect(await tenant.query(query, { name: 'alpha' })).toEqual({
    provider: {
      name: 'alpha',
      displayName: 'ALPHA',
      baseUrl: 'https://{{workspace}}.alpha.test',
      authSchemes: ['OAUTH2_CLIENT_CREDENTIALS', 'API_KEY'],
      supports: ['READ', 'PROXY'],
    },
  });
  expect(await tenant.builder.query(query, { name: 'bravo' })).toMatchObject({
    provider: { supports: [] },
  });
  expect(await tenant.query(query, { name: 'echo' })).toEqual({ provider: null });
});

test('finds a provider by id with node, and returns null for an unknown one', async () => {
  const id = 'prv_alpha';
  expect(await tenant.query(`{ provider(name: "alpha") { id } }`)).toEqual({ provider: { id } });
  const query = '{ nodes(ids: ["prv_alpha", "prv_echo", "prv_"]) { __typename id } }';
  const expectedData = { nodes: [{ __typename: 'Provider', id }, null, null] };
  expect(await tenant.query(query)).toEqual(expectedData);
  expect(await tenant.builder.query(query)).toEqual(expectedData);
});

test('lists providers by name, in both directions', async () => {
  const listNames = (response: { providers: { nodes: { name: string }[] } }) =>
    response.providers.nodes.map(({ name }) => name);
  expect(listNames(await tenant.query(LIST_PROVIDERS))).toEqual([
    'alpha',
    'bravo',
    'charlie',
    'delta',
  ]);

  const firstPage = await tenant.query(LIST_PROVIDERS, { first: 3 });
  expect(listNames(firstPage)).toEqual(['alpha', 'bravo', 'charlie']);
  expect(firstPage.providers).toMatchObject({
    totalCount: 4,
    pageInfo: { hasNextPage: true, hasPreviousPage: false },
  });
  const lastPage = await tenant.query(LIST_PROVIDERS, {
    first: 3,
    after: firstPage.providers.pageInfo.endCursor,
  });
  expect(listNames(lastPage)).toEqual(['delta']);
  expect(lastPage.providers.pageInfo).toMatchObject({ hasNextPage: false, hasPreviousPage: true });

  const before = lastPage.providers.pageInfo.startCursor;
  const previousPage = await tenant.query(LIST_PROVIDERS, { last: 2, before });
  expect(listNames(previousPage)).toEqual(['bravo', 'charlie']);
  expect(previousPage.providers.pageInfo).toMatchObject({
    hasNextPage: true,
    hasPreviousPage: true,
  });
});

test('returns an empty page beyond the end, with its direction', async () => {
  const { providers } = await tenant.query(LIST_PROVIDERS);
  const { endCursor, startCursor } = providers.pageInfo;
  expect((await tenant.query(LIST_PROVIDERS, { after: endCursor })).providers).toMatchObject({
    nodes: [],
    pageInfo: { hasNextPage: false, hasPreviousPage: true, startCursor: null },
  });
  expect((await tenant.query(LIST_PROVIDERS, { before: startCursor })).providers).toMatchObject({
    nodes: [],
    pageInfo: { hasNextPage: true, hasPreviousPage: false, endCursor: null },
  });
});

test('requires the scope read for the catalog', async () => {
  const key = await tenant.withScopes('org:read');
  expect(await key.expectRefusal(LIST_PROVIDERS)).toMatchObject({ code: 'FORBIDDEN' });
});

test("returns a provider's objects, and the inputs of a connection", async () => {
  const facts = {
    commonObjects: [{ name: 'deals', displayName: 'Deals', supports: ['READ' as const] }],
    docsUrl: 'https://docs.example',
    apiVersion: 'v2',
    scopes: ['deals:read'],
    inputs: [{ name: 'base', displayName: 'Id of the base' }],
  };
  await using testApp = await createTestApp({
    providers: [createProvider('told', facts), createProvider('plain')],
  });
  const query = `query GetProvider($name: String!) { provider(name: $name) {
    docsUrl apiVersion scopes objects { name displayName } inputs { name displayName }
  } }`;
  const { query: request } = await testApp.createTenant();
  const { commonObjects, ...scalars } = facts;
  const objects = commonObjects.map(({ name, displayName }) => ({ name, displayName }));
  expect(await request(query, { name: 'told' })).toEqual({ provider: { ...scalars, objects } });
  expect(await request(query, { name: 'plain' })).toEqual({
    provider: { docsUrl: null, apiVersion: null, scopes: [], objects: [], inputs: [] },
  });
});

test('returns help for the inputs of a provider', async () => {
  await using testApp = await createTestApp();
  const { query } = await testApp.createTenant();
  const { solarWinds, gitlab, zoom } = await query(`{
    solarWinds: provider(name: "solarWindsServiceDesk") {
      credentialsDocsUrl inputs { prompt docsUrl defaultValue }
    }
    gitlab: provider(name: "gitlab") { customInputs { prompt docsUrl defaultValue } }
    zoom: provider(name: "zoom") { credentialsDocsUrl }
  }`);
  expect(solarWinds.credentialsDocsUrl).toContain('https://documentation.solarwinds.com/');
  expect(solarWinds.inputs).toEqual([
    {
      prompt: 'Enter your region subdomain: api (US), apieu (Europe), or apiau (APJ)',
      docsUrl: 'https://apidoc.samanage.com/#section/General-Concepts/Service-URL',
      defaultValue: 'api',
    },
  ]);
  expect(gitlab.customInputs).toEqual([
    {
      prompt: 'This can be a personal, project, or group access token.',
      docsUrl: 'https://gitlab.com/-/user_settings/personal_access_tokens',
      defaultValue: null,
    },
  ]);
  expect(zoom).toEqual({ credentialsDocsUrl: null });
});

test('says which values forms mask, and which modules need a value', async () => {
  await using testApp = await createTestApp();
  const { query } = await testApp.createTenant();
  const { redtail, linkedIn } = await query(`{
    redtail: provider(name: "redtail") {
      customInputs { name isSecret } inputs { name isSecret modules }
    }
    linkedIn: provider(name: "linkedIn") { modules { name inputs { name isSecret modules } } }
  }`);
  expect(redtail).toEqual({
    customInputs: [
      { name: 'apiKey', isSecret: true },
      { name: 'username', isSecret: false },
      { name: 'password', isSecret: true },
    ],
    inputs: [{ name: 'region', isSecret: false, modules: [] }],
  });
  expect(linkedIn.modules).toEqual([
    { name: 'platform', inputs: [] },
    { name: 'ads', inputs: [{ name: 'adAccountId', isSecret: false, modules: ['ads'] }] },
  ]);
});

test("returns the values of a provider app's metadata", async () => {
  await using testApp = await createTestApp();
  const { query } = await testApp.createTenant();
  const names = ['hubspot', 'salesforce', 'google', 'coupa', 'zoom'];
  const fields = names.map((name) => `${name}: provider(name: "${name}") { ...Inputs }`);
  const providers = await query(`{ ${fields.join(' ')} } fragment Inputs on Provider { appInputs {
    authQueryParams { name optional } providerParams { name optional modules } } }`);
  const lists = Object.entries<{ appInputs: object }>(providers).map(([name, { appInputs }]) => [
    name,
    appInputs,
  ]);
  const none = { authQueryParams: [], providerParams: [] };
  expect(Object.fromEntries(lists)).toEqual({
    hubspot: { ...none, authQueryParams: [{ name: 'optional_scope', optional: true }] },
    salesforce: {
      ...none,
      providerParams: [{ name: 'packageInstallURL', optional: true, modules: [] }],
    },
    google: {
      ...none,
      providerParams: ['gcpProjectId', 'gcpPubSubTopicName'].map((name) => ({
        name,
        optional: true,
        modules: ['gmail'],
      })),
    },
    coupa: {
      ...none,
      providerParams: [{ name: 'workspaceHost', optional: false, modules: [] }],
    },
    zoom: none,
  });
});

test("returns the workspace as an input under the vendor's word, optional if a consent names it", async () => {
  await using testApp = await createTestApp();
  const { query } = await testApp.createTenant();
  const names = ['activeCampaign', 'seismic', 'salesforce', 'gong', 'hubspot'];
  const fields = names.map((name) => `${name}: provider(name: "${name}") { ...Workspace }`);
  const providers = await query(`{ ${fields.join(' ')} }
    fragment Workspace on Provider { workspaceInput { name displayName optional } }`);
  const inputs = Object.entries<{ workspaceInput: object | null }>(providers).map(
    ([name, { workspaceInput }]) => [name, workspaceInput],
  );
  expect(Object.fromEntries(inputs)).toEqual({
    activeCampaign: { name: 'workspace', displayName: 'Account name', optional: false },
    // Only the URLs of its consent contain the workspace.
    seismic: { name: 'workspace', displayName: 'Tenant', optional: false },
    // The shared login names the workspace.
    salesforce: { name: 'workspace', displayName: 'Subdomain', optional: true },
    // The token response always names the workspace.
    gong: null,
    hubspot: null,
  });
});
